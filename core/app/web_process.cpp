// Starts, watches and ends `hone web`.
#include "app/web_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "model/value.hpp"

extern char** environ;

namespace hone {
namespace {

constexpr std::int64_t kStartNs = 30'000'000'000;  // of a busy machine
constexpr std::int64_t kAgainNs = 5'000'000'000;   // between two starts
constexpr std::int64_t kEndNs = 2'000'000'000;     // for the child to end by itself
constexpr std::size_t kAnnouncementMax = 4096;

Status make_pipe(UniqueFd& from, UniqueFd& to) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe", errno);
  from.reset(ends[0]);
  to.reset(ends[1]);
  return {};
}

/// The file actions of a child, released with it.
class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  void use(const UniqueFd& fd, int as) {
    posix_spawn_file_actions_adddup2(&actions_, fd.get(), as);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// Spawn attributes that give a child a session of its own. Rationale: the kernel may schedule a session as one group.
/// set_priority() sets the nice value of the group, too, which in the server's session would lower the server's priority.
class OwnSession {
 public:
  OwnSession() {
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID);
  }
  ~OwnSession() { posix_spawnattr_destroy(&attributes_); }
  OwnSession(const OwnSession&) = delete;
  OwnSession& operator=(const OwnSession&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

}  // namespace

Result<std::unique_ptr<WebProcess>> WebProcess::start(WebProcessOptions options) {
  std::unique_ptr<WebProcess> web(new WebProcess(std::move(options)));
  HONE_TRY(web->spawn());
  // A child that is started again gets the same port.
  const std::string scheme = "http://";
  web->options_.listen = web->url_.substr(scheme.size());
  return web;
}

Status WebProcess::spawn() {
  UniqueFd input, output, announced;
  HONE_TRY(make_pipe(input, alive_));
  HONE_TRY(make_pipe(announced, output));
  std::vector<std::string> words{"hone",       "web",
                                 "--json",     "--until-eof",
                                 "--listen",   options_.listen,
                                 "--endpoint", options_.endpoint,
                                 "--set",      "log.level=" + options_.log_level,
                                 "--set",      "log.format=" + options_.log_format};
  if (!options_.token_file.empty()) {
    words.insert(words.end(), {"--token-file", options_.token_file});
  }
  if (!options_.journal.empty()) words.insert(words.end(), {"--journal", options_.journal});
  if (!options_.config_file.empty()) {
    words.insert(words.end(), {"--tasks-config", options_.config_file});
  }
  for (const std::string& set : options_.config_sets) {
    words.insert(words.end(), {"--tasks-set", set});
  }
  if (!options_.key.empty()) words.insert(words.end(), {"--key", options_.key});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  FileActions actions;
  actions.use(input, STDIN_FILENO);
  actions.use(output, STDOUT_FILENO);
  const OwnSession session;
  const int error = posix_spawn(&pid_, options_.program.c_str(), actions.get(), session.get(),
                                argv.data(), environ);
  if (error != 0) {
    pid_ = -1;
    return system_error("web: " + options_.program, error);
  }
  output.reset();
  auto url = read_announcement(announced.get());
  if (!url) {
    stop();
    return url.error();
  }
  url_ = std::move(*url);
  return {};
}

/// Reads the line that the child prints once it listens.
Result<std::string> WebProcess::read_announcement(int fd) const {
  const std::int64_t until_ns = monotonic_ns() + kStartNs;
  std::string line;
  while (line.find('\n') == std::string::npos && line.size() < kAnnouncementMax) {
    const std::int64_t left_ms = (until_ns - monotonic_ns()) / 1'000'000;
    pollfd polled{fd, POLLIN, 0};
    if (left_ms <= 0 || (poll(&polled, 1, static_cast<int>(left_ms)) == 0))
      return unavailable("web: the process did not listen within 30 s");
    char bytes[512];
    const ssize_t n = read(fd, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return failed_precondition(
          "web: the process ended at its start; its message is above. Check web.listen, "
          "web.token_file and web.key");
    }
    line.append(bytes, static_cast<std::size_t>(n));
  }
  HONE_ASSIGN(const Value announced, from_json(line.substr(0, line.find('\n'))));
  const Value* url = announced.find("url");
  if (url == nullptr || !url->is_string()) return internal_error("web: found " + line);
  return url->as_string();
}

void WebProcess::keep_alive() {
  if (pid_ > 0) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) != pid_) return;
    pid_ = -1;
    const std::string how = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                                : "status " + std::to_string(WEXITSTATUS(status));
    log_warning("web", "the process ended with " + how + "; starting another");
  }
  const std::int64_t now_ns = monotonic_ns();
  if (now_ns < spawn_again_ns_) return;
  spawn_again_ns_ = now_ns + kAgainNs;
  if (const Status again = spawn(); !again) log_error("web", again.error().message);
}

void WebProcess::stop() {
  alive_.reset();
  if (pid_ <= 0) return;
  const std::int64_t until_ns = monotonic_ns() + kEndNs;
  while (waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (monotonic_ns() > until_ns) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
      break;
    }
    poll(nullptr, 0, 5);
  }
  pid_ = -1;
}

}  // namespace hone
