// Judge: answers the host's requests, one at a time, and keeps the dataset's runners between them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "channel/stream.hpp"
#include "judge/process_runner.hpp"
#include "judge/session.hpp"
#include "model/value.hpp"
#include "plugin/backend.hpp"

namespace hone {

/// Requests (maps) and what travels with them:
///   install  {task, settings, seed, role: "reference"|"baseline", key, reference: key, pid}
///            + process → {kind: "installed"}
///   judge    {task, settings, seed, reference: key, baseline: key, pid}
///            + process → {kind: "stage", stage}… {kind: "judged"}
///   admit    {task, seed, reference: key} → {kind: "admitted", report}
///   drop     {key} → nothing
/// A process travels as its descriptors: socket, artifact, pidfd and, with cgroups, freeze and
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
  void answer(StreamMessage message);
  void say(const Value& value) const;
  void say_judged(const Judgement& judgement) const;
  Result<std::unique_ptr<ProcessRunner>> make_runner(const Value& request,
                                                     std::vector<UniqueFd> fds, const Task& task,
                                                     const MeasureSettings& settings,
                                                     std::unique_ptr<Arena> arena,
                                                     bool limited) const;
  Result<std::unique_ptr<Arena>> take_arena(std::uint64_t bytes);
  Judgement install(const Value& request, std::vector<UniqueFd> fds);
  Judgement judge(const Value& request, std::vector<UniqueFd> fds);
  Result<Value> admit(const Value& request);
  Result<Trusted> installed(const Value& request, std::string_view role) const;

  int socket_;
  const Backend& backend_;
  hone_device* device_;
  int cpu_;
  std::vector<int> cores_;
  std::map<std::string, Installed> installed_;
  /// The next submission's, made between two requests: the kernel takes milliseconds to clear it.
  std::unique_ptr<Arena> spare_;
  std::uint64_t spare_bytes_ = 0;  ///< what the last submission needed
};

}  // namespace hone
