// Runs the compiler with its words captured and a time limit.
#include "build.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
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

struct Ran {
  int status = 0;
  bool starved = false;  ///< it met its limit by the clock, on a machine that kept it from its core
  bool timed_out = false;  ///< it met that limit otherwise
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
    fail(HONE_UNAVAILABLE, std::string("the compiler exited with status 0 but wrote no ") +
                               kArtifact + ": " + std::strerror(errno));
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
  result.set("artifact", failure.empty() ? Value::bytes(read_artifact()) : Value::bytes(""));
  return result;
}

}  // namespace hone_cpu
