// Hands on what the interpreter says, in its own words.
#include "module.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "hone/plugin/compiler_run.hpp"

namespace hone_gpu {
namespace {

using hone::plugin::build_failure;
using hone::plugin::CompilerRun;
using hone::plugin::fail;
using hone::plugin::run_compiler;
using hone::plugin::Value;

constexpr const char* kArtifact = "artifact.so";

void write_source(const Value& source) {
  const std::string& name = source.at("name").as_string();
  if (name.empty() || name.find('/') != std::string::npos || name[0] == '.')
    fail(HONE_INVALID_ARGUMENT, "source name '" + name + "'");
  std::ofstream file(name, std::ios::binary);
  file << source.at("text").as_string();
  file.close();
  if (!file) fail(HONE_UNAVAILABLE, "write " + name + ": " + std::strerror(errno));
}

std::string first_line(const std::string& words) { return words.substr(0, words.find('\n')); }

}  // namespace

Value build_module(const Value& request) {
  const Value& options = request.at("options");
  std::vector<std::string> command{options.at("compiler").as_string()};
  const double seconds_max = options.at("seconds").as_double();
  Value result = Value::map({{"untrusted_host_code", true}, {"artifact", Value::bytes("")}});
  if (const Value* version = options.find("version"); version != nullptr && version->as_bool())
    result.set("toolchain",
               first_line(run_compiler({command[0], "--version"}, seconds_max).output));
  for (const Value& flag : options.at("flags").as_array()) command.push_back(flag.as_string());
  for (const Value& source : request.at("sources").as_array()) {
    write_source(source);
    command.push_back(source.at("name").as_string());
  }
  const CompilerRun run = run_compiler(command, seconds_max);
  const std::string failure = build_failure(run);
  result.set("ok", failure.empty());
  result.set("failure", failure);
  result.set("diagnostics", run.output);
  if (!failure.empty()) return result;
  std::ifstream file(kArtifact, std::ios::binary);
  if (!file)
    fail(HONE_UNAVAILABLE, std::string("the compiler exited with status 0 but wrote no ") +
                               kArtifact + ": " + std::strerror(errno));
  result.set("artifact", Value::bytes(std::string(std::istreambuf_iterator<char>(file), {})));
  return result;
}

int32_t load_module(hone_device* device, const std::string& bytes, hone_artifact** out,
                    hone_error* error) {
  error->code =
      device->python->load(bytes.data(), bytes.size(), error->message, sizeof error->message);
  if (error->code == HONE_OK) *out = new hone_artifact{*device, nullptr, Value::map(), {}, nullptr};
  return error->code;
}

int32_t get_module_kernel(hone_artifact* artifact, const char* entry, uint32_t count,
                          hone_kernel** out, hone_error* error) {
  auto kernel = std::make_unique<hone_kernel>(artifact->device, entry);
  kernel->kinds.assign(count, HONE_ARGUMENT_BUFFER);
  error->code = artifact->device.python->get_kernel(entry, &kernel->number, error->message,
                                                    sizeof error->message);
  if (error->code != HONE_OK) return error->code;
  *out = kernel.get();
  artifact->kernels.push_back(std::move(kernel));
  return HONE_OK;
}

int32_t launch_module(hone_kernel* kernel, hone_buffer* buffer, const hone_launch* launch,
                      hone_error* error) {
  error->code = kernel->device.python->launch(
      kernel->number, reinterpret_cast<void*>(buffer->address), buffer->bytes, launch->values,
      launch->count, error->message, sizeof error->message);
  return error->code;
}

}  // namespace hone_gpu
