// Starts a check, reads its report from a pipe until a deadline, and classifies how the process ended.
#include "conformance/check_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/clock.hpp"
#include "base/unique_fd.hpp"

namespace hone {
namespace {

constexpr int kReportFd = 3;
constexpr const char* kReportVariable = "HONE_CHECK_REPORT_FD";
constexpr const char* kConfigVariable = "HONE_CHECK_CONFIG";
constexpr std::size_t kReportBytesMax = 64 * 1024;
constexpr std::string_view kNames[] = {"passed", "warning", "skipped",
                                       "failed", "crashed", "timed_out"};

std::vector<std::string> check_environment(const CheckProcessOptions& options) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    if (!text.starts_with("HONE_CHECK_") && !text.starts_with("ASAN_OPTIONS=")) {
      variables.emplace_back(text);
    }
  }
  variables.push_back(std::string(kReportVariable) + "=" + std::to_string(kReportFd));
  variables.push_back(std::string(kConfigVariable) + "=" + options.config_json);
  // Rationale: the sanitizer's own handler turns a signal into an exit status, and the report must name the
  // signal.
  variables.emplace_back("ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_abort=0");
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

Result<pid_t> start(const std::filesystem::path& program, std::vector<std::string> arguments,
                    std::vector<std::string> environment, int report_fd) {
  arguments.insert(arguments.begin(), program.string());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, report_fd, kReportFd);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, program.c_str(), &actions, nullptr,
                                 pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return system_error("start " + program.string(), failed);
  return pid;
}

/// Reads until the last writer closes the pipe; nullopt if the deadline comes first.
std::optional<std::string> read_until(int fd, std::int64_t deadline_ns) {
  std::string bytes;
  for (;;) {
    const std::int64_t left_ms = (deadline_ns - monotonic_ns() + 999'999) / 1'000'000;
    if (left_ms <= 0) return std::nullopt;
    pollfd waiting{fd, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left_ms, 60'000)));
    if (ready <= 0) continue;  // a signal, or a timeout of poll
    char block[4096];
    const ssize_t n = read(fd, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return bytes;
    if (bytes.size() < kReportBytesMax) bytes.append(block, static_cast<std::size_t>(n));
  }
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// Kills a process and waits for it. A process that a driver blocks inside the kernel cannot be killed, and
/// is left behind.
void end(pid_t pid) {
  constexpr int kGraceMs = 5000;
  const UniqueFd watched(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  kill(pid, SIGKILL);
  pollfd ended{watched.get(), POLLIN, 0};
  if (!watched || poll(&ended, 1, kGraceMs) > 0) wait_for(pid);
}

CheckResult parse_report(const std::string& report, int status) {
  const std::size_t line_end = report.find('\n');
  for (std::size_t i = 0; i < std::size(kNames) && line_end != std::string::npos; ++i) {
    if (report.substr(0, line_end) == kNames[i]) {
      return {static_cast<CheckOutcome>(i), report.substr(line_end + 1)};
    }
  }
  return {CheckOutcome::kFailed, "ended the process with status " +
                                     std::to_string(WEXITSTATUS(status)) +
                                     " in the middle of the check"};
}

std::string signal_text(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : std::to_string(signal);
}

}  // namespace

std::string_view check_outcome_name(CheckOutcome outcome) {
  return kNames[static_cast<int>(outcome)];
}

Result<CheckResult> run_check_process(const std::filesystem::path& program,
                                      const std::vector<std::string>& arguments,
                                      const CheckProcessOptions& options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe", errno);
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  const auto budget_ns = static_cast<std::int64_t>(options.timeout_s * 1e9);
  const std::int64_t deadline_ns = monotonic_ns() + budget_ns;
  HONE_ASSIGN(const pid_t pid,
              start(program, arguments, check_environment(options), write_end.get()));
  write_end.reset();
  const std::optional<std::string> report = read_until(read_end.get(), deadline_ns);
  if (!report) {
    end(pid);
    char text[64];
    std::snprintf(text, sizeof text, "no result after %.3g s", options.timeout_s);
    return CheckResult{CheckOutcome::kTimedOut, text};
  }
  const int status = wait_for(pid);
  if (WIFSIGNALED(status)) {
    return CheckResult{CheckOutcome::kCrashed, "signal " + signal_text(WTERMSIG(status))};
  }
  return parse_report(*report, status);
}

void report_check(const CheckResult& result) {
  const std::string text = std::string(check_outcome_name(result.outcome)) + "\n" + result.message;
  const char* variable = std::getenv(kReportVariable);
  const int fd = variable != nullptr ? std::atoi(variable) : STDOUT_FILENO;
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t n = write(fd, left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // the reader has closed the pipe
    left.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string check_config_json() {
  const char* text = std::getenv(kConfigVariable);
  return text != nullptr ? text : "";
}

}  // namespace hone
