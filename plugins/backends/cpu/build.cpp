// Runs the compiler with its words captured and a time limit.
#include "build.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern char** environ;

namespace hone_cpu {
namespace {

using hone::plugin::fail;
using hone::plugin::Value;

constexpr std::size_t kWordsMax = 256 * 1024;
constexpr const char* kArtifact = "artifact.so";
constexpr double kProbeSeconds = 0.4;  // between two looks of CoreProbe
// Of the time by the clock, on a machine that has a core for the compiler: its limit of processor time ends it before.
constexpr double kShareIfIdle = 1.0 / 3;

struct Ran {
  int status = 0;
  bool starved = false;  ///< it met its limit by the clock, on a machine that kept it from its core
  bool timed_out = false;  ///< it met that limit otherwise
  std::string words;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Whether the machine keeps this process from its core, by a little work now and then: how long it takes by the clock
/// against what it takes of a core. A compiler that only waits for something else is not starved.
class CoreProbe {
 public:
  void look() {
    const double clock = seconds_of(CLOCK_MONOTONIC), core = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    double used = 0;
    while (used < kWorkSeconds) used = seconds_of(CLOCK_THREAD_CPUTIME_ID) - core;
    core_s_ += used;
    clock_s_ += seconds_of(CLOCK_MONOTONIC) - clock;
  }
  bool is_starved() const { return core_s_ > 0 && clock_s_ > kStarved * core_s_; }

 private:
  static constexpr double kWorkSeconds = 3e-3, kStarved = 1.5;
  static double seconds_of(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  double core_s_ = 0, clock_s_ = 0;
};

/// Kills a compiler with all that it has started. In a jail the filter refuses signals to a group (EPERM): then the
/// compiler is killed, and the jail ends the rest. Outside one, nothing else would end them.
void kill_group(pid_t leader) {
  if (kill(-leader, SIGKILL) != 0) kill(leader, SIGKILL);
}

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
  CoreProbe probe;
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    const double left = seconds_max - seconds_since(start);
    pollfd polled{ends[0], POLLIN, 0};
    const double pause = std::min(left, kProbeSeconds);
    const int ready = left > 0 ? poll(&polled, 1, static_cast<int>(pause * 1e3) + 1) : 0;
    if (ready == 0 && left > 0) {
      probe.look();
      if (left > (1 - kShareIfIdle) * seconds_max || probe.is_starved()) continue;
    }
    if (ready == 0) {
      result.starved = probe.is_starved();
      result.timed_out = !result.starved;
      kill_group(pid);
      break;
    }
    if (ready < 0) continue;
    char block[16384];
    const ssize_t n = read(ends[0], block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    const std::size_t room = kWordsMax - std::min(kWordsMax, result.words.size());
    result.words.append(block, std::min(room, static_cast<std::size_t>(n)));
  }
  close(ends[0]);
  while (waitpid(pid, &result.status, 0) < 0 && errno == EINTR) {
  }
  return result;
}

std::string member_text(const Value& map, std::string_view key) { return map.at(key).as_string(); }

void write_source(const Value& source) {
  const std::string& name = source.at("name").as_string();
  if (name.find('/') != std::string::npos || name.empty() || name[0] == '.') {
    fail(HONE_INVALID_ARGUMENT, "source name '" + name + "'");
  }
  std::ofstream file(name, std::ios::binary);
  file << source.at("text").as_string();
  file.close();
  if (!file) fail(HONE_UNAVAILABLE, "write " + name + ": " + std::strerror(errno));
}

std::string read_artifact() {
  std::ifstream file(kArtifact, std::ios::binary);
  if (!file)
    fail(HONE_UNAVAILABLE,
         std::string("it ended well and left no artifact: ") + std::strerror(errno));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> compile_command(const Value& request, const Value& options) {
  const std::string language = member_text(request, "language");
  std::vector<std::string> command{member_text(options, "compiler")};
  for (const Value& flag : options.at("flags").as_array()) command.push_back(flag.as_string());
  if (language == "python") {
    // The flags end with the program that makes the artifact (core/candidate/module).
    for (const Value& source : request.at("sources").as_array())
      command.push_back(member_text(source, "name"));
    return command;
  }
  if (options.at("threads").as_int() > 1) command.push_back("-fopenmp");
  // Rationale: an undefined symbol must be an error here, with a place, and not a crash of the
  // candidate later.
  for (const char* flag :
       {"-shared", "-fPIC", "-pipe", "-fdiagnostics-color=never", "-Wl,-z,defs", "-Wl,-z,now"}) {
    command.push_back(flag);
  }
  for (const Value& entry : request.at("entries").as_array())
    command.push_back("-Wl,--require-defined=" + entry.as_string());
  command.push_back("-x");
  command.push_back(language == "c" ? "c" : "c++");
  for (const Value& source : request.at("sources").as_array())
    command.push_back(member_text(source, "name"));
  for (const char* word : {"-o", kArtifact, "-lm"}) command.push_back(word);
  return command;
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
  const Ran compiled = run(compile_command(request, options), seconds_max);
  std::string failure;
  const auto says = [&](const char* words) {
    return compiled.words.find(words) != std::string::npos;
  };
  const bool over_time = WIFSIGNALED(compiled.status) && WTERMSIG(compiled.status) == SIGXCPU;
  if (compiled.starved) {
    failure = "starved";
  } else if (compiled.timed_out || over_time || says(strsignal(SIGXCPU)) ||
             says("terminated with signal 24")) {
    failure = "timed_out";  // by RLIMIT_CPU, which the host sets
  } else if (WIFSIGNALED(compiled.status) || says("Killed signal") ||
             says("terminated with signal 9")) {
    failure = "killed";
  } else if (says("out of memory") || says("virtual memory exhausted")) {
    failure = "out_of_memory";
  } else if (WEXITSTATUS(compiled.status) != 0) {
    failure = "refused";
  }
  result.set("ok", failure.empty());
  result.set("failure", failure);
  result.set("diagnostics", compiled.words);
  result.set("artifact", failure.empty() ? Value::bytes(read_artifact()) : Value::bytes(""));
  return result;
}

}  // namespace hone_cpu
