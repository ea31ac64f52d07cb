// A build as a list of steps: read, screen, compile, put the artifact together.
#include "build.hpp"

#include <filesystem>

#include "diagnostics.hpp"
#include "driver.hpp"
#include "module.hpp"
#include "screen.hpp"
#include "vendor_build.hpp"

namespace hone_gpu {
namespace {

using hone::plugin::fail;
using hone::plugin::Value;

constexpr double kSecondsMax = 60;

std::string text_or(const Value& options, const char* key, const char* otherwise) {
  const Value* found = options.find(key);
  return found != nullptr && !found->is_nil() ? found->as_string() : otherwise;
}

std::vector<std::string> texts(const Value* found) {
  std::vector<std::string> list;
  if (found == nullptr || found->is_nil()) return list;
  if (found->is_string()) return {found->as_string()};
  for (const Value& item : found->as_array()) list.push_back(item.as_string());
  return list;
}

BuildRequest read(const Value& request) {
  const auto& sources = request.at("sources").as_array();
  if (sources.size() != 1) {
    fail(HONE_INVALID_ARGUMENT, std::to_string(sources.size()) + " sources, expected one");
  }
  if (const std::string& language = request.at("language").as_string(); language != kName) {
    fail(HONE_INVALID_ARGUMENT,
         "language '" + language + "', expected '" + kName + "' or 'python'");
  }
  const Value* given = request.find("options");
  const Value options = given != nullptr ? *given : Value::map();
  BuildRequest read;
  read.name = sources[0].at("name").as_string();
  read.text = sources[0].at("text").as_string();
  read.entries = texts(request.find("entries"));
  read.compiler = text_or(options, "compiler", "");
  if (read.compiler == "auto") read.compiler.clear();
  read.architecture = text_or(options, "architecture", "");
  if (read.architecture.empty()) read.architecture = default_architecture();
  read.include = texts(options.find("include"));
  read.flags = texts(options.find("flags"));
  const Value* seconds = options.find("seconds");
  read.seconds_max = seconds != nullptr ? seconds->as_double() : kSecondsMax;
  read.report = kWritesAssembly && std::string(text_or(options, "report", "")) == "code";
  if (read.name.empty() || read.name.find('/') != std::string::npos || read.name[0] == '.') {
    fail(HONE_INVALID_ARGUMENT, "source name '" + read.name + "'");
  }
  return read;
}

/// Why no compiler needs to see it; "" when one does.
std::string refusal(const BuildRequest& request) {
  std::string words = screen(request.name, request.text);
  for (const std::string& entry : request.entries) {
    const std::string trouble = screen_entry(entry);
    if (!trouble.empty()) words += request.name + ": error: no kernel can have " + trouble + "\n";
  }
  if (request.text.find('\0') != std::string::npos) {
    words += request.name + ": error: the source holds a zero byte\n";
  }
  return words;
}

}  // namespace

std::vector<std::string> include_folders(const BuildRequest& request,
                                         const std::string& compiler_folder) {
  if (!request.include.empty()) return request.include;
  // In toolkits the libraries lie in lib64 and the headers in include; PyPI's wheels of CUDA 12
  // give each part a folder of its own.
  std::vector<std::string> candidates{compiler_folder + "/include", compiler_folder + "/../include",
                                      compiler_folder + "/../../include",
                                      compiler_folder + "/../../cuda_runtime/include"};
  for (const std::string& toolkit : toolkits()) candidates.push_back(toolkit + "/include");
  candidates.emplace_back("/usr/include");
  std::error_code ignored;
  for (const std::string& folder : candidates) {
    if (!std::filesystem::exists(folder + "/" + kHeader, ignored)) continue;
    std::vector<std::string> folders{folder};
    for (const std::string& more : {folder + "/cccl", folder + "/../../cuda_cccl/include"}) {
      if (std::filesystem::exists(more + "/cuda/std", ignored)) folders.push_back(more);
    }
    return folders;
  }
  return {};
}

Value build(const Value& value) {
  if (value.at("language").as_string() == "python") return build_module(value);
  const BuildRequest request = read(value);
  Compiled compiled;
  if (std::string words = refusal(request); !words.empty()) {
    compiled.failure = "refused";
    compiled.words = std::move(words);
  } else {
    compiled = compile(request);
  }
  Value result = Value::map({{"untrusted_host_code", false},
                             {"ok", compiled.failure.empty()},
                             {"failure", compiled.failure},
                             {"diagnostics", normalised(compiled.words, request.name)},
                             {"toolchain", compiled.toolchain},
                             {"artifact", Value::bytes("")}});
  if (compiled.failure.empty()) {
    std::string artifact;
    hone::plugin::Packer(artifact).pack(Value::map({{"image", Value::bytes(compiled.image)},
                                                    {"entries", compiled.entries},
                                                    {"architecture", request.architecture}}));
    result.set("artifact", Value::bytes(artifact));
    if (!compiled.report.is_nil()) result.set("report", compiled.report);
  }
  return result;
}

}  // namespace hone_gpu
