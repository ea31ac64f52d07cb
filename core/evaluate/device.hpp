// Device: the host's side of one judge: keeps it alive, hands it processes, and makes verdicts of
// its judgements. A device that judges modules may have several, its lanes, which take turns.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "evaluate/build_pool.hpp"
#include "evaluate/calibrations.hpp"
#include "evaluate/judge_client.hpp"
#include "evaluate/memory_budget.hpp"
#include "evaluate/memory_ledger.hpp"
#include "evaluate/options.hpp"
#include "evaluate/sources.hpp"
#include "evaluate/turns.hpp"
#include "evaluate/warm_interpreters.hpp"
#include "model/task.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// Whether it has, or does in this time.
bool has_ended(const Process& process, int wait_ms);

/// One submission that has been built.
struct DeviceJob {
  std::shared_ptr<const Task> task;
  std::shared_ptr<const Built> built;
  Plan plan;
  std::string client, episode;  ///< whose it is
  std::uint64_t seed = 0;
  double limit_s = 1e9;  ///< time limit of the step (s)
  bool measure = true;
  bool swapped = false;                     ///< the measurement in the other order
  bool whole = false;                       ///< with nothing of other lanes on the device
  const std::atomic<bool>* over = nullptr;  ///< set where nobody waits for it any more; may be NULL
  /// Hears each stage that begins; kPrepare again if all of it is done again.
  std::function<void(JudgeStage stage)> progress;
  std::function<void(double from_s, double to_s)> waited;  ///< hears when it waited for others
};

/// How a job ended, for a verdict: the judge's judgement, and how the submission's process ended if
/// it did.
struct DeviceResult {
  Judgement judgement;
  std::optional<ProcessExit> exit;
  bool used = false;  ///< by a process that has run others' code
};

/// Of all that a task is.
std::string task_key(const Task& task);
/// The judge's key for one of the task's own codes.
std::string installed_key(const std::string& task_key, TrustedRole role);
/// The task as judges get it.
Task without_sources(const Task& task);

class Device;

/// What the lanes of one device share.
struct Shared {
  /// A lane has the device for at most `hold_seconds` of its own work, and another lane waits for it no longer than all
  /// lanes may take.
  Shared(double hold_seconds, std::size_t lane_count)
      : turns(hold_seconds * static_cast<double>(lane_count)),
        ledger(hold_seconds * static_cast<double>(lane_count)) {}

  Turns turns;
  MemoryLedger ledger;
  Recent<Calibration> baseline_times;
  Recent<ReferenceError> reference_errors;
  VouchedTimes vouched;
  std::vector<Device*> lanes;  ///< complete before the first of them starts
  std::atomic<std::uint64_t> memory_bytes{0};
  Mutex mutex;
  /// Tasks, by key, for which hone's own processes found too little memory in a lane's share, and until when that counts.
  /// Rationale: a submission can take their memory, and is not to have its task judged alone for good.
  std::map<std::string, double> short_until_s HONE_GUARDED_BY(mutex);
};

/// Longest time that a lane works on one attempt, turns of other lanes not counted.
double hold_seconds(const EvaluatorOptions& options);

/// One thread calls run() and admit(); cancel() and close() may come from any.
///
/// Theory of operation. A job first reserves device memory (memory_ledger.hpp), then takes a turn (turns.hpp). With a turn,
/// only the lane's own thread touches its tasks, processes and judge. Without one, another lane may take back its tasks (of an
/// idle lane) or all but its judge (if it has the device whole). So the thread holds `state_mutex_` when it touches these
/// without a turn.
class Device {
 public:
  Device(Launcher& launcher, WarmInterpreters& interpreters, BuildPool& builds,
         const EvaluatorOptions& options, DeviceSpec spec, Shared& shared);
  ~Device();

  /// Starts the judge and a standby candidate.
  Status start();
  /// Makes processes for the next submissions in the place of those that were taken.
  void make_ready();
  /// Leaves the device to other lanes, until there is something to judge.
  void rest();
  /// Judges one submission. An Error is ours: the judge could not be started or asked, or the
  /// task's own code failed.
  Result<DeviceResult> run(const DeviceJob& job);
  /// Whether the last run() came so far that the submission's process was handed to the judge.
  bool has_begun() const { return begun_; }
  /// Whether the last run() ended for want of memory of the device or of a turn: a second attempt would be in vain, and the
  /// submission has no part in it.
  bool has_given_up() const { return gave_up_; }
  /// How many processes modules that were submitted have taken. [any thread]
  std::size_t module_processes() const { return module_processes_; }
  /// What the device says of itself, once started.
  const Value& facts() const { return facts_; }
  /// Its name and its driver's version.
  std::string name() const;
  /// What it can load and store in a second for this task, caches included.
  double bytes_per_second_max(const Task& task) const;
  /// Whether the reference and the baseline of the task with this key are ready here. [the thread of run()]
  bool has_ready(const std::string& task_key) const {
    MutexLock lock(state_mutex_);
    return installed_.count(task_key) != 0;
  }
  /// Device memory that a task needs while a submission of it is judged; 0: it cannot be told. [any thread]
  std::uint64_t memory_bytes(const Task& task) const;
  /// Whether this lane could have so much of it now. [any thread]
  bool could_claim(std::uint64_t bytes) const { return shared_.ledger.could_claim(lane_, bytes); }
  /// What it does now: "install the reference of level3/17". [any thread]
  std::string work() const { return turn_.work(); }
  /// Ends the submission that is being judged; nothing begins if its job is over.
  void cancel();
  /// Likewise, for good: nothing is judged any more.
  void close();
  /// Runs the baseline as if it were submitted, in a fresh process: whether this device judges
  /// right. `measure`: with a measurement, which needs more memory.
  Status known_answer(const std::shared_ptr<const Task>& task, bool measure = false);
  /// The judge's report on lazy answers and the reference's error.
  Result<Value> admit(const std::shared_ptr<const Task>& task, std::uint64_t seed);

 private:
  static constexpr double kExitSeconds = 5;   ///< for a process that was ended
  static constexpr double kOpenSeconds = 20;  ///< for a device's context
  static constexpr double kGoneSeconds = 20;  ///< for it to give its device back
  static constexpr int kInARowMax = 8;        ///< limit of in_a_row_
  struct Runner {                             // a process that waits to be set up
    std::unique_ptr<Process> process;
    UniqueFd socket;
    bool told = false;  ///< to open its device
  };
  enum class Kind { kCandidate, kModule, kTrustedModule };
  /// How many are made when fewer than `least` are left. Rationale: contexts that are made together take half of what
  /// they take one by one, and nothing is measured meanwhile.
  struct Ahead {
    std::size_t least, made;
  };
  /// A process that runs submissions of one owner, one after the other.
  struct Kept {
    std::unique_ptr<Process> process;
    std::int64_t id = 0;
    std::size_t uses = 0;
  };
  Status equip();
  Result<UniqueFd> built_of_ours(const char* name, std::string_view source,
                                 std::vector<std::string> kernels);
  JudgeCallbacks judge_callbacks();
  void begin_stage(JudgeStage stage, const DeviceJob& job);
  void set_work(const std::string& step);
  void note_wait(double from_s);
  std::string owner_of(const DeviceJob& job) const;
  Status end_running();
  bool leaves_state(const DeviceJob& job) const;
  Result<DeviceResult> run_once(const DeviceJob& job, bool fresh, bool* used);
  Result<DeviceResult> run_or_redo(const DeviceJob& job);
  Result<DeviceResult> run_in_turn(const DeviceJob& job);
  Status take_turn(bool whole);
  void leave_turn();
  Result<DeviceResult> attempt(const DeviceJob& job, bool whole, bool to_itself);
  Shortage shortage_of(const Result<DeviceResult>& result) const;
  Result<DeviceResult> repeat(const DeviceJob& job, bool to_itself, const std::string& why);
  DeviceMemory memory() const;
  Result<MemoryNeed> need_of(const Task& task) const;
  Status expect_host_memory(const Task& task);
  Result<MemoryPlace> place_of(const Task& task);
  void have_to_itself();
  void drop_all_tasks();
  std::vector<std::unique_ptr<Process>> yield_tasks();
  std::vector<std::unique_ptr<Process>> yield_memory();
  void close_standby();
  std::uint64_t held_bytes() const;
  std::vector<std::string> tasks_to_drop(const MemoryNeed& need, const std::string& key) const;
  Result<std::uint64_t> bytes_to_claim(const Task& task, bool drops_others) const;
  Status claim_memory(const DeviceJob& job, bool to_itself);
  Status take_back_from(const std::vector<std::size_t>& lanes);
  void shrink_to_share();
  void note_short(const Task& task);
  Error not_enough(const Task& task, const Error& error);
  bool lacks_judge() const;
  void tell_waited(double from_s) const;
  bool is_over(const DeviceJob& job) const;
  bool redo_alone(const DeviceJob& job, const Result<DeviceResult>& result) const;
  void forget(const std::string& owner);
  bool forget_all();
  Result<DeviceResult> with_room(const DeviceJob& job, Result<DeviceResult> result);
  void put_away(Kept runner, DeviceResult& result);
  void keep(const std::string& owner, Kept kept);
  Kept take_kept(const std::string& owner, bool fresh);
  struct Installed {
    std::unique_ptr<Process> reference, baseline;
    bool module = false;
    int tasks = 1;            ///< that its processes have served
    std::uint64_t bytes = 0;  ///< of device memory
    std::list<std::string>::iterator age;
  };
  Result<Runner> start_candidate();
  Result<Runner> start_interpreter(WarmInterpreters::Use use);
  Result<Runner> start(Kind kind);
  Result<Runner> take(Kind kind);
  Ahead ahead(Kind kind) const;
  void refill(Kind kind);
  void start_missing(bool contexts);
  bool opens_ahead(Kind kind) const;
  void open_ahead();
  void wait_until_open(double seconds);
  void let_go(std::unique_ptr<Process> process);
  void await_last();
  Result<bool> answer_quiet();
  Status answer_share();
  Result<bool> answer_yield(bool still);
  Status ensure_judge();
  Status start_judge_alone();
  void stop_judge();
  Result<std::string> ensure_installed(const std::shared_ptr<const Task>& task);
  Result<std::string> find_or_install(const std::shared_ptr<const Task>& task);
  Result<std::unique_ptr<Process>> install(const std::shared_ptr<const Task>& task,
                                           TrustedRole role, const std::string& key);
  /// With `from` in the place of another task's. What cannot be installed is let go.
  Result<std::unique_ptr<Process>> install(const std::shared_ptr<const Task>& task,
                                           TrustedRole role, const std::string& key, Runner runner,
                                           const std::string& from);
  Status install_in(const Runner& runner, const std::shared_ptr<const Task>& task, TrustedRole role,
                    const std::string& key, const std::string& from);
  bool is_installed(const Task& task) const { return has_ready(task_key(task)); }
  const std::string& oldest_task() const { return ages_.back(); }
  Status install_both(const std::shared_ptr<const Task>& task, const std::string& key,
                      Installed& made);
  Status install_over(const std::string& old_key, const std::shared_ptr<const Task>& task,
                      const std::string& key, Installed& made);
  MeasureSettings settings_for(const Task& task, MeasureSettings settings) const;
  void drop(const std::string& key);
  void send_drop(const std::string& key);
  std::string task_to_inherit(const std::vector<std::string>& to_drop, const Task& task,
                              const MemoryNeed& need) const;

  Launcher& launcher_;
  WarmInterpreters& interpreters_;
  BuildPool& builds_;
  const EvaluatorOptions& options_;
  const DeviceSpec spec_;
  Shared& shared_;
  Turn turn_;
  const std::size_t lane_;     ///< its number in the ledger
  mutable Mutex state_mutex_;  ///< see the theory of operation
  JudgeClient judge_;
  Value facts_;                       ///< the opened device's
  std::map<std::string, Kept> kept_;  ///< by owner
  std::list<std::string> kept_ages_;  ///< front: used last
  std::int64_t last_runner_ = 0;
  std::map<Kind, std::list<Runner>> standby_;      ///< that wait for work
  std::vector<std::unique_ptr<Process>> leaving_;  ///< that have been ended
  std::map<std::string, Installed> installed_;
  std::list<std::string> ages_;  // front: used last
  Mutex mutex_;
  Process* running_ HONE_GUARDED_BY(mutex_) = nullptr;
  bool begun_ = false, gave_up_ = false;
  std::string task_id_, work_;        ///< of the job, and what is done for it now: for the log
  double ends_s_ = 1e300;             ///< when the work of this attempt must be over
  std::uint64_t reserved_bytes_ = 0;  ///< for the job, once tasks that it drops are gone
  bool drops_others_ = false;         ///< tasks kept ready go before the next one is judged
  bool to_itself_ = false;            ///< this lane has the device's memory to itself
  /// Consecutive jobs that this lane took ahead of others, or with the device to itself.
  int in_a_row_ = 0;
  std::atomic<bool> closed_{false};
  std::function<void(double from_s, double to_s)> waited_;  ///< its job's
  std::atomic<std::size_t> module_processes_{0};
};

}  // namespace hone
