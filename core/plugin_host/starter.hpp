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
  std::vector<std::string> environment;  ///< all of it: "NAME=value"
  int socket = -1;                       ///< becomes descriptor 3
  int output = -1;                       ///< becomes standard output and error
};

/// Rationale: a child that asked to die with its parent (PR_SET_PDEATHSIG) dies with the *thread*
/// that made it. Calls come from threads that come and go, so one that stays makes all children.
/// It is made with the first start. [any thread]
class HostStarter {
 public:
  HostStarter();
  /// Ends every process that it started, by ending its thread.
  ~HostStarter();
  HostStarter(const HostStarter&) = delete;
  HostStarter& operator=(const HostStarter&) = delete;

  /// Starts a process as the leader of a group of its own.
  Result<pid_t> start(const StartRequest& request);

 private:
  struct Thread;
  const std::unique_ptr<Thread> thread_;
};

}  // namespace hone
