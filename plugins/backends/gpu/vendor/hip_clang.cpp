// clang++ -x hip: the submission is included by a file of ours, which has it make its kernels.
//
// Rationale: Debian's device libraries are of ROCm 5 and know no gfx942. All that they hold of one
// architecture is a constant, which our file defines; so their bitcode is linked by name instead of
// letting clang look for a folder that is complete.
#include "vendor/hip_clang.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "driver.hpp"
#include "hone/plugin/compiler_run.hpp"
#include "vendor/hip_code_object.hpp"

namespace hone_gpu {
namespace {

using hone::plugin::fail;
using hone::plugin::run_compiler;

constexpr char kUnit[] = "hone_entries.hip";
constexpr char kImage[] = "hone_image.co";
constexpr char kEntryPrefix[] = "hone_entry_";
constexpr const char* kBitcode[] = {"opencl",
                                    "hip",
                                    "ocml",
                                    "ockl",
                                    "oclc_daz_opt_off",
                                    "oclc_unsafe_math_off",
                                    "oclc_finite_only_off",
                                    "oclc_correctly_rounded_sqrt_on",
                                    "oclc_wavefrontsize64_on",
                                    "oclc_abi_version_500"};

/// Where hipcc's headers and the device libraries lie.
struct Rocm {
  std::string root;
  std::string bitcode;
};

Rocm find_rocm() {
  std::vector<Rocm> places{{"/usr", "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"}};
  for (const std::string& toolkit : toolkits()) {
    places.push_back({toolkit, toolkit + "/amdgcn/bitcode"});
  }
  std::error_code ignored;
  for (const Rocm& place : places) {
    if (std::filesystem::exists(place.bitcode + "/ocml.bc", ignored)) return place;
  }
  fail(HONE_FAILED_PRECONDITION, "no device libraries of AMD: install rocm-device-libs");
}

void write_file(const std::string& name, const std::string& text) {
  std::ofstream file(name, std::ios::binary);
  file << text;
  file.close();
  if (!file) fail(HONE_UNAVAILABLE, "write " + name + ": " + std::strerror(errno));
}

/// Names every entry in a variable of ours, which makes instances of templates and, in the image,
/// tells what they are called.
std::string unit_of(const BuildRequest& request, const std::string& isa) {
  std::string text = "#include <hip/hip_runtime.h>\n#include \"" + request.name + "\"\n";
  text +=
      "extern \"C\" __attribute__((visibility(\"hidden\"), used)) __constant__ const unsigned "
      "__oclc_ISA_version = " +
      isa + ";\n";
  for (std::size_t i = 0; i < request.entries.size(); ++i) {
    // What is wrong with the name is told at a line of the submission that does not exist.
    text += "#line 1 \"" + request.name + ": no kernel for a launch\"\n";
    text += "extern \"C\" __device__ __attribute__((used)) const void* const " +
            std::string(kEntryPrefix) + std::to_string(i) + " = (const void*)&(" +
            request.entries[i] + ");\n";
  }
  return text;
}

std::vector<std::string> command_of(const BuildRequest& request) {
  const Rocm rocm = find_rocm();
  std::vector<std::string> command{request.compiler,
                                   "-x",
                                   "hip",
                                   "--offload-arch=" + request.architecture,
                                   "--cuda-device-only",
                                   "--no-gpu-bundle-output",
                                   "--rocm-path=" + rocm.root,
                                   "-nogpulib",
                                   "-mcode-object-version=5",
                                   "-O3",
                                   "-std=c++17",
                                   "-fno-color-diagnostics",
                                   "-Wno-ignored-attributes"};
  std::error_code ignored;
  for (const char* name : kBitcode) {
    const std::string path = rocm.bitcode + "/" + name + ".bc";
    if (!std::filesystem::exists(path, ignored)) continue;  // newer ones have fewer
    for (const std::string& word : {std::string("-Xclang"), std::string("-mlink-builtin-bitcode"),
                                    std::string("-Xclang"), path}) {
      command.push_back(word);
    }
  }
  for (const std::string& include : request.include) command.push_back("-I" + include);
  command.insert(command.end(), request.flags.begin(), request.flags.end());
  for (const char* word : {kUnit, "-o", kImage}) command.emplace_back(word);
  return command;
}

}  // namespace

std::string isa_version(const std::string& architecture) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (architecture.size() < 6 || architecture.rfind("gfx", 0) != 0) return {};
  const std::string name = architecture.substr(3);
  const std::size_t last = kDigits.find(name[name.size() - 1]);
  const std::size_t middle = kDigits.find(name[name.size() - 2]);
  const std::string major = name.substr(0, name.size() - 2);
  if (last == std::string_view::npos || middle == std::string_view::npos ||
      major.find_first_not_of("0123456789") != std::string::npos) {
    return {};
  }
  return std::to_string(1000 * std::stoi(major) + 100 * static_cast<int>(middle) +
                        static_cast<int>(last));
}

Compiled compile_with_clang(const BuildRequest& request) {
  const std::string isa = isa_version(request.architecture);
  if (isa.empty()) {
    fail(HONE_FAILED_PRECONDITION,
         "architecture '" + request.architecture + "', expected one like 'gfx942'");
  }
  write_file(request.name, request.text);
  write_file(kUnit, unit_of(request, isa));
  Compiled compiled;
  const std::string version = run_compiler({request.compiler, "--version"}, 10).output;
  compiled.toolchain = version.substr(0, version.find('\n'));
  const hone::plugin::CompilerRun run = run_compiler(command_of(request), request.seconds_max);
  compiled.words = run.output;
  compiled.failure = hone::plugin::build_failure(run);
  if (!compiled.failure.empty()) return compiled;
  std::ifstream file(kImage, std::ios::binary);
  compiled.image.assign(std::istreambuf_iterator<char>(file), {});
  for (std::size_t i = 0; i < request.entries.size(); ++i) {
    compiled.entries.set(request.entries[i],
                         pointed_at(compiled.image, kEntryPrefix + std::to_string(i)));
  }
  return compiled;
}

}  // namespace hone_gpu
