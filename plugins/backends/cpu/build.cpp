// Builds submissions with a compiler, and adds the reports that the host asks for.
#include "build.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include "hone/plugin/compiler_run.hpp"

namespace hone_cpu {
namespace {

using hone::plugin::build_failure;
using hone::plugin::CompilerRun;
using hone::plugin::fail;
using hone::plugin::run_compiler;
using hone::plugin::RunTime;
using hone::plugin::Value;

constexpr const char* kArtifact = "artifact.so";
constexpr const char* kRemarks = "report.txt";
constexpr const char* kLinked = "report.out";
constexpr const char* kProgram = "./report";
// Limits of a program with sanitizers: elapsed time and processor time (s).
constexpr double kProgramSeconds = 10;
constexpr unsigned kProgramCoreSeconds = 3;
// Bytes of one text of a report. It is above kCodeTextMax (examine/assembly.hpp), so that the host notices a text that is too long.
constexpr std::size_t kReportMax = std::size_t{3} << 20;

std::string member_text(const Value& map, std::string_view key) { return map.at(key).as_string(); }

void check_name(const std::string& name) {
  if (name.find('/') != std::string::npos || name.empty() || name[0] == '.') {
    fail(HONE_INVALID_ARGUMENT, "source name '" + name + "'");
  }
}

void write_source(const Value& source) {
  const std::string& name = source.at("name").as_string();
  check_name(name);
  std::ofstream file(name, std::ios::binary);
  file << source.at("text").as_string();
  file.close();
  if (!file) fail(HONE_UNAVAILABLE, "write " + name + ": " + std::strerror(errno));
}

std::string read_artifact() {
  std::ifstream file(kArtifact, std::ios::binary);
  if (!file)
    fail(HONE_UNAVAILABLE, std::string("the compiler exited with status 0 but wrote no ") +
                               kArtifact + ": " + std::strerror(errno));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The compiler and the flags of all its commands.
std::vector<std::string> command_start(const Value& options) {
  std::vector<std::string> command{member_text(options, "compiler")};
  for (const Value& flag : options.at("flags").as_array()) command.push_back(flag.as_string());
  return command;
}

const char* compiler_language(const Value& request) {
  return member_text(request, "language") == "c" ? "c" : "c++";
}

void append(std::vector<std::string>& command, std::initializer_list<std::string> words) {
  command.insert(command.end(), words);
}

/// The compiler, its options, and the flags of both compiling and linking.
std::vector<std::string> native_start(const Value& options) {
  std::vector<std::string> command = command_start(options);
  if (options.at("threads").as_int() > 1) command.push_back("-fopenmp");
  append(command, {"-fPIC", "-fdiagnostics-color=never"});
  return command;
}

/// Rationale: an undefined symbol must be an error here, with a place, and not a crash of the
/// candidate later.
void add_link_flags(const Value& request, std::vector<std::string>& command) {
  append(command, {"-shared", "-Wl,-z,defs", "-Wl,-z,now"});
  for (const Value& entry : request.at("entries").as_array())
    command.push_back("-Wl,--require-defined=" + entry.as_string());
}

std::vector<std::string> compile_command(const Value& request, const Value& options) {
  const bool is_python = member_text(request, "language") == "python";
  // Of a module, the last flag is the build script (core/candidate/module/builder/build_module.py).
  std::vector<std::string> command = is_python ? command_start(options) : native_start(options);
  if (!is_python) {
    add_link_flags(request, command);
    append(command, {"-x", compiler_language(request)});
  }
  for (const Value& source : request.at("sources").as_array())
    command.push_back(member_text(source, "name"));
  if (!is_python) append(command, {"-o", kArtifact, "-lm"});
  return command;
}

/// The first bytes of a file; empty if there is none.
std::string read_start(const char* name, std::size_t bytes_max) {
  std::ifstream file(name, std::ios::binary);
  std::string text(bytes_max, '\0');
  file.read(text.data(), static_cast<std::streamsize>(bytes_max));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

bool succeeded(const CompilerRun& ran) {
  return !ran.timed_out && WIFEXITED(ran.status) && WEXITSTATUS(ran.status) == 0;
}

/// The assembler text of a source.
std::string assembly_name(std::size_t source) { return "report-" + std::to_string(source) + ".s"; }

/// Compiles the sources to assembler text, and assembles the artifact from that text, so that the report is of the code that
/// runs. (Inline assembler can still add lines that the assembler skips.) Rationale: a build without a report does the same
/// inside the compiler. With -save-temps, GCC preprocesses a C source separately, and pragmas for options then do not
/// change macros such as __AVX2__. -g1 adds line numbers and does not change the code.
CompilerRun build_with_code_report(const Value& request, const Value& options, double seconds_max,
                                   Value& result) {
  static constexpr double kLeastSeconds = 2;  // for each further command, within the host's grace
  const double end_s = RunTime::now_s() + seconds_max;
  const auto left_s = [end_s] { return std::max(end_s - RunTime::now_s(), kLeastSeconds); };
  const bool is_clang = run_compiler({member_text(options, "compiler"), "--version"}, seconds_max)
                            .output.find("clang") != std::string::npos;
  const auto& sources = request.at("sources").as_array();
  std::vector<std::string> link = native_start(options);
  add_link_flags(request, link);
  append(link, {"-x", "assembler"});
  CompilerRun all;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::vector<std::string> compile = native_start(options);
    append(compile, {"-g1", "-S", "-o", assembly_name(i), "-x", compiler_language(request)});
    if (is_clang) {
      append(compile, {"-Qunused-arguments", "-Rpass=loop-vectorize",
                       "-Rpass-missed=loop-vectorize", "-Rpass-analysis=loop-vectorize"});
    } else if (i == 0) {
      compile.push_back(std::string("-fopt-info-vec-optimized-missed=") + kRemarks);
    }
    compile.push_back(member_text(sources[i], "name"));
    CompilerRun compiled = run_compiler(compile, left_s());
    compiled.output.insert(0, all.output);
    all = std::move(compiled);
    if (!succeeded(all)) return all;
    link.push_back(assembly_name(i));
  }
  if (is_clang) link.push_back("-Qunused-arguments");
  append(link, {"-o", kArtifact, "-lm"});
  CompilerRun linked = run_compiler(link, left_s());
  if (succeeded(linked)) {
    // GCC's other output is not used: `#pragma message` can put text of the source into it.
    const std::string remarks = is_clang ? all.output : read_start(kRemarks, kReportMax);
    const std::string assembly = read_start(assembly_name(0).c_str(), kReportMax);
    result.set("report", Value::map({{"assembly", assembly}, {"remarks", remarks}}));
  }
  linked.output.insert(0, all.output);
  return linked;
}

/// Copies the linked program to an executable file. Rationale: the sandbox refuses chmod, so the linker cannot make its
/// output executable.
void make_program() {
  std::ifstream linked(kLinked, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(linked), std::istreambuf_iterator<char>()};
  const int fd = open(kProgram, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (fd >= 0 && at < end) {
    const ssize_t n = write(fd, at, static_cast<std::size_t>(end - at));
    if (n < 0 && errno != EINTR) break;
    at += n > 0 ? n : 0;
  }
  const int error = errno;
  if (fd >= 0) close(fd);
  if (fd < 0 || at < end || bytes.empty())
    fail(HONE_UNAVAILABLE, std::string("copy the program: ") + std::strerror(error));
}

/// Builds the sources as a program with sanitizers, and runs it.
void add_sanitizer_report(const Value& request, const Value& options, double seconds_max,
                          Value& result, CompilerRun& compiled) {
  for (const Value& file : request.at("files").as_array()) {
    check_name(member_text(file, "name"));
    std::ofstream(member_text(file, "name"), std::ios::binary) << file.at("bytes").as_bytes();
  }
  std::vector<std::string> command = command_start(options);
  if (options.at("threads").as_int() > 1) command.push_back("-fopenmp");
  append(command, {"-O1", "-g", "-fno-omit-frame-pointer", "-fno-lto", "-fdiagnostics-color=never",
                   "-fsanitize=address,undefined", "-x", compiler_language(request)});
  const auto& sources = request.at("sources").as_array();
  for (std::size_t i = 0; i + 1 < sources.size(); ++i)
    command.push_back(member_text(sources[i], "name"));
  append(command, {"-x", "c", member_text(sources.back(), "name"), "-o", kLinked, "-lm"});
  compiled = run_compiler(command, seconds_max);
  if (!succeeded(compiled)) return;
  make_program();
  const CompilerRun ran =
      run_compiler({kProgram}, std::min(seconds_max, kProgramSeconds), kProgramCoreSeconds);
  const int signal = WIFSIGNALED(ran.status) ? WTERMSIG(ran.status) : 0;
  const bool timed_out = ran.timed_out || signal == SIGXCPU;
  const int status = timed_out     ? 128 + SIGKILL
                     : signal != 0 ? 128 + signal
                                   : WEXITSTATUS(ran.status);
  result.set("report",
             Value::map({{"output", ran.output}, {"status", status}, {"timed_out", timed_out}}));
}

}  // namespace

Value build(const Value& request) {
  const Value& options = request.at("options");
  const std::string language = member_text(request, "language");
  if (language != "c" && language != "c++" && language != "python")
    fail(HONE_INVALID_ARGUMENT, "language '" + language + "', expected 'c++', 'c' or 'python'");
  if (request.at("sources").as_array().empty())
    fail(HONE_INVALID_ARGUMENT, "0 sources, expected at least one");
  for (const Value& source : request.at("sources").as_array()) write_source(source);
  const double seconds_max = options.at("seconds").as_double();
  Value result = Value::map({{"untrusted_host_code", true}});
  if (const Value* version = options.find("version"); version != nullptr && version->as_bool()) {
    const std::string words =
        run_compiler({member_text(options, "compiler"), "--version"}, seconds_max).output;
    result.set("toolchain", words.substr(0, words.find('\n')));
  }
  const Value* wanted = options.find("report");
  const std::string report = wanted != nullptr ? wanted->as_string() : "";
  CompilerRun compiled;
  if (report == "sanitizer") {
    add_sanitizer_report(request, options, seconds_max, result, compiled);
  } else if (report == "code" && language != "python") {
    compiled = build_with_code_report(request, options, seconds_max, result);
  } else {
    compiled = run_compiler(compile_command(request, options), seconds_max);
  }
  const std::string failure = build_failure(compiled);
  result.set("ok", failure.empty());
  result.set("failure", failure);
  result.set("diagnostics", compiled.output);
  const bool is_loaded = failure.empty() && report != "sanitizer";
  result.set("artifact", is_loaded ? Value::bytes(read_artifact()) : Value::bytes(""));
  return result;
}

}  // namespace hone_cpu
