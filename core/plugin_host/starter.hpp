// HostStarter: the thread that starts plugin hosts, so that they end when hone ends.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace hone {

/// Properties of a new process.
struct StartRequest {
  std::vector<std::string> arguments;    ///< the program's path first
  std::vector<std::string> environment;  ///< the whole environment: "NAME=value"
  int socket = -1;                       ///< becomes descriptor 3
  int output = -1;                       ///< becomes standard output and error
};

/// Rationale: a child with a parent-death signal (PR_SET_PDEATHSIG) is killed when the *thread* ends that
/// made it. Threads that call plugins come and go, so one permanent thread makes all children. It is started
/// with the first child. [any thread]
class HostStarter {
 public:
  HostStarter();
  /// Ends the thread, and with it every process that it started.
  ~HostStarter();
  HostStarter(const HostStarter&) = delete;
  HostStarter& operator=(const HostStarter&) = delete;

  /// Starts a process as the leader of its own process group.
  Result<pid_t> start(const StartRequest& request);

 private:
  struct Thread;
  const std::unique_ptr<Thread> thread_;
};

}  // namespace hone
