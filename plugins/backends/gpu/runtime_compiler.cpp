// NVRTC and hiprtc: a library that compiles text in memory.
//
// Rationale: it runs in a process of its own, because it may hang, crash (hiprtc 5.2 corrupts its
// heap for architectures it does not know) or take all memory, and each of these is a result of
// this source and no fault of the builder.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "build.hpp"
#include "driver.hpp"
#include "headers.hpp"
#include "hone/plugin/compiler_run.hpp"
#include "vendor_build.hpp"

namespace hone_gpu {
namespace {

using hone::plugin::CompilerRun;
using hone::plugin::fail;
using hone::plugin::finish_run;
using hone::plugin::Value;

constexpr std::size_t kResultMax = std::size_t{96} << 20;
constexpr int kOutOfMemory = 1;  // NVRTC_ERROR_OUT_OF_MEMORY, HIPRTC_ERROR_OUT_OF_MEMORY
constexpr int kInvalidOption = 5;
constexpr int kNoBuiltins = 7;

std::string log_of(const Compiler& compiler, gpuProgram program) {
  std::size_t size = 0;
  if (compiler.gpuGetProgramLogSize(program, &size) != 0 || size <= 1) return {};
  std::string log(size, '\0');
  if (compiler.gpuGetProgramLog(program, log.data()) != 0) return {};
  while (!log.empty() && log.back() == '\0') log.pop_back();
  return log;
}

void require(gpuResult result, const char* what) {
  if (result != 0) {
    fail(HONE_UNAVAILABLE,
         std::string(kCompilerName) + ": " + what + ": error " + std::to_string(result));
  }
}

std::vector<std::string> flags_of(const BuildRequest& request, const Compiler& compiler) {
  std::vector<std::string> flags = runtime_flags(request.architecture);
  for (const std::string& folder : include_folders(request, compiler.folder)) {
    flags.push_back("-I" + folder);
  }
  flags.insert(flags.end(), request.flags.begin(), request.flags.end());
  if (request.report) {
    const std::vector<std::string> more = report_flags();
    flags.insert(flags.end(), more.begin(), more.end());
  }
  return flags;
}

/// Rationale: NVRTC looks for the library of its builtin functions by name alone, and finds it
/// once it is loaded; PyPI's wheel lies where no loader looks.
void load_companion(const Compiler& compiler) {
  const std::string name = runtime_companion(compiler.major, compiler.minor);
  if (!name.empty()) dlopen((compiler.folder + "/" + name).c_str(), RTLD_NOW | RTLD_GLOBAL);
}

/// Compiles in this process. A map as compile_with_runtime reads it.
Value compile_here(const BuildRequest& request) {
  const Compiler compiler = load_compiler(request.compiler);
  const std::string toolchain = std::string(kCompilerName) + " " + std::to_string(compiler.major) +
                                "." + std::to_string(compiler.minor);
  Value result = Value::map({{"toolchain", toolchain}});
  const std::string trouble =
      architecture_trouble(request.architecture, compiler.major, compiler.minor);
  if (!trouble.empty()) fail(HONE_FAILED_PRECONDITION, toolchain + ": " + trouble);
  load_companion(compiler);
  gpuProgram program = nullptr;
  std::vector<const char*> names;
  std::vector<const char*> texts;
  for (const Header& header : headers_in_memory()) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  require(compiler.gpuCreateProgram(&program, request.text.c_str(), request.name.c_str(),
                                    static_cast<int>(names.size()), texts.data(), names.data()),
          "create a program");
  for (const std::string& entry : request.entries) {
    require(compiler.gpuAddNameExpression(program, entry.c_str()), "add an entry");
  }
  std::vector<const char*> flags;
  const std::vector<std::string> words = flags_of(request, compiler);
  for (const std::string& flag : words) flags.push_back(flag.c_str());
  const gpuResult compiled =
      compiler.gpuCompileProgram(program, static_cast<int>(flags.size()), flags.data());
  if (compiled == kInvalidOption || compiled == kNoBuiltins) {
    fail(HONE_FAILED_PRECONDITION, toolchain + ": " + log_of(compiler, program));
  }
  std::string log = log_of(compiler, program);
  result.set("words", log);
  result.set("failure", compiled == 0              ? ""
                        : compiled == kOutOfMemory ? "out_of_memory"
                                                   : "refused");
  if (compiled != 0) return result;
  std::size_t size = 0;
  require(compiler.gpuGetImageSize(program, &size), "size of the image");
  std::string image(size, '\0');
  require(compiler.gpuGetImage(program, image.data()), "image");
  result.set("image", Value::bytes(image));
  if (request.report) {
    result.set("report", code_report(compiler, program, log));
    result.set("words", log);
  }
  Value& entries = result.set("entries", Value::map());
  for (const std::string& entry : request.entries) {
    const char* lowered = nullptr;
    require(compiler.gpuGetLoweredName(program, entry.c_str(), &lowered), "name of an entry");
    entries.set(entry, lowered);
  }
  return result;
}

int write_all(int fd, const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = write(fd, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return 1;
    at += static_cast<std::size_t>(n);
  }
  return 0;
}

int compile_in_child(const BuildRequest& request, int out) {
  hone_error error{sizeof(hone_error), 0, {}};
  std::string bytes;
  const int32_t code =
      hone::plugin::guard(&error, [&] { hone::plugin::Packer(bytes).pack(compile_here(request)); });
  if (code != HONE_OK) {
    bytes.clear();
    hone::plugin::Packer(bytes).pack(
        Value::map({{"code", code}, {"error", static_cast<const char*>(error.message)}}));
  }
  return write_all(out, bytes);
}

/// Compiles in a forked process. The caller has one thread.
CompilerRun run_in_child(const BuildRequest& request) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    fail(HONE_UNAVAILABLE, std::string("pipe: ") + std::strerror(errno));
  const pid_t pid = fork();
  if (pid < 0) {
    const int reason = errno;
    close(ends[0]);
    close(ends[1]);
    fail(HONE_UNAVAILABLE, std::string("fork: ") + std::strerror(reason));
  }
  if (pid == 0) {
    setpgid(0, 0);
    close(ends[0]);
    _exit(compile_in_child(request, ends[1]));
  }
  setpgid(pid, pid);  // here and in the child, because either may be first
  close(ends[1]);
  return finish_run(pid, ends[0], request.seconds_max, kResultMax);
}

}  // namespace

Compiled compile_with_runtime(const BuildRequest& request) {
  const CompilerRun run = run_in_child(request);
  Compiled compiled;
  compiled.toolchain = kCompilerName;
  const int signal = WIFSIGNALED(run.status) ? WTERMSIG(run.status) : 0;
  if (run.timed_out || signal == SIGXCPU) {
    compiled.failure = "timed_out";
    return compiled;
  }
  if (signal != 0) {
    // Rationale: a compiler that crashes on a source is the source's doing, as with "internal
    // compiler error"; one that is killed may have been out of memory, which the host looks into.
    compiled.failure = signal == SIGKILL ? "killed" : "refused";
    compiled.words = request.name + ": error: the compiler itself crashed on this source (signal " +
                     std::to_string(signal) + ")\n";
    return compiled;
  }
  const Value result = hone::plugin::from_msgpack(std::string_view(run.output));
  if (const Value* error = result.find("error")) {
    const auto code = static_cast<hone_code>(result.at("code").as_int());
    if (code == HONE_RESOURCE_EXHAUSTED) {
      compiled.failure = "out_of_memory";
      return compiled;
    }
    fail(code, error->as_string());
  }
  compiled.failure = result.at("failure").as_string();
  compiled.words = result.at("words").as_string();
  compiled.toolchain = result.at("toolchain").as_string();
  if (compiled.failure.empty()) {
    compiled.image = result.at("image").as_bytes();
    compiled.entries = result.at("entries");
    if (const Value* report = result.find("report")) compiled.report = *report;
  }
  return compiled;
}

}  // namespace hone_gpu
