// WebProcess: the process `hone web` that belongs to a server, restarted when it ends.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace hone {

struct WebProcessOptions {
  std::string listen;      ///< PORT on loopback, or HOST:PORT
  std::string token_file;  ///< of the HTTP clients' token; required beyond loopback
  std::string key;         ///< client key for a server with keys
  std::string endpoint;    ///< endpoint of the server: the control endpoint if there is one
  std::string log_level, log_format;
  std::string journal;                     ///< file of the server's journal; empty: none
  std::string config_file;                 ///< of the server, for the tasks of recorded prompts
  std::vector<std::string> config_sets;    ///< --set of the server
  std::string program = "/proc/self/exe";  ///< path of hone
};

/// Not thread-safe.
///
/// Theory of operation. The child's standard input is a pipe from this process. The child ends when the pipe closes, so
/// it never outlives the server, however that ends, and keeps its port until then. It ignores the signals that stop a
/// server, because a draining server still reports that it drains.
class WebProcess {
 public:
  /// Returns once the child listens. Error: it ended at its start, and its own message went to stderr.
  static Result<std::unique_ptr<WebProcess>> start(WebProcessOptions options);
  ~WebProcess() { stop(); }
  WebProcess(const WebProcess&) = delete;
  WebProcess& operator=(const WebProcess&) = delete;

  const std::string& url() const { return url_; }
  pid_t pid() const { return pid_; }
  /// Starts the child again if it has ended, at most once in a few seconds. Call it about once a second.
  void keep_alive();
  void stop();

 private:
  explicit WebProcess(WebProcessOptions options) : options_(std::move(options)) {}
  Status spawn();
  Result<std::string> read_announcement(int fd) const;

  WebProcessOptions options_;
  std::string url_;
  pid_t pid_ = -1;
  UniqueFd alive_;  // the write end of the child's standard input
  std::int64_t spawn_again_ns_ = 0;
};

}  // namespace hone
