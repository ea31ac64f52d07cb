// Judge: answers the host's requests, one at a time, and keeps the dataset's runners between them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "channel/stream.hpp"
#include "judge/known_answer.hpp"
#include "judge/process_runner.hpp"
#include "judge/session.hpp"
#include "model/value.hpp"
#include "plugin/backend.hpp"

namespace hone {

/// Requests (maps) and what travels with them:
///   equip    {} + harness and known answer, where the device's memory is its own → {kind: "equipped", facts}
///   install  {task, settings, seed, role: "reference"|"baseline", key, reference: key, pid, plan,
///            exact: plan} + process → {kind: "installed", note, calibration}. `calibration`: what
///            was found of this baseline, or of the error of this reference, before. With `from`: key, the process of what is installed there
///            serves instead, in its place, and what travels is the artifact alone
///   judge    {task, settings, seed, reference: key, baseline: key, pid, plan, runner: id, kept:
///            bool, vouched} + process → {kind: "stage", stage}… {kind: "judged", kept: bool, vouched}. With `kept`, the
///            runner of that id is used again, and what travels is the artifact alone; the answer's says whether it can be
///            once more, a module's only with `keeps`. `vouched`: what was found of the baseline's rounds before, and
///            what now. {kind: "end"} asks for the submission's end, and waits for
///   ended    {}
///            {kind: "quiet"}, here or in "install", asks for the device alone, {kind: "share"} gives that up, and they
///            wait for
///   quiet    {others: bool, whether other judges have something on the device}
///   share    {}
///   forget   {runner: id} → nothing
///   admit    {task, seed, reference: key} → {kind: "admitted", report}
///   drop     {key} → nothing
///   trim     {} → nothing; memory that is kept for later use is given back
/// With `module`: true the process is a module's beside a device. A process travels as its descriptors: socket, artifact, pidfd and, with cgroups, freeze and
/// frozen_events. What cannot be done is {kind: "judged", judgement: {ending: "fault", …}}.
class Judge {
 public:
  /// `cpu` is the judge's own core, `cores` the device's, first the one that a single-threaded
  /// submission gets.
  Judge(int socket, const Backend& backend, hone_device* device, int cpu, std::vector<int> cores);
  /// Serves until the host closes.
  void serve();

 private:
  struct Installed {
    Task task;
    std::unique_ptr<ProcessRunner> runner;
    Trusted trusted;
  };
  Result<Value> equip(std::vector<UniqueFd> fds);
  Result<Task> task_of(const Value& request) const;
  Result<Plans> plans_of(const Value& request, const Task& task) const;
  RunnerOptions options_for(const Value& request, const Task& task, const MeasureSettings& settings,
                            bool limited) const;
  void answer(StreamMessage message);
  void say(const Value& value) const;
  void say_judged(const Judgement& judgement, bool kept = false);
  Result<std::unique_ptr<ProcessRunner>> make_runner(const Value& request,
                                                     std::vector<UniqueFd> fds, const Task& task,
                                                     const MeasureSettings& settings,
                                                     std::unique_ptr<Arena> arena,
                                                     bool limited) const;
  Judgement judge_with(ProcessRunner& runner, const std::function<Round()>& set_up,
                       const Value& request, const Task& task, const MeasureSettings& settings);
  SessionHost session_host();
  Status await_quiet();
  Status expect_memory() const;
  Judgement expect_still();
  Status give_way(const std::function<Status()>& stand_still);
  Status share();
  Result<Value> hear_host(std::string_view expected) const;
  void keep(const Value& request, const MeasureSettings& settings,
            std::unique_ptr<ProcessRunner> runner);
  Judgement judge_kept(const Value& request, UniqueFd artifact, const Task& task,
                       const MeasureSettings& settings, Plans plans, std::uint64_t bytes);
  Result<std::unique_ptr<Arena>> take_arena(std::uint64_t bytes);
  Judgement install(const Value& request, std::vector<UniqueFd> fds);
  Judgement find_error(const Value& request, const Task& task, Trusted& reference);
  Judgement find_times(const Value& request, const Task& task, Trusted& baseline);
  Judgement judge(const Value& request, std::vector<UniqueFd> fds);
  Result<Value> admit(const Value& request);
  Result<Trusted> installed(const Value& request, std::string_view role) const;

  int socket_;
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
  bool beside_others_ = false;     ///< other judges have something on the device
  Vouched vouched_;                ///< found by the last session
};

}  // namespace hone
