// Session: judges one submission of one task: which inputs, in which order, and what came of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "judge/input_set.hpp"
#include "judge/layout.hpp"
#include "judge/plans.hpp"
#include "judge/reference_error.hpp"
#include "judge/runner.hpp"
#include "judge_protocol/calls.hpp"
#include "judge_protocol/findings.hpp"
#include "judge_protocol/judgement.hpp"
#include "judge_protocol/settings.hpp"
#include "model/task.hpp"

namespace hone {

/// One shape that is checked.
struct Trial {
  Dims dims;
  bool hidden = false;
  std::size_t family = 0;
  Placement placement = Placement::kCanaries;
};

/// Which shapes and families a step checks: each shown shape, each hidden one drawn from the seed,
/// and the timed one; every family on the small ones, one by turns on a large one.
std::vector<Trial> plan_trials(const Task& task, std::uint64_t seed, const Defences& defences = {});
/// How many families of inputs timed calls have: all, or 1 (the first) where the reference makes the inputs.
std::size_t timed_family_count(const Task& task, const Defences& defences);
/// The family of each of `calls` timed calls, from number `first` of a measurement on. All families come equally often, in a
/// secret order, so that a timed call looks like a checked one.
std::vector<std::size_t> timed_families(const Task& task, std::uint64_t seed, std::size_t first,
                                        std::size_t calls, const Defences& defences);
/// "n=1000, m=3" or "a hidden shape".
std::string shape_text(const Trial& trial);
/// A check or an answer of this shape.
Where place_of(Place place, const Trial& trial);

Floor floor_of(const std::vector<double>& rounds);
/// By rounds of one call of a module, its baseline's, and rounds that did nothing: how often faster a call is, and
/// whether it is told from nothing. What is shorter than rounds of one kind differ by counts as that.
struct Singles {
  double ratio;
  bool told_apart;
};
Singles compare_singles(const std::vector<double>& baseline, const std::vector<double>& submission,
                        const std::vector<double>& nothing);

/// The same of native code or device code, whose rounds come in pairs with the same family of inputs. `ratio`: the best
/// estimate. `high`: what it is at most, with the resolution of the clock and what hardware makes the first call of a round
/// take more.
struct SingleSpeedup {
  double ratio, high;
};
SingleSpeedup single_speedup(const std::vector<double>& baseline,
                             const std::vector<double>& submission,
                             const std::vector<std::size_t>& families, const Floor& baseline_floor,
                             const Floor& submission_floor);

/// What rounds of a baseline that stands alone took, in seconds, and those that did nothing before them.
struct BaselineBlock {
  double at_s = 0;        ///< when the last of them was over
  std::size_t calls = 0;  ///< of a round; 0: no block
  std::vector<double> rounds, floors;
};

/// A runner of the dataset's own code, kept between submissions.
struct Trusted : Calibration {  // a baseline's
  Runner* runner = nullptr;
  Vouched vouched = {};                           ///< baseline, beside or after others' submissions
  std::shared_ptr<BaselineBlock> last = nullptr;  ///< baseline, for the next submission of its task
  /// Reference: how far its own answers are from the exact ones; none where the task's tolerance is its own.
  std::optional<ReferenceError> error = std::nullopt;
};

/// The arena bytes that a runner of this task needs; `exact`: the reference's. `call_seconds`: of
/// the baseline, 0 while unknown (then enough for the longest round there may be).
Result<std::uint64_t> arena_bytes(const Task& task, const MeasureSettings& settings, bool exact,
                                  double call_seconds, const Plans& plans);
/// Calls of a round, from what one call takes.
std::size_t round_calls(const Task& task, const MeasureSettings& settings, double call_seconds);
/// What a call takes at the least, in seconds, where its tensors' bytes go no faster than so.
double least_seconds(const Task& task, double bytes_per_second_max);
/// Seconds per call, of a round that took `seconds`. Rationale: a round is never shorter than rounds can be told apart,
/// and a call not than `least`: where the floor is all that was measured, what noise leaves of it is no time to win with.
double per_call(double seconds, const Floor& floor, std::size_t calls, double least);
std::vector<double> per_call(const std::vector<double>& rounds, const Floor& floor,
                             std::size_t calls, double least = 1e-9);
/// Whether a call of so many seconds would have moved its tensors' bytes faster than so.
bool beyond_physics(const Task& task, double call_seconds, double bytes_per_second_max);
/// What the reference says of its own error, over all families of inputs; nothing where the task's tolerance is its own.
/// `between` is called before each family of inputs.
Judgement find_error(const Task& task, std::uint64_t seed, Trusted& reference, Workbench& workbench,
                     const std::function<Status()>& between = nullptr);

/// What a session tells and asks the host.
struct SessionHost {
  std::function<void(JudgeStage)> progress;  ///< hears that a stage begins
  /// Of runners that withhold: returns once no context is being made on the device and no other judge uses it. Others may
  /// measure before that, and again from `share` on, which returns once none does: the submission stands still
  /// meanwhile, or is not there.
  std::function<Status()> quiet = nullptr, share = nullptr;
  /// Of runners that withhold: yields the device to judges that wait to measure. Called between two pieces of work, while the
  /// device is shared. `stand_still` freezes the submission first, if a judge waits; null: nothing to freeze.
  std::function<Status(const std::function<Status()>& stand_still)> give_way = nullptr;
  /// Of runners that withhold: whether other judges have anything on the device.
  std::function<bool()> beside_others = nullptr;
  /// Of runners that withhold: whether what others have on the device, or left there, stands still.
  std::function<bool()> others_stand = nullptr;
  /// Of runners that withhold: has the submission ended; `ended` returns once nothing of it is left.
  std::function<void()> end = nullptr;
  std::function<Status()> ended = nullptr;
};

/// Whether a process that withholds, and the device, do nothing at all until it is told to go on.
bool stands_still(Runner& runner, Workbench& workbench, const Defences& defences);

/// One thread, one submission.
class Session {
 public:
  Session(const Task& task, std::uint64_t seed, const MeasureSettings& settings, Trusted reference,
          Trusted baseline, Runner& submission, Workbench& workbench, SessionHost host);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// What comes before the submission is loaded: where it withholds and cannot stand still, its baseline's first rounds.
  Judgement begin();
  /// Checks, then measures.
  Judgement judge();
  /// The baseline time measured by this session; no calls if it measured none.
  const Vouched& vouched() const { return vouched_; }

 private:
  /// A trial with its inputs, ready to be run, or run.
  struct Posed {
    Trial trial;
    std::uint64_t secret;
    Layout layout;
    InputSet set;
    std::uint64_t scratch_at;  ///< in the submission's arena
    std::string seen = {};     ///< of its outputs, after its own round or before any
    bool answered = false;     ///< the reference's answers are there
  };
  /// What differs between the two sides of a pair.
  struct Side {
    Runner& runner;
    Culprit culprit;
    std::uint64_t secret;
    double limit_s;
  };
  Result<std::vector<Posed>> pose(const std::vector<Trial>& trials, std::size_t from);
  Judgement check(std::vector<Posed>& posed);
  Judgement run_check(const Posed& posed, const Where& where);
  Judgement observe(const Posed& posed);
  Round one_call(Order order);
  Judgement expect_as_seen(const Posed& posed);
  Judgement compare(const Posed& posed, const Arena& outputs, std::optional<Mismatch>& found);
  /// `outputs`: the submission's arena, or a copy of it.
  Judgement check_answers(std::vector<Posed>& posed, const Arena& outputs);
  Judgement measure();
  void choose_calls();
  Judgement run_pairs();
  bool with_singles() const;
  Result<Posed> pose_timed(std::uint64_t secret, std::vector<std::size_t> families,
                           std::uint64_t at = 0);
  Result<const Arena*> outputs_of_round(const Layout& layout);
  Judgement check_timed(Posed posed);
  Judgement check_timed_answers(Posed posed, const Arena& outputs);
  bool alone() const;
  bool side_by_side() const;
  Judgement give_way();
  Runner* awake_between(bool of_baseline) const;
  bool lacks_inputs(std::size_t calls, int rounds) const;
  std::uint64_t end_of_inputs() const;
  std::uint64_t next_secret();
  Judgement pose_one(std::size_t calls, std::deque<Posed>& to);
  std::uint64_t later_bytes_max() const;
  Judgement pose_ahead(std::size_t calls, int rounds);
  Judgement work_ahead(std::size_t calls, int rounds, int singles);
  Judgement answer(Posed& posed);
  bool lacks_room_for_answer(const Layout& layout);
  Judgement make_room_for_answer(const Layout& layout);
  Judgement trim_baseline();
  bool has_room(std::size_t calls) const;
  bool is_short_of_memory() const;
  int rounds_to_come() const;
  double owed_s() const;
  bool leaves_for_later(Posed& posed);
  Judgement check_later();
  Judgement baseline_round(std::size_t calls, std::optional<Posed>& kept, double* seconds);
  Judgement stand_in(const Posed& posed);
  Status keep_busy();
  Status look_at_others(double seconds);
  bool had_the_device() const;
  bool was_disturbed() const;
  Judgement baseline_beside(std::size_t calls, std::size_t rounds, std::vector<double>& seconds);
  double look_more_seconds(std::size_t calls, std::size_t rounds) const;
  Judgement baseline_watched(std::size_t calls, std::size_t rounds, double look_s,
                             std::vector<double>& seconds);
  Status be_busy_as_in_a_look(double look_s);
  Judgement pairs_at_once(std::size_t calls, int pairs, bool watched, std::vector<double>& a,
                          std::vector<double>& b);
  Status copy_as_checked(const Layout& layout);
  Status copy_outputs(const Arena& from, const Layout& layout, std::unique_ptr<Arena>& into);
  double round_seconds(std::size_t calls) const;
  Judgement pairs_beside();
  Judgement enough_pairs(bool watched);
  bool is_vouched() const;
  void forget_pairs();
  double vouched_round_s() const;
  double vouched_floor_s() const;
  void hold_to_vouched();
  void note_vouched();
  bool was_held_up() const;
  Judgement single_pairs_beside();
  Judgement submission_round(std::size_t calls, int coming, double* seconds);
  Side side_of(bool of_baseline, std::size_t calls);
  Judgement block(bool of_baseline, int enough, int most, std::vector<double>& rounds);
  Judgement rounds_of(bool of_baseline, int enough, int most, std::vector<double>& rounds);
  Judgement expect_others_still(double patience_s = 0) const;
  bool all_late(const std::vector<double>& singles) const;
  Judgement single_rounds(bool of_baseline, std::vector<double>& rounds);
  Judgement await_quiet();
  Judgement expect_undisturbed();
  bool take_last_block();
  Judgement baseline_after();
  Judgement run_alone();
  Judgement baseline_before();
  Result<bool> held_back();
  Judgement single_pair(std::size_t* number, bool baseline_first);
  Judgement more_singles(std::size_t* number);
  int planned_pairs(double pair_s) const;
  bool is_cut_short(int done, int planned, double passed_s);
  double excused(const Side& side, const Round& round) const;
  bool excuses_submission() const;
  Floor subtracted_floor(bool of_baseline) const;
  bool singles_differ() const;
  bool is_machine_noisy() const;
  bool lower_to_singles(Speedup& speedup) const;
  Judgement judge_times();
  Judgement pair(std::size_t number, std::size_t calls, bool baseline_first, double* a, double* b);
  Status make_cold(const Layout& layout);
  Judgement nothing_round(const Side& side);
  Judgement warm_up(const Side& side, const InputSet& set, const Layout& layout);
  Judgement wake(const Side& side, const InputSet& set, const Layout& layout);
  Judgement round(const Side& side, const InputSet& set, const Layout& layout, double* seconds);

  const Task& task_;
  std::uint64_t seed_;
  MeasureSettings settings_;
  Trusted reference_, baseline_;
  const std::vector<OutputTolerance> tolerances_;  ///< of each of the task's tensors
  Runner& submission_;
  Workbench& workbench_;
  const SessionHost host_;
  std::unique_ptr<Arena> copy_, beside_copy_;  ///< of a module's outputs, and of its baseline's
  /// A round of a module's whose answers are checked once it is gone.
  struct Later {
    Posed posed;
    std::unique_ptr<Arena> outputs;
  };
  std::vector<Later> later_;
  std::deque<Posed> ahead_, singles_ahead_;  ///< rounds of a module's that are to come
  std::uint64_t later_bytes_ = 0;
  bool shares_device_ = true;  ///< false between `quiet` and `share`
  bool trimmed_ = false;       ///< the baseline's process: its next call takes memory of the device
  double idle_since_s_ = 0;    ///< the device: since the last timed round
  bool halted_ = false;        ///< the machine stood still in a round of this pair
  std::optional<Work> work_;   ///< what a call that was watched did
  double call_seconds_ = 0;    ///< of the last checked call
  Vouched vouched_;            ///< found by this one
  /// Seconds: of whole rounds, but what the device's own clock says, which is of one call.
  struct Measured {
    std::size_t calls = 0;  ///< of a round; of a single, 1
    std::vector<double> a, b, singles_a, singles_b;
    std::vector<double> floors;         ///< of a device: the baseline's rounds that did nothing
    std::vector<double> single_floors;  ///< of a module's: those before rounds of one call
    std::vector<double> marked;
    std::vector<double>
        shares;  ///< of the device that others had around the baseline's rounds (others_had)
    double beside_s = 0;  ///< what the baseline's last rounds beside the submission took
    int in_time = 0,
        too_long =
            0;  ///< how often such rounds were over in no more than could be looked before them
    bool warm = false;                ///< there were rounds that set things up
    bool vouched = false;             ///< they took no longer than while nobody else had the device
    int dropped = 0;                  ///< pairs, because the device was held back
    bool throttled = false;           ///< so often that such pairs were taken
    bool drifted = false;             ///< the baseline's rounds before and after do not agree
    std::vector<double> wall_floors;  ///< floors, with delays
    bool cut_short = false;           ///< time ran out before all pairs were timed
    std::size_t posed_calls = 0,
                singles = 0;  ///< calls of long rounds, and of singles, that had inputs
    std::vector<std::size_t> single_families;  ///< of singles_a and singles_b
    std::size_t secrets = 0;                   ///< that rounds which stand alone have had

    /// How much rounds have recorded besides their times, for those that are not to count.
    struct Recorded {
      std::size_t floors = 0, marked = 0;
    };
    Recorded recorded() const { return {floors.size(), marked.size()}; }
    void forget_since(const Recorded& before) {
      floors.resize(before.floors);
      wall_floors.resize(std::min(wall_floors.size(), before.floors));
      marked.resize(before.marked);
    }
    void keep_single_floors(const Recorded& before) {
      single_floors.insert(single_floors.end(),
                           floors.begin() + static_cast<std::ptrdiff_t>(before.floors),
                           floors.end());
      forget_since(before);
    }
  } measured_;
};

}  // namespace hone
