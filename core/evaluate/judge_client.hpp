// JudgeClient: a judge's process and its socket. The only file of the host that speaks the judge protocol.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "evaluate/running_process.hpp"
#include "judge_protocol/messages.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

inline constexpr double kExitSeconds = 5;  ///< for a killed process to end

/// Answers to a judge's calls (judge_protocol/calls.hpp), which come while a request waits for its reply.
/// After an error the request fails: the judge gets no answer, and must be stopped.
struct JudgeCallbacks {
  std::function<Result<bool>()>
      quiet;  ///< locks the device exclusively; returns whether other lanes have something on it
  std::function<Status()> share;      ///< shares the device again
  std::function<Status()> yield;      ///< lets waiting lanes measure first
  std::function<Status()> end;        ///< ends the submission's process
  std::function<double()> ends_s;     ///< time limit of this attempt's work (monotonic_s)
  std::function<std::string()> work;  ///< the judge's current work, for the log
};

/// A process that is passed to the judge with a request. Borrowed.
struct PassedProcess {
  const Process& process;
  int socket;
};

/// One thread at a time, except close(). A request that fails leaves the judge in an unknown state; awaits_reply() says so.
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

  /// Starts the judge's process by `spawn`, with the other end of the socket.
  Status start(Launcher& launcher, SpawnRequest spawn);
  /// Ends the process and waits for it.
  void stop();
  /// Kills the process, and each one that is started later. [any thread]
  void close();
  bool is_started() const { return process_ != nullptr; }
  /// Whether its process was started and has ended.
  bool has_ended() const;
  /// The output of a judge that ends within this time; empty if it does not end.
  std::string last_output(double seconds);
  /// Whether a request was sent and has no reply yet.
  bool awaits_reply() const { return awaits_reply_; }

  /// The facts of the device.
  Result<Value> open();
  /// Sends the judge its own device code: two memory files (memfd), each with compiled kernels.
  Status equip(int harness, int known_answer);
  /// `process`: null if request.from names the entry whose process is reused.
  Result<std::variant<InstalledReply, Judgement>> install(
      InstallRequest request, const PassedProcess* process,
      const std::vector<std::string_view>& artifact);
  /// `process`: null if request.kept.
  Result<JudgedReply> judge(JudgeRequest request, const PassedProcess* process,
                            const std::vector<std::string_view>& artifact, const OnStage& on_stage);
  /// The report (judge/admit.hpp), or the judgement with the reason why there is none.
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
  Result<JudgeReply> ask(const HostRequest& request, const PassedProcess* process,
                         const std::vector<std::string_view>& artifact,
                         const OnStage& on_stage = nullptr);
  Result<JudgeReply> receive_reply(const OnStage& on_stage);
  Status await_message() const;
  Status answer(const JudgeCall& call, const OnStage& on_stage);

  const std::string lane_;
  const double silence_s_max_;
  const JudgeCallbacks callbacks_;
  std::unique_ptr<Process> process_;
  RunningProcess running_;  ///< process_
  std::atomic<bool> closed_{false};
  UniqueFd socket_;
  bool awaits_reply_ = false;
};

}  // namespace hone
