// The emulated NVRTC: programs, their options and name expressions, and the table of kernels.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compile.hpp"
#include "nvrtc_calls.hpp"
#include "source.hpp"

namespace hone_emulated {
namespace {

struct Program {
  std::string name;
  std::string source;
  std::vector<std::pair<std::string, std::string>> headers;
  std::vector<std::string> expressions;
  std::map<std::string, std::string> lowered;  // of expressions, once compiled
  std::string log;
  std::string cubin;
  bool compiled = false;
};

Program* program_of(nvrtcProgram handle) { return reinterpret_cast<Program*>(handle); }

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t&");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The kernels to export, by the name to look them up with, and the expression that means them.
std::vector<std::pair<std::string, std::string>> table_of(Program& program) {
  std::vector<std::pair<std::string, std::string>> table;
  const std::vector<KernelName> found = find_kernels(program.source);
  if (program.expressions.empty()) {
    // Rationale: only then, as a kernel that the scan sees may lie in a branch of #if that is not compiled.
    for (const KernelName& kernel : found) {
      if (kernel.c_linkage) table.emplace_back(kernel.name, kernel.name);
    }
  }
  for (const std::string& expression : program.expressions) {
    const std::string name = trimmed(expression);
    const bool c_linkage = std::any_of(found.begin(), found.end(), [&](const KernelName& kernel) {
      return kernel.c_linkage && kernel.name == name;
    });
    // A C++ name has no meaning to anybody: the real one is mangled, this one numbered.
    const std::string lowered = c_linkage ? name : "_Zemulated" + std::to_string(table.size());
    program.lowered[expression] = lowered;
    table.emplace_back(lowered, name);
  }
  return table;
}

/// As a string in source text.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

std::string with_table(const std::string& source, Program& program) {
  std::string text =
      "#include \"hone_emulated_device.h\"\n#line 1 " + quoted(program.name) + "\n" + source;
  const auto table = table_of(program);
  text +=
      "\n#line 1 \"name_expressions\"\nstatic const hone_emulated_kernel hone_emulated_kernels[] = "
      "{\n";
  for (const auto& [lowered, expression] : table) {
    const std::string call = "hone_emulated_call<(&" + expression + ")>";
    text += "{" + quoted(lowered) + ", &" + call + "::call, " + call + "::count, " + call +
            "::places.at},\n";
  }
  text +=
      "{nullptr, nullptr, 0, nullptr}};\n"
      "extern \"C\" __attribute__((visibility(\"default\"), used)) const hone_emulated_module "
      "hone_emulated_module_entry = {HONE_EMULATED_VERSION, " +
      std::to_string(table.size()) +
      ", hone_emulated_kernels, (hone_emulated_index*)&threadIdx, (hone_emulated_index*)&blockIdx, "
      "(hone_emulated_index*)&blockDim, (hone_emulated_index*)&gridDim, &hone_emulated_shared, "
      "&hone_emulated};\n";
  return text;
}

bool starts(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

constexpr const char* kArchitectures[] = {"75",  "80",   "86",  "87",  "89",   "90", "90a",
                                          "100", "100a", "103", "120", "120a", "121"};

bool known_architecture(const std::string& value) {
  for (const char* prefix : {"sm_", "compute_"}) {
    if (!starts(value, prefix)) continue;
    const std::string number = value.substr(std::strlen(prefix));
    return std::any_of(std::begin(kArchitectures), std::end(kArchitectures),
                       [&](const char* one) { return number == one; });
  }
  return false;
}

/// An option with its value, which may be the next word.
struct Option {
  std::string name;
  std::string value;
};

template <std::size_t n>
bool among(const char* const (&names)[n], const std::string& name) {
  return std::any_of(names, names + n, [&](const char* one) { return name == one; });
}

/// By their names without dashes in front. What changes nothing on a processor.
constexpr const char* kWithoutEffect[] = {"use_fast_math",
                                          "fmad",
                                          "ftz",
                                          "prec-div",
                                          "prec-sqrt",
                                          "extra-device-vectorization",
                                          "maxrregcount",
                                          "device-debug",
                                          "G",
                                          "generate-line-info",
                                          "lineinfo",
                                          "default-device",
                                          "disable-warnings",
                                          "w",
                                          "dopt",
                                          "ptxas-options",
                                          "Xptxas",
                                          "device-int128",
                                          "restrict",
                                          "pch",
                                          "pch-dir",
                                          "split-compile",
                                          "minimal",
                                          "no-source-include",
                                          "diag-suppress",
                                          "relocatable-device-code",
                                          "rdc",
                                          "no-cache",
                                          "fdevice-time-trace"};
constexpr const char* kTakesNext[] = {"arch", "gpu-architecture", "D", "define-macro",
                                      "I",    "include-path",     "U", "undefine-macro",
                                      "std"};

std::string without_dashes(const std::string& name) {
  const std::size_t first = name.find_first_not_of('-');
  return first == 1 || first == 2 ? name.substr(first) : name;
}

/// The flags of g++ for one option; false where NVRTC has no such option, or not with that value.
bool translate(const Option& option, std::vector<std::string>& flags, std::string& log) {
  const auto& [written, value] = option;
  const std::string name = without_dashes(written);
  if (name == "gpu-architecture" || name == "arch") {
    if (!known_architecture(value)) {
      log = "nvrtc: error: invalid value for --gpu-architecture (-arch)\n";
      return false;
    }
    const std::string number = value.substr(value.find('_') + 1);
    flags.push_back("-D__CUDA_ARCH__=" + number.substr(0, number.find('a')) + "0");
  } else if (name == "define-macro" || name == "D") {
    flags.push_back("-D" + value);
  } else if (name == "undefine-macro" || name == "U") {
    flags.push_back("-U" + value);
  } else if (name == "include-path" || name == "I") {
    flags.push_back("-I" + value);
  } else if (name == "std") {
    flags.push_back("-std=" + value);
  } else if (!among(kWithoutEffect, name)) {
    log = "nvrtc: error: unrecognized option " + written + " found\n";
    return false;
  }
  return true;
}

/// "--name=value", "-Dvalue", and "-name value" where the value is a word of its own.
std::vector<Option> split(int count, const char* const* words) {
  std::vector<Option> options;
  for (int i = 0; i < count; ++i) {
    const std::string word = words[i];
    const std::size_t equals = word.find('=');
    if (among(kTakesNext, without_dashes(word)) && i + 1 < count) {
      options.push_back({word, words[++i]});
    } else if (starts(word, "-D") || starts(word, "-I") || starts(word, "-U")) {
      options.push_back({word.substr(0, 2), word.substr(2)});
    } else if (equals != std::string::npos) {
      options.push_back({word.substr(0, equals), word.substr(equals + 1)});
    } else {
      options.push_back({word, ""});
    }
  }
  return options;
}

nvrtcResult compile_program(Program& program, int count, const char* const* words) {
  Job job;
  job.flags = {"-std=c++17"};
  for (const Option& option : split(count, words)) {
    if (!translate(option, job.flags, program.log)) return NVRTC_ERROR_INVALID_OPTION;
  }
  job.source = with_table(rewrite(program.source), program);
  for (const auto& [name, text] : program.headers) job.headers.emplace_back(name, rewrite(text));
  Compiled compiled = compile(job);
  program.compiled = true;
  program.cubin = std::move(compiled.library);
  program.log =
      compiled.started ? nvrtc_words(compiled.words, program.name) : compiled.words + "\n";
  if (!compiled.started) return NVRTC_ERROR_BUILTIN_OPERATION_FAILURE;
  return compiled.ok ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}

}  // namespace
}  // namespace hone_emulated

using namespace hone_emulated;

// NOLINTBEGIN(readability-identifier-naming): NVRTC's names.
HONE_EMULATED_API nvrtcResult nvrtcVersion(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *major = 13;
  *minor = 0;
  return NVRTC_SUCCESS;
}

HONE_EMULATED_API const char* nvrtcGetErrorString(nvrtcResult result) {
  static constexpr const char* kNames[] = {"NVRTC_SUCCESS",
                                           "NVRTC_ERROR_OUT_OF_MEMORY",
                                           "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                           "NVRTC_ERROR_INVALID_INPUT",
                                           "NVRTC_ERROR_INVALID_PROGRAM",
                                           "NVRTC_ERROR_INVALID_OPTION",
                                           "NVRTC_ERROR_COMPILATION",
                                           "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
                                           "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
                                           "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
                                           "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
                                           "NVRTC_ERROR_INTERNAL_ERROR"};
  const auto index = static_cast<std::size_t>(result);
  return index < std::size(kNames) ? kNames[index] : "NVRTC_ERROR unknown";
}

HONE_EMULATED_API nvrtcResult nvrtcCreateProgram(nvrtcProgram* out, const char* source,
                                                 const char* name, int count,
                                                 const char* const* headers,
                                                 const char* const* include_names) {
  if (out == nullptr || source == nullptr || count < 0) return NVRTC_ERROR_INVALID_INPUT;
  auto program = std::make_unique<Program>();
  program->name = name != nullptr && *name != '\0' ? name : "default_program";
  program->source = source;
  for (int i = 0; i < count; ++i) {
    const std::string include = include_names[i];
    if (include.empty() || include[0] == '/' || include.find("..") != std::string::npos)
      return NVRTC_ERROR_INVALID_INPUT;
    program->headers.emplace_back(include, headers[i]);
  }
  *out = reinterpret_cast<nvrtcProgram>(program.release());
  return NVRTC_SUCCESS;
}

HONE_EMULATED_API nvrtcResult nvrtcDestroyProgram(nvrtcProgram* handle) {
  if (handle == nullptr || *handle == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  delete program_of(*handle);
  *handle = nullptr;
  return NVRTC_SUCCESS;
}

HONE_EMULATED_API nvrtcResult nvrtcAddNameExpression(nvrtcProgram handle, const char* expression) {
  Program* program = program_of(handle);
  if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (expression == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  if (program->compiled) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  program->expressions.emplace_back(expression);
  return NVRTC_SUCCESS;
}

HONE_EMULATED_API nvrtcResult nvrtcCompileProgram(nvrtcProgram handle, int count,
                                                  const char* const* options) try {
  Program* program = program_of(handle);
  if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (count < 0 || (count > 0 && options == nullptr)) return NVRTC_ERROR_INVALID_INPUT;
  return compile_program(*program, count, options);
} catch (const std::bad_alloc&) {
  return NVRTC_ERROR_OUT_OF_MEMORY;
}

HONE_EMULATED_API nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram handle, std::size_t* size) {
  if (handle == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (size == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *size = program_of(handle)->log.size() + 1;
  return NVRTC_SUCCESS;
}

HONE_EMULATED_API nvrtcResult nvrtcGetProgramLog(nvrtcProgram handle, char* log) {
  if (handle == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (log == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  std::memcpy(log, program_of(handle)->log.c_str(), program_of(handle)->log.size() + 1);
  return NVRTC_SUCCESS;
}

HONE_EMULATED_API nvrtcResult nvrtcGetCUBINSize(nvrtcProgram handle, std::size_t* size) {
  if (handle == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (size == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *size = program_of(handle)->cubin.size();
  return NVRTC_SUCCESS;
}

HONE_EMULATED_API nvrtcResult nvrtcGetCUBIN(nvrtcProgram handle, char* cubin) {
  if (handle == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (cubin == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  std::memcpy(cubin, program_of(handle)->cubin.data(), program_of(handle)->cubin.size());
  return NVRTC_SUCCESS;
}

HONE_EMULATED_API nvrtcResult nvrtcGetLoweredName(nvrtcProgram handle, const char* expression,
                                                  const char** lowered) {
  Program* program = program_of(handle);
  if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (expression == nullptr || lowered == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  if (!program->compiled) return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
  const auto found = program->lowered.find(expression);
  if (found == program->lowered.end()) return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
  *lowered = found->second.c_str();
  return NVRTC_SUCCESS;
}
// NOLINTEND(readability-identifier-naming)
