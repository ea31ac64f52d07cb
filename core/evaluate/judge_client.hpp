// JudgeClient: a judge's process and its socket. The only file of the host that speaks the judge protocol.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "judge_protocol/messages.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// Answers to a judge's calls (judge_protocol/calls.hpp), which come while a request waits for its reply. An error ends the
/// request: the judge gets no answer, and is to be stopped.
struct JudgeCallbacks {
  std::function<Result<bool>()>
      quiet;  ///< takes the device exclusively; whether others have something on it
  std::function<Status()> share;  ///< shares the device again
  std::function<Result<bool>(bool still)>
      yield;                          ///< lets others measure; whether one of them waits
  std::function<Status()> end;        ///< ends the submission's process
  std::function<double()> ends_s;     ///< when the work of this attempt must be over (monotonic_s)
  std::function<std::string()> work;  ///< the work that the judge does now, for the log
};

/// A process that a request hands to the judge. Borrowed.
struct HandedProcess {
  const Process& process;
  int socket;
};

/// One thread at a time. A request that fails leaves the judge in an unknown state; owes_reply() says so.
///
///   JudgeClient judge("lane 1", options.evaluation_seconds, callbacks);
///   HONE_TRY(judge.start(launcher, spawn));
///   HONE_ASSIGN(const Value facts, judge.open());
///   HONE_ASSIGN(const JudgedReply judged, judge.judge(request, &handed, artifact, on_stage));
class JudgeClient {
 public:
  using OnStage = std::function<void(JudgeStage)>;

  /// `silence_s_max`: how long the judge may send nothing while a request waits.
  JudgeClient(std::string lane, double silence_s_max, JudgeCallbacks callbacks);
  ~JudgeClient() { stop(); }

  /// Starts the process of `spawn`, which gets the other end of the socket.
  Status start(Launcher& launcher, SpawnRequest spawn);
  /// Ends the process and waits for it.
  void stop();
  bool is_started() const { return process_ != nullptr; }
  /// Whether it was started and its process has ended since.
  bool has_ended() const;
  /// The output of a judge that ends within this time; empty if it does not.
  std::string last_output(double seconds);
  /// Whether a request was sent and its reply has not come.
  bool owes_reply() const { return owes_reply_; }

  /// The facts of the device.
  Result<Value> open();
  /// Hands over memory files of the judge's own device code.
  Status equip(int harness, int known_answer);
  /// `process`: null if request.from names the entry whose process serves the new one.
  Result<std::variant<InstalledReply, Judgement>> install(InstallRequest request,
                                                          const HandedProcess* process,
                                                          const std::string& artifact);
  /// `process`: null if request.kept.
  Result<JudgedReply> judge(JudgeRequest request, const HandedProcess* process,
                            const std::string& artifact, const OnStage& on_stage);
  /// The report (judge/admit.hpp), or the judgement that says why there is none.
  Result<std::variant<Value, Judgement>> admit(AdmitRequest request);

  /// Without a judge these do nothing.
  void drop(const std::string& key) { tell(DropRequest{key}); }
  void forget(std::int64_t runner) { tell(ForgetRequest{runner}); }
  void trim() { tell(TrimRequest{}); }

 private:
  void tell(const HostRequest& request);
  Status send(std::string_view bytes, const std::vector<int>& fds) const;
  Result<JudgeReply> ask(const HostRequest& request, const std::vector<int>& fds,
                         const OnStage& on_stage = nullptr);
  Result<JudgeReply> ask(const HostRequest& request, const HandedProcess* process,
                         const std::string& artifact, const OnStage& on_stage = nullptr);
  Result<JudgeReply> receive_reply(const OnStage& on_stage);
  Status await_message() const;
  Status answer(const JudgeCall& call, const OnStage& on_stage);

  const std::string lane_;
  const double silence_s_max_;
  const JudgeCallbacks callbacks_;
  std::unique_ptr<Process> process_;
  UniqueFd socket_;
  bool owes_reply_ = false;
};

}  // namespace hone
