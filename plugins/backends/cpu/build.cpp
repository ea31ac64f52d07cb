// Runs the compiler with its words captured and a time limit.
#include "build.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/time.h>
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

#include "diagnostics.hpp"
#include "hone/plugin/compiler_time.hpp"

extern char** environ;

namespace hone_cpu {
namespace {

using hone::plugin::CompilerTime;
using hone::plugin::fail;
using hone::plugin::kill_group;
using hone::plugin::Value;

constexpr std::size_t kWordsMax = 256 * 1024;
constexpr const char* kArtifact = "artifact.so";
constexpr const char* kRemarks = "report.txt";
constexpr const char* kLinked = "report.out";
constexpr const char* kProgram = "./report";
constexpr double kProgramSeconds = 10;  // for a program with sanitizers
// Bytes of one text of a report. It is above kCodeTextMax (examine/assembly.hpp), so that the host notices a text that is too long.
constexpr std::size_t kReportMax = std::size_t{3} << 20;

struct Ran {
  int status = 0;
  bool starved = false;  ///< it met its limit by the clock, on a machine that kept it from its core
  bool timed_out = false;  ///< it met that limit otherwise
  double core_s = 0;       ///< processor time of it and of the processes that it waited for
  std::string words;
};

/// Runs a program with stdout and stderr in `words`, and kills it at the limit.
Ran run(const std::vector<std::string>& command, double seconds_max) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    fail(HONE_UNAVAILABLE, std::string("pipe: ") + std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    fail(HONE_FAILED_PRECONDITION, "start compiler " + command[0] + ": " + std::strerror(error));
  }
  Ran result;
  CompilerTime time(seconds_max);
  for (;;) {
    pollfd polled{ends[0], POLLIN, 0};
    const int ready = poll(&polled, 1, time.pause_ms());
    if (time.is_over(ready == 0)) {
      result.starved = time.is_starved();
      result.timed_out = !result.starved;
      kill_group(pid);
      break;
    }
    if (ready <= 0) continue;
    char block[16384];
    const ssize_t n = read(ends[0], block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    const std::size_t room = kWordsMax - std::min(kWordsMax, result.words.size());
    result.words.append(block, std::min(room, static_cast<std::size_t>(n)));
  }
  close(ends[0]);
  rusage used{};
  while (wait4(pid, &result.status, 0, &used) < 0 && errno == EINTR) {
  }
  for (const timeval& part : {used.ru_utime, used.ru_stime})
    result.core_s += static_cast<double>(part.tv_sec) + 1e-6 * static_cast<double>(part.tv_usec);
  return result;
}

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

bool succeeded(const Ran& ran) {
  return !ran.starved && !ran.timed_out && WIFEXITED(ran.status) && WEXITSTATUS(ran.status) == 0;
}

/// The assembler text of a source.
std::string assembly_name(std::size_t source) { return "report-" + std::to_string(source) + ".s"; }

/// Compiles the sources to assembler text, and assembles the artifact from that text, so that the report is of the code that
/// runs. (Inline assembler can still add lines that the assembler skips.) Rationale: a build without a report does the same
/// inside the compiler. With -save-temps, GCC preprocesses a C source separately, and pragmas for options then do not
/// change macros such as __AVX2__. -g1 adds line numbers and does not change the code.
Ran build_with_code_report(const Value& request, const Value& options, double seconds_max,
                           Value& result) {
  static constexpr double kLeastSeconds = 2;  // for each further command, within the host's grace
  const double end_s = CompilerTime::now_s() + seconds_max;
  const auto left_s = [end_s] { return std::max(end_s - CompilerTime::now_s(), kLeastSeconds); };
  const bool is_clang =
      run({member_text(options, "compiler"), "--version"}, seconds_max).words.find("clang") !=
      std::string::npos;
  const auto& sources = request.at("sources").as_array();
  std::vector<std::string> link = native_start(options);
  add_link_flags(request, link);
  append(link, {"-x", "assembler"});
  Ran all;
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
    Ran compiled = run(compile, left_s());
    compiled.words.insert(0, all.words);
    all = std::move(compiled);
    if (!succeeded(all)) return all;
    link.push_back(assembly_name(i));
  }
  if (is_clang) link.push_back("-Qunused-arguments");
  append(link, {"-o", kArtifact, "-lm"});
  Ran linked = run(link, left_s());
  if (succeeded(linked)) {
    // GCC's other output is not used: `#pragma message` can put text of the source into it.
    const std::string remarks = is_clang ? all.words : read_start(kRemarks, kReportMax);
    const std::string assembly = read_start(assembly_name(0).c_str(), kReportMax);
    result.set("report", Value::map({{"assembly", assembly}, {"remarks", remarks}}));
  }
  linked.words.insert(0, all.words);
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
                          Value& result, Ran& compiled) {
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
  compiled = run(command, seconds_max);
  if (!succeeded(compiled)) return;
  make_program();
  const Ran ran = run({kProgram}, std::min(seconds_max, kProgramSeconds));
  // Rationale: the program may share the only core with this process, which then seems starved by the program's own work.
  const bool starved = ran.starved && ran.core_s < kProgramSeconds / 3;
  const bool unfinished = ran.timed_out || ran.starved;
  const int status = unfinished                ? 128 + SIGKILL
                     : WIFSIGNALED(ran.status) ? 128 + WTERMSIG(ran.status)
                                               : WEXITSTATUS(ran.status);
  result.set("report", Value::map({{"output", ran.words},
                                   {"status", status},
                                   {"timed_out", unfinished && !starved},
                                   {"starved", starved}}));
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
        run({member_text(options, "compiler"), "--version"}, seconds_max).words;
    result.set("toolchain", words.substr(0, words.find('\n')));
  }
  const Value* wanted = options.find("report");
  const std::string report = wanted != nullptr ? wanted->as_string() : "";
  Ran compiled;
  if (report == "sanitizer") {
    add_sanitizer_report(request, options, seconds_max, result, compiled);
  } else if (report == "code" && language != "python") {
    compiled = build_with_code_report(request, options, seconds_max, result);
  } else {
    compiled = run(compile_command(request, options), seconds_max);
  }
  std::string failure;
  const std::string said = failure_in(compiled.words);
  const bool over_time = WIFSIGNALED(compiled.status) && WTERMSIG(compiled.status) == SIGXCPU;
  if (compiled.starved) {
    failure = "starved";
  } else if (compiled.timed_out || over_time) {
    failure = "timed_out";
  } else if (WIFSIGNALED(compiled.status) && said != "timed_out") {
    failure = "killed";
  } else if (!said.empty()) {
    failure = said;
  } else if (WEXITSTATUS(compiled.status) != 0) {
    failure = "refused";
  }
  result.set("ok", failure.empty());
  result.set("failure", failure);
  result.set("diagnostics", compiled.words);
  const bool is_loaded = failure.empty() && report != "sanitizer";
  result.set("artifact", is_loaded ? Value::bytes(read_artifact()) : Value::bytes(""));
  return result;
}

}  // namespace hone_cpu
