// HostCalls: a judge's calls to its host while it works on a request, and its replies.
#pragma once

#include <utility>

#include "base/result.hpp"
#include "judge_protocol/messages.hpp"

namespace hone {

/// Each call with an answer returns once the host has given it. One thread.
class HostCalls {
 public:
  explicit HostCalls(int socket) : socket_(socket) {}

  /// Says that a stage begins.
  void begin(JudgeStage stage) const { send(StageCall{stage}); }
  /// Waits for the device exclusively. Returns whether other judges have something on it.
  Result<bool> quiet() const;
  /// Shares the device again.
  Status share() const;
  /// Lets other judges measure first, if any of them waits.
  Status yield() const;
  /// Has the host end the submission's process; await_end() returns once nothing of it is left.
  void end() const { send(EndCall{}); }
  Status await_end() const;
  /// Ends the request.
  void reply(const JudgeReply& reply) const;

 private:
  void send(const JudgeCall& call) const;
  template <typename Expected>
  Result<Expected> receive() const;

  int socket_;
};

}  // namespace hone
