#include "player/sanitize.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "player/calls.hpp"
#include "player/play.hpp"
#include "sandbox/seal.hpp"

namespace hone {
namespace {

constexpr std::size_t kReportShown = std::size_t{1} << 20;  // bytes of a report that the host gets
constexpr const char* kReportPlace = "{report}";

/// The start of a file; empty if there is none.
std::string start_of(const std::string& path) {
  std::string bytes;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return bytes;
  bytes.resize(kReportShown);
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  std::fclose(file);
  return bytes;
}

std::vector<std::string> command_of(const PlayerArguments& given, const Value& run,
                                    const std::string& report) {
  std::vector<std::string> command = {given.tool};
  for (const Value& argument : run.find("arguments")->as_array())
    command.push_back(argument.as_string() == kReportPlace ? report : argument.as_string());
  for (const std::string& word :
       {given.self, std::string(kPlayArgument), given.library, given.device})
    command.push_back(word);
  return command;
}

/// Where the output of the sanitizer and of kernels goes. Rationale: a kernel could print lines in the format of a report, so
/// the sanitizer writes its report to a file of its own.
const char* output_file([[maybe_unused]] const Value& request,
                        [[maybe_unused]] const std::string& report) {
#if defined(HONE_TEST_BUILD)
  if (const Value* mixed = request.find("mixed"); mixed != nullptr && *mixed == Value(true))
    return report.c_str();
#endif
  return "/dev/null";
}

Result<pid_t> start(const std::vector<std::string>& command, const char* output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return system_error("start " + command[0], error);
  return pid;
}

struct Ended {
  int status = 0;  ///< of waitpid
  bool timed_out = false;
};

/// Kills the process at the time limit. Its children end with the jail, because no further run follows.
Ended await(pid_t pid, double seconds_max) {
  constexpr useconds_t kPauseMicroseconds = 10'000;
  Ended ended;
  const double ends_s = monotonic_s() + seconds_max;
  while (monotonic_s() < ends_s) {
    const pid_t found = ::waitpid(pid, &ended.status, WNOHANG);
    if (found == pid || (found < 0 && errno != EINTR)) return ended;
    ::usleep(kPauseMicroseconds);
  }
  ended.timed_out = true;
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, &ended.status, 0) < 0 && errno == EINTR) {
  }
  return ended;
}

/// One run: {"name", "report", "events", "status", "timed_out"}.
Result<Value> run_once(const PlayerArguments& given, const Value& request, const Value& run) {
  const std::string name = run.find("name")->as_string(), report = name + ".log";
  ::unlink(kEventsFile);
  HONE_ASSIGN(const pid_t pid, start(command_of(given, run, report), output_file(request, report)));
  const Ended ended = await(pid, request.find("seconds")->as_double());
  const int signal = WIFSIGNALED(ended.status) ? WTERMSIG(ended.status) : 0;
  return Value::map({{"name", name},
                     {"report", Value::bytes(start_of(report))},
                     {"events", Value::bytes(start_of(kEventsFile))},
                     {"status", signal != 0 ? 128 + signal : WEXITSTATUS(ended.status)},
                     {"timed_out", ended.timed_out}});
}

/// The runs until one reaches its time limit. Rationale: the next one would reach it, too, and hold the device.
Result<Value> run_all(const PlayerArguments& given, const Value& request) {
  const Value* artifact = request.find("artifact");
  HONE_TRY(write_file(kArtifactFile, artifact->as_bytes()));
  HONE_TRY(write_file(kRequestFile, to_msgpack(Value::map({{"kernels", *request.find("kernels")},
                                                           {"calls", *request.find("calls")}}))));
  Value runs = Value::array();
  for (const Value& run : request.find("runs")->as_array()) {
    HONE_ASSIGN(Value one, run_once(given, request, run));
    const bool is_over = *one.find("timed_out") == Value(true);
    runs.push(std::move(one));
    if (is_over) break;
  }
  return Value::map({{"runs", std::move(runs)}});
}

}  // namespace

int sanitize(const PlayerArguments& given) {
  const auto files = device_files(given.library);
  if (!files) return fail_with(files.error());
  std::vector<std::string> readable = given.readable;
  readable.push_back(given.self);
  if (Status sealed = seal_sanitizer(readable, working_folder(), *files); !sealed)
    return fail_with(sealed.error());
  if (!greet_host()) return 0;
  const auto request = request_from_host();
  if (!request || !begin_for_host()) return 0;  // the host has closed the connection
  const auto answer = run_all(given, *request);
  return answer ? answer_host(*answer) : fail_with(answer.error());
}

}  // namespace hone
