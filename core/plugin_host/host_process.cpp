// Sends requests to a plugin host, and returns within the time limit in all cases.
#include "plugin_host/host_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/clock.hpp"
#include "base/utf8.hpp"
#include "channel/stream.hpp"
#include "sandbox/starved_time.hpp"

namespace hone {
namespace {

constexpr std::size_t kPrintedBytesMax = 64 << 10;  // bytes that one call may write to the log
constexpr std::size_t kLineBytesMax = 4096;
constexpr std::size_t kLastLineBytesMax = 300;  // longest output line that an error quotes
constexpr std::string_view kWarningMark =
    "warning: ";                     // begins printed lines that are warnings to the user
constexpr double kEndingS = 2;       // seconds for a process to exit after it closed its connection
constexpr double kClockFactor = 10;  // elapsed time over the limit, if it was starved
constexpr double kLookMs = 50;       // update interval of the starved time
constexpr double kReceiveS = 0.1;    // minimum time for the rest of a message

/// The whole environment of a plugin host.
std::vector<std::string> environment() {
  return {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "PYTHONHASHSEED=0",
          // Rationale: the sanitizer's own handler turns a signal into an exit status.
          "ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_abort=0"};
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

/// Duplicates a descriptor to a number above those that the new process uses.
UniqueFd moved_up(const UniqueFd& fd) { return UniqueFd(fcntl(fd.get(), F_DUPFD_CLOEXEC, 10)); }

/// Waits until a descriptor is ready, at most until the deadline.
bool ready_within(int fd, double deadline_s) {
  for (;;) {
    const double left_ms = std::max(0.0, (deadline_s - monotonic_s()) * 1e3);
    pollfd polled{fd, POLLIN, 0};
    const int n = ::poll(&polled, 1, static_cast<int>(std::min(left_ms + 1, 1e9)));
    if (n > 0) return true;
    if ((n == 0 || errno == EINTR) && monotonic_s() >= deadline_s) return false;
  }
}

}  // namespace

Result<std::unique_ptr<HostProcess>> HostProcess::start(HostStarter& starter, HostLanguage language,
                                                        const std::vector<std::string>& arguments,
                                                        HostLog log) {
  HONE_ASSIGN(auto ends, stream_pair());
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return system_error("pipe", errno);
  const UniqueFd read_end(pipe_ends[0]), write_end(pipe_ends[1]);
  const UniqueFd output = moved_up(write_end), socket = moved_up(ends.second);
  std::unique_ptr<HostProcess> process(new HostProcess(language, std::move(log)));
  process->socket_ = std::move(ends.first);
  process->output_ = moved_up(read_end);
  fcntl(process->output_.get(), F_SETFL, O_NONBLOCK);
  HONE_ASSIGN(process->pid_, starter.start({arguments, environment(), socket.get(), output.get()}));
  process->pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, process->pid_, 0)));
  if (!process->pidfd_) return system_error("pidfd_open", errno);
  return process;
}

HostProcess::~HostProcess() {
  if (alive()) stop();
}

Result<Value> HostProcess::ask(const HostCall& call, std::string who, double limit_s) {
  who_ = std::move(who);
  constexpr std::string_view kStarts[] = {"hello", "create", "open", "get"};
  const bool starts =
      std::find(std::begin(kStarts), std::end(kStarts), call.name) != std::end(kStarts);
  limit_key_ = starts ? "plugins.start_seconds" : "plugins.call_seconds";
  if (call.name == "get") limit_key_ += ", or the dataset's describe_seconds";
  printed_bytes_ = dropped_bytes_ = 0;
  last_line_.clear();
  const Status sent = send_message(socket_.get(), encode_call(language_, call), {}, limit_s);
  if (!sent) {
    return sent.error().code == Code::kDeadlineExceeded ? late(limit_s) : ended_by_itself();
  }
  Result<Value> answer = wait_for_answer(limit_s);
  drain_output();
  say_lines(true);
  return answer;
}

/// Rationale: candidates have priority over plugins, so time in which the plugin host had no core does not count.
Result<Value> HostProcess::wait_for_answer(double limit_s) {
  StarvedTime starved(ProcessWatch(pid_, Watched::kThreads, -1));
  starved.begin();
  const double start_s = monotonic_s();
  for (;;) {
    starved.sample();
    const double passed_s = monotonic_s() - start_s;
    const double left_s = std::min(limit_s - starved.own_s(), kClockFactor * limit_s - passed_s);
    if (left_s <= 0) return late(limit_s);
    pollfd polled[3] = {
        {socket_.get(), POLLIN, 0}, {output_.get(), POLLIN, 0}, {pidfd_.get(), POLLIN, 0}};
    if (output_.get() < 0) polled[1].fd = -1;
    const int n = ::poll(polled, 3, static_cast<int>(std::min(left_s * 1e3 + 1, kLookMs)));
    if (n < 0 && errno != EINTR) return system_error("poll", errno);
    if (n <= 0) continue;
    if (polled[1].revents != 0) drain_output();
    if (polled[0].revents != 0) {
      Result<HostMessage> message = receive(left_s);
      if (!message && message.error().code == Code::kDeadlineExceeded) return late(limit_s);
      if (!message) return message.error();
      if (!message->is_log) return std::move(message->answer);
      log_(static_cast<LogLevel>(message->level), message->line);
    } else if (polled[2].revents != 0) {
      return ended_by_itself();
    }
  }
}

Result<HostMessage> HostProcess::receive(double left_s) {
  auto received = receive_message(socket_.get(), kHostMessageBytesMax, std::max(left_s, kReceiveS));
  if (!received && received.error().code == Code::kDeadlineExceeded) return received.error();
  if (!received && received.error().code != Code::kInvalidArgument) return ended_by_itself();
  auto message = received ? decode_message(language_, received->bytes, who_)
                          : Result<HostMessage>(received.error());
  if (message) return message;
  stop();
  return gone("sent an invalid answer (" + message.error().message +
              "); its plugin host was killed");
}

Error HostProcess::late(double limit_s) {
  stop();
  return {Code::kDeadlineExceeded, who_ + ": no answer after " + seconds_text(limit_s) +
                                       ", the limit (" + limit_key_ +
                                       "); its plugin host was killed by SIGKILL"};
}

Error HostProcess::gone(const std::string& how) const { return internal_error(who_ + ": " + how); }

/// The socket closes shortly before the process can be reaped.
Error HostProcess::ended_by_itself() {
  const bool ended = ready_within(pidfd_.get(), monotonic_s() + kEndingS);
  const int status = stop();
  std::string how = "exited with status " + std::to_string(WEXITSTATUS(status));
  std::string printed;
  if (!ended) {
    how = "was killed: it closed its connection";
  } else if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    how = "was killed by " + (name != nullptr ? "SIG" + std::string(name)
                                              : "signal " + std::to_string(WTERMSIG(status)));
  } else if (!last_line_.empty()) {
    printed = "; the last line that it printed: " + last_line_;
  }
  Error error = gone("its plugin host " + how + " during the call" + printed);
  error.cause = ErrorCause::kPluginEnded;
  return error;
}

/// Ends the process and its children; returns its status.
int HostProcess::stop() {
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  drain_output();
  say_lines(true);
  socket_.reset();
  return status;
}

/// Reads printed output without waiting. Output beyond the limit of a call is dropped.
void HostProcess::drain_output() {
  char block[16 << 10];
  // Bounded, because a plugin may print without end.
  for (int i = 0; i < 64 && output_; ++i) {
    const ssize_t n = ::read(output_.get(), block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) output_.reset();
    if (n <= 0) break;
    const auto size = static_cast<std::size_t>(n);
    const std::size_t kept = std::min(size, kPrintedBytesMax - printed_bytes_);
    printed_.append(block, kept);
    printed_bytes_ += kept;
    dropped_bytes_ += size - kept;
  }
  say_lines(false);
}

void HostProcess::say_lines(bool all) {
  std::size_t start = 0;
  while (start < printed_.size()) {
    const std::size_t end = printed_.find('\n', start);
    const bool whole = end != std::string::npos;
    if (!whole && !all && printed_.size() - start < kLineBytesMax) break;
    const std::size_t stop = whole ? end : printed_.size();
    std::string_view line = std::string_view(printed_).substr(start, stop - start);
    const bool warning = line.starts_with(kWarningMark);
    if (warning) line.remove_prefix(kWarningMark.size());
    if (!line.empty()) last_line_ = cut_end(valid_utf8(line), kLastLineBytesMax);
    if (!line.empty()) log_(warning ? LogLevel::kWarning : LogLevel::kInfo, line);
    start = stop + (whole ? 1 : 0);
  }
  printed_.erase(0, start);
  if (!all || dropped_bytes_ == 0) return;
  log_(LogLevel::kWarning, "printed " + std::to_string(dropped_bytes_) + " bytes more, " +
                               std::to_string(kPrintedBytesMax) + " a call are kept");
  dropped_bytes_ = 0;
}

}  // namespace hone
