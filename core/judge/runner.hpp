// Runner: something that holds one artifact and an arena, and runs rounds of calls under a clock.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "channel/control.hpp"
#include "judge/arena.hpp"
#include "judge/layout.hpp"
#include "judge_protocol/form.hpp"
#include "judge_protocol/judgement.hpp"
#include "model/task.hpp"

namespace hone {

struct Round {
  Ending ending = Ending::kDone;
  double seconds = 0;         ///< from thaw to confirmed freeze (or from order to done, unfrozen)
  std::string message;        ///< an exception's words, or what failed
  double marked_seconds = 0;  ///< Order::kMarked: by the device's own clock; for comparison only
  /// Timed rounds: the time in which the first thread of the process was ready to run and had no core, by the kernel's count;
  /// 0 if the kernel does not count it.
  double delayed_seconds = 0;
  std::uint32_t flags = 0;    ///< hone_python_flags, of a candidate with an interpreter
  double halted_seconds = 0;  ///< time in which the machine was stopped (sandbox/starved_time.hpp)
};

/// The nice value of judges and candidates during a measurement, if hone may set it.
inline constexpr int kMeasurePriority = -15;
/// The nice value of a submission while it is loaded and checked. A submission that spins must not slow the compilers of
/// other submissions (kBuilderPriority).
inline constexpr int kCheckPriority = 0;

/// The arguments of one call: offsets into the arena, and scalars' bits.
using RoundValues = std::array<std::uint64_t, HONE_ARGUMENTS_MAX>;

/// Judges use ProcessRunner, a candidate in its sandbox. Benchmarks compare it with LocalRunner, a call in this process. One
/// thread.
class Runner {
 public:
  virtual ~Runner() = default;

  virtual const Arena& arena() const = 0;

  virtual Status freeze() = 0;
  virtual Status thaw() = 0;

  /// Chooses the plan and the shape of the rounds that follow. Scratch memory begins at `scratch_at`. invalid_argument: the
  /// device cannot start the plan's launches.
  virtual Status prepare(Form form, const Dims& dims, std::uint64_t scratch_at) = 0;
  /// Bytes of scratch memory that its plans need at a shape; 0 also for a plan that is impossible at it, which prepare()
  /// reports.
  virtual std::uint64_t scratch_bytes([[maybe_unused]] const Dims& dims) const { return 0; }
  /// Names the outputs that the clock waits for, and a secret that chooses places in them. Does nothing if rounds end frozen.
  virtual void aim([[maybe_unused]] const Layout& layout, [[maybe_unused]] std::uint64_t secret) {}
  /// Whether the arena, or a copy of it, has the outputs that the clock stopped at; false if they were written after it.
  virtual Result<bool> outputs_unchanged_in([[maybe_unused]] const Arena& arena) { return true; }
  /// Bytes at secret places of these outputs, or all if they are few; empty without a witness. The process must not be running
  /// a round. Afterwards, the places that aim() chose no longer count.
  virtual Result<std::string> sample_outputs([[maybe_unused]] const Layout& layout,
                                             [[maybe_unused]] std::uint64_t secret) {
    return std::string();
  }
  /// Whether the submission has host code next to the device. Then inputs are written after the clock has started, and the
  /// baseline is timed while the submission is frozen or gone.
  virtual bool withholds_inputs() const { return false; }
  /// Whether a round of Order::kObserved traces the kernels and operators of a call, and the untrusted report of the last one.
  virtual bool observes() const { return false; }
  virtual std::string observed() const { return {}; }
  /// An untrusted report: the configuration (from 0) that each autotuned kernel of a recorded plan runs.
  virtual std::vector<std::uint32_t> chosen_configurations() const { return {}; }
  /// Writes the inputs with `put`: at once, or, if inputs are withheld, within each timed round until the next call. Objects that
  /// `put` refers to must live as long.
  virtual Status give_inputs(std::function<Status()> put) { return put(); }
  /// No inputs are written within the next timed rounds, until inputs are given again.
  virtual void forget_inputs() {}
  /// Whether it keeps its core busy between rounds. Rationale: a core that has slept for milliseconds has lost its caches, and a
  /// call with much host code is slower by a tenth of a millisecond after that.
  virtual void keep_core_busy([[maybe_unused]] bool awake) {}
  /// The cores that its process computes on, and a change of them. Empty, and without effect, if hone may not choose them.
  virtual std::vector<int> cores() const { return {}; }
  virtual void set_affinity([[maybe_unused]] const std::vector<int>& cores) {}
  /// Runners that withhold: whether a control group can freeze all processes of the submission, and only hone can thaw it.
  virtual bool can_stand_still() const { return false; }
  /// Freezes it on the processor, until its next plain round or thaw(). False: it has ended, or cannot be frozen.
  virtual Result<bool> stand_still() { return false; }
  /// Has its process release unused memory of the device. Its next call allocates it again, which takes time.
  virtual Round trim() { return {}; }
  /// The arguments of call i of the next round, to be filled.
  virtual RoundValues& values(std::size_t call) = 0;
  /// A timed round. The process must be frozen and is frozen again afterwards.
  virtual Round timed_round(Order order, std::size_t calls, double timeout_s) = 0;
  /// A round that is not timed: the process may be running and goes on.
  virtual Round plain_round(Order order, std::size_t calls, double timeout_s) = 0;
  /// kMeasurePriority or kCheckPriority, of host code of a submission, where hone may set it.
  virtual void set_urgent([[maybe_unused]] bool urgent) {}
  /// The pages that are inaccessible in the rounds that follow, in place of those before.
  virtual void set_guards(const std::vector<Guard>& guards) = 0;
};

}  // namespace hone
