// Judge: answers the host's requests, one at a time, and keeps the dataset's runners between them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "judge/blame.hpp"
#include "judge/host_calls.hpp"
#include "judge/known_answer.hpp"
#include "judge/process_runner.hpp"
#include "judge/session.hpp"
#include "judge_protocol/messages.hpp"
#include "plugin/backend.hpp"

namespace hone {

/// Serves the requests of judge_protocol/requests.hpp. One thread.
///
///   Judge(3, backend, device, cpu, cores).serve();
class Judge {
 public:
  /// `cpu` is the judge's own core, `cores` the device's, first the one that a single-threaded
  /// submission gets.
  Judge(int socket, const Backend& backend, hone_device* device, int cpu, std::vector<int> cores);
  /// Serves until the host closes.
  void serve();

 private:
  struct Installed {
    TrustedRole role;
    Task task;
    std::unique_ptr<ProcessRunner> runner;
    DatasetRunner trusted;
  };
  void serve(OpenRequest request, std::vector<UniqueFd> fds);
  void serve(EquipRequest request, std::vector<UniqueFd> fds);
  void serve(InstallRequest request, std::vector<UniqueFd> fds);
  void serve(JudgeRequest request, std::vector<UniqueFd> fds);
  void serve(AdmitRequest request, std::vector<UniqueFd> fds);
  void serve(DropRequest request, std::vector<UniqueFd> fds);
  void serve(ForgetRequest request, std::vector<UniqueFd> fds);
  void serve(TrimRequest request, std::vector<UniqueFd> fds);
  Result<Value> equip(std::vector<UniqueFd> fds);
  /// Of a submission if `limited`, else of trusted code.
  RunnerOptions options_for(const Task& task, const MeasureSettings& settings, bool module,
                            bool limited) const;
  Result<std::unique_ptr<ProcessRunner>> make_runner(std::int64_t pid, std::vector<UniqueFd> fds,
                                                     std::unique_ptr<Arena> arena,
                                                     RunnerOptions options) const;
  Judgement judge_with(ProcessRunner& runner, const std::function<Round()>& set_up,
                       const JudgeRequest& request);
  SessionHost session_host();
  Status await_quiet();
  Judgement expect_still();
  Status give_way();
  Judgement judge_kept(const JudgeRequest& request, UniqueFd artifact, Plans plans,
                       std::uint64_t bytes, RunnerOptions options);
  Result<std::unique_ptr<Arena>> take_arena(std::uint64_t bytes);
  Judgement install(InstallRequest request, std::vector<UniqueFd> fds);
  Judgement find_error(const InstallRequest& request, const Task& task, DatasetRunner& reference);
  Judgement find_times(const InstallRequest& request, const Task& task, DatasetRunner& baseline);
  Judgement judge(JudgeRequest request, std::vector<UniqueFd> fds);
  Result<DatasetRunner> installed(TrustedRole role, const std::string& key) const;

  int socket_;
  HostCalls host_;
  const Backend& backend_;
  hone_device* device_;
  int cpu_;
  std::vector<int> cores_;
  bool note_warns_ = false;   ///< the note of the last install is a warning
  bool device_code_ = false;  ///< artifacts are: the device's memory is not this process'
  PlanLimits limits_;
  std::optional<KnownAnswer> known_answer_;  ///< device code: there once equipped
  std::optional<WitnessArea> witness_area_;  ///< device code: there once equipped
  std::unique_ptr<Workbench> workbench_ = make_host_workbench();
  std::map<std::string, Installed> installed_;
  std::map<std::int64_t, std::unique_ptr<ProcessRunner>> kept_;  ///< device code: by the host's id
  /// The next submission's, made between two requests: the kernel takes milliseconds to clear it.
  std::unique_ptr<Arena> spare_;
  std::uint64_t spare_bytes_ = 0;  ///< what the last submission needed
  bool others_present_ = false;    ///< other judges have something on the device
};

}  // namespace hone
