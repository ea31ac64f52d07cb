// ProcessRunner: sets up one candidate process, gives it orders, and times its rounds.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/run_delay.hpp"
#include "base/unique_fd.hpp"
#include "channel/control.hpp"
#include "judge/arena.hpp"
#include "judge/plans.hpp"
#include "judge/runner.hpp"
#include "judge/witness.hpp"
#include "judge_protocol/defences.hpp"
#include "model/task.hpp"
#include "sandbox/freezer.hpp"
#include "sandbox/starved_time.hpp"

namespace hone {

/// Descriptors from the host of a process that waits to be set up.
struct RunnerHandles {
  UniqueFd socket, artifact, pidfd;
  UniqueFd freeze, frozen_events;  ///< none with ptrace
  pid_t pid = 0;
};

struct RunnerOptions {
  bool device_code =
      false;            ///< work is done on a device: rounds end when the witness has read outputs
  bool module = false;  ///< device_code: started by a module's host code; else by hone's
  bool spin = true;     ///< wait by spinning, on a core of the judge's own; else asleep
  std::int64_t memory_bytes_max = 0;  ///< resident; 0: not watched
  bool observes = false;              ///< a module's interpreter can trace a call
  bool one_thread =
      false;  ///< it has no other, or no host code of the submission: it cannot cause its run delay
  double seconds_max = 0;  ///< of all its rounds and its loading together; 0: no limit
  Defences defences;
};

/// One thread. Only the host kills the process; the destructor closes this side of the connection.
class ProcessRunner : public Runner {
 public:
  static Result<std::unique_ptr<ProcessRunner>> create(std::unique_ptr<Arena> arena,
                                                       RunnerHandles handles,
                                                       RunnerOptions options);
  /// Rounds end when the witness has read the outputs; without one, they end frozen.
  void set_witness(std::unique_ptr<Witness> witness) { witness_ = std::move(witness); }
  ~ProcessRunner() override;

  /// Sends the setup; returns once the artifact is loaded. A failure before the process is sealed is a kFault, a later one the
  /// candidate's.
  Round set_up(const Task& task, Plans plans, const std::vector<int>& cores, double timeout_s);
  /// Device code only: replaces the artifact that is loaded. `arena`: a larger one, or null to keep the present one, which the
  /// caller has scrubbed.
  Round reload(const Task& task, Plans plans, UniqueFd artifact, std::unique_ptr<Arena> arena,
               RunnerOptions options, double timeout_s);

  const Arena& arena() const override { return *arena_; }
  Status prepare(Form form, const Dims& dims, std::uint64_t scratch_at) override;
  std::uint64_t scratch_bytes(const Dims& dims) const override;
  void aim(const Layout& layout, std::uint64_t secret) override;
  Result<bool> outputs_unchanged_in(const Arena& arena) override;
  Result<std::string> sample_outputs(const Layout& layout, std::uint64_t secret) override;
  bool withholds_inputs() const override { return options_.module; }
  bool observes() const override { return options_.observes; }
  std::string observed() const override;
  std::vector<std::uint32_t> chosen_configurations() const override;
  Status give_inputs(std::function<Status()> put) override;
  void forget_inputs() override { put_inputs_ = nullptr; }
  void keep_core_busy(bool awake) override;
  std::vector<int> cores() const override;
  void set_affinity(const std::vector<int>& cores) override;
  bool can_stand_still() const override { return options_.module && handles_.freeze; }
  Result<bool> stand_still() override;
  Round trim() override;
  Status freeze() override;
  Status thaw() override;
  RoundValues& values(std::size_t call) override;
  Round timed_round(Order order, std::size_t calls, double timeout_s) override;
  Round plain_round(Order order, std::size_t calls, double timeout_s) override;
  void set_guards(const std::vector<Guard>& guards) override;
  void set_urgent(bool urgent) override;

 private:
  ProcessRunner() = default;
  std::uint32_t give(Order order, std::size_t calls, bool spin);
  Status send(const Task& task, int artifact);
  Round send_and_load(const Task& task, int artifact, double timeout_s);
  Round set_up_module(const Task& task, double timeout_s);
  Round device_round(Order order, std::size_t calls, double timeout_s);
  std::optional<Round> over_time(double passed_s, double limit_s, double timeout_s);
  double starved_s(double passed_s) const;
  void spend(Round& round);
  Round starved(double passed_s) const;
  Round wait_done(std::uint32_t round, double timeout_s, bool spin);
  Round await_loaded(double timeout_s);
  Status stop_threads();
  Round receive_report(Report expected, double timeout_s);
  Round hung_up(Ending blame);
  double left_of(double timeout_s) const;
  bool ended() const;
  bool over_memory() const;
  std::string over_memory_text() const;

  std::unique_ptr<Arena> arena_;
  RunnerHandles handles_;
  UniqueFd orders_fd_, answers_fd_;
  Orders* orders_ = nullptr;
  const Answers* answers_ = nullptr;
  RunDelay
      delayed_;  ///< of the process' first thread; of a process with host code of the submission's
  StarvedTime starved_;  ///< since the last order, or since the artifact was sent
  std::unique_ptr<Freezer> freezer_;
  std::unique_ptr<Witness> witness_;
  Plans plans_;
  std::function<Status()> put_inputs_;  ///< of a module
  RunnerOptions options_;
  bool frozen_ = false;
  double spent_s_ = 0;  ///< of options_.seconds_max, without the time in which it was starved
};

}  // namespace hone
