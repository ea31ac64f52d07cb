// TaskSlots: the tasks that a lane keeps ready, each with its reference and its baseline in processes of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluate/build_pool.hpp"
#include "evaluate/judge_client.hpp"
#include "evaluate/memory_budget.hpp"
#include "evaluate/mode.hpp"
#include "evaluate/options.hpp"
#include "evaluate/process_pool.hpp"
#include "evaluate/recent.hpp"
#include "evaluate/sources.hpp"
#include "model/task.hpp"

namespace hone {

/// The judge's key for one of the task's own codes.
std::string installed_key(const std::string& task_key, TrustedRole role);
/// The task as judges get it.
Task without_sources(const Task& task);

/// Times and errors that installed tasks were found to have, for all lanes of a device.
struct TaskFindings {
  Recent<Calibration> baseline_times;
  Recent<ReferenceError> reference_errors;
};

/// A task that needs a slot.
struct SlotRequest {
  std::shared_ptr<const Task> task;
  std::string key;  ///< task_key()
  Mode mode = Mode::kNativeOnCpu;
  TrustedCodes codes;  ///< those that are missing are built
  MemoryNeed need;
  DeviceMemory device;
  bool drops_others = false;  ///< no other task stays
  bool may_inherit = true;    ///< it may take over the processes of a task that is dropped
};

/// One lane's. One thread at a time.
///
///   const std::string inherited = slots.make_room(request);
///   pool.await_ended();
///   HONE_TRY(slots.install(request, inherited));
class TaskSlots {
 public:
  /// All outlive it. `on_step` hears what is installed, for the log.
  TaskSlots(JudgeClient& judge, ProcessPool& pool, BuildPool& builds,
            const EvaluatorOptions& options, TaskFindings& findings,
            std::function<void(const std::string& step)> on_step);

  bool has(const std::string& key) const { return installed_.count(key) != 0; }
  std::set<std::string> keys() const;
  /// Device memory of all tasks.
  std::uint64_t held_bytes() const;
  /// Device memory of the tasks while a submission of the requested one is judged.
  std::uint64_t held_bytes_with(const SlotRequest& request) const;
  /// Drops tasks until the requested one has room. Returns the key of a dropped task whose processes it inherits, or "".
  std::string make_room(const SlotRequest& request);
  /// Installs the task, or notes its use if it is there. After a failure nothing is left of it.
  Status install(const SlotRequest& request, const std::string& inherited);
  void drop(const std::string& key);
  void drop_all();
  /// The judge is gone: ends the processes.
  void clear();

 private:
  struct Running {
    std::unique_ptr<Process> process;
    ProcessPool::Kind kind = ProcessPool::Kind::kCandidate;
  };
  struct Installed {
    Running reference, baseline;
    Mode mode = Mode::kNativeOnCpu;
    int tasks = 1;            ///< that its processes have served
    std::uint64_t bytes = 0;  ///< of device memory
    std::list<std::string>::iterator age;
  };
  std::vector<std::string> tasks_to_drop(const SlotRequest& request) const;
  std::string task_to_inherit(const std::vector<std::string>& to_drop,
                              const SlotRequest& request) const;
  Status install_new(const SlotRequest& request, Installed& made);
  Status install_over(const std::string& old_key, const SlotRequest& request, Installed& made);
  /// The task's reference or baseline, built.
  struct Code {
    FormPlans plans;
    std::shared_ptr<const Built> built;
    Mode mode = Mode::kNativeOnCpu;
  };
  static ProcessPool::Kind kind_of(const Code& code);
  Result<TrustedCode> find_or_build(const SlotRequest& request, TrustedRole role);
  Result<Code> build(const SlotRequest& request, TrustedRole role);
  Result<Running> start(const SlotRequest& request, TrustedRole role, const Code& code);
  Result<Running> reuse(const SlotRequest& request, TrustedRole role, Running old,
                        const std::string& old_key);
  Result<Running> set_up(const SlotRequest& request, TrustedRole role, const Code& code,
                         ProcessPool::Standby process, ProcessPool::Kind kind,
                         const std::string& from);
  Status ask(const SlotRequest& request, TrustedRole role, const Code& code,
             const ProcessPool::Standby& process, const std::string& from);
  void note_installed(const SlotRequest& request, TrustedRole role, const InstalledReply& reply);
  Error failure(const SlotRequest& request, TrustedRole role, Process& process,
                const Judgement& judgement) const;
  void tell_dropped(const std::string& key);

  JudgeClient& judge_;
  ProcessPool& pool_;
  BuildPool& builds_;
  const EvaluatorOptions& options_;
  TaskFindings& findings_;
  const std::function<void(const std::string& step)> on_step_;
  std::map<std::string, Installed> installed_;
  std::list<std::string> ages_;  ///< front: used last
};

}  // namespace hone
