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
  /// Of a timed round: how long the first thread of the process was ready to run and had no core, by the kernel's count;
  /// 0 where the kernel does not say.
  double delayed_seconds = 0;
  std::uint32_t flags = 0;    ///< hone_python_flags, of a candidate with an interpreter
  double halted_seconds = 0;  ///< time in which the machine stood still (sandbox/starved_time.hpp)
};

/// The nice value of judges and candidates, where we may set it: what is measured must not wait for
/// a busy machine.
inline constexpr int kMeasurePriority = -15;
/// The nice value of a submission while it is loaded and checked. A submission that spins then must not keep others'
/// compilers (kBuilderPriority) from their share.
inline constexpr int kCheckPriority = 0;

/// The arguments of one call: offsets into the arena, and scalars' bits.
using RoundValues = std::array<std::uint64_t, HONE_ARGUMENTS_MAX>;

/// Two kinds: ProcessRunner, a candidate in its jail, which is what judges use; and LocalRunner, a
/// call in this process without any walls, against which benchmarks hold what the walls cost. One
/// thread.
class Runner {
 public:
  virtual ~Runner() = default;

  virtual const Arena& arena() const = 0;

  virtual Status freeze() = 0;
  virtual Status thaw() = 0;

  /// What the rounds that follow run, and at which shape. Scratch memory lies from `scratch_at` on.
  /// invalid_argument: the plan asks for what the device cannot start.
  virtual Status prepare(Form form, const Dims& dims, std::uint64_t scratch_at) = 0;
  /// Bytes of scratch memory that its plans need at a shape; 0 also for a plan that cannot be there,
  /// which prepare() says.
  virtual std::uint64_t scratch_bytes([[maybe_unused]] const Dims& dims) const { return 0; }
  /// Where the outputs lie that the clock is to wait for, and a secret to choose places in them.
  /// Does nothing where rounds end frozen.
  virtual void aim([[maybe_unused]] const Layout& layout, [[maybe_unused]] std::uint64_t secret) {}
  /// Whether what the clock stopped at is in the arena, or in a copy of it: false when outputs were
  /// written after it.
  virtual Result<bool> settled_in([[maybe_unused]] const Arena& arena) { return true; }
  /// Secret bytes of these outputs, of all of them where they are few; none where nobody looks. The
  /// process must not be running anything. Changes what aim() chose.
  virtual Result<std::string> see([[maybe_unused]] const Layout& layout,
                                  [[maybe_unused]] std::uint64_t secret) {
    return std::string();
  }
  /// Whether code of the submission's runs beside the device on its own, so that inputs are given under
  /// the clock, and the baseline is timed while it stands still, or is not there.
  virtual bool withholds() const { return false; }
  /// Whether a round of Order::kObserved says what does the work, and what the last one wrote down, which is not to be
  /// believed.
  virtual bool observes() const { return false; }
  virtual std::string observed() const { return {}; }
  /// What puts the inputs in place: done at once, or, where inputs are withheld, within each timed round
  /// until the next call. What it refers to must last as long.
  virtual Status give_inputs(std::function<Status()> put) { return put(); }
  /// Nothing is put in place within the next timed rounds, until inputs are given again.
  virtual void forget_inputs() {}
  /// Whether it keeps its core between rounds. Rationale: a core that has slept for milliseconds has lost what its
  /// caches held, and a call that starts much host code is slower by a tenth of a millisecond for it.
  virtual void stay_awake([[maybe_unused]] bool awake) {}
  /// The cores that its process computes on, and has it keep to others; none, and nothing, where that is not ours to say.
  virtual std::vector<int> cores() const { return {}; }
  virtual void keep_to([[maybe_unused]] const std::vector<int>& cores) {}
  /// Of a runner that withholds: whether something holds all of its process that nobody else lifts.
  virtual bool can_stand_still() const { return false; }
  /// Then: has all that its process does on the processor stop, until its next plain round or thaw(). False: it has
  /// ended, or cannot.
  virtual Result<bool> stand_still() { return false; }
  /// Whether its process may serve another submission.
  virtual bool is_kept() const { return false; }
  /// Has its process give back memory of the device that it keeps and does not use. Its next call takes it again, which
  /// costs time.
  virtual Round trim() { return {}; }
  /// Where the next round's arguments go: values of call i.
  virtual RoundValues& values(std::size_t call) = 0;
  /// A round under the clock. The process must be frozen and is frozen again afterwards.
  virtual Round timed_round(Order order, std::size_t calls, double timeout_s) = 0;
  /// A round without: the process may be running and goes on.
  virtual Round plain_round(Order order, std::size_t calls, double timeout_s) = 0;
  /// kMeasurePriority or kCheckPriority, of host code of a submission, where hone may set it.
  virtual void set_urgent([[maybe_unused]] bool urgent) {}
  /// The pages that are inaccessible in the rounds that follow, in place of those before.
  virtual void set_guards(const std::vector<Guard>& guards) = 0;
};

}  // namespace hone
