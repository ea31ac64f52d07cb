// Pairs on a device with inputs and outputs in real memory: each timed round is compared, with the answers to its own inputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "judge/timing/fakes.hpp"
#include "model/caught.hpp"

namespace hone {
namespace {

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 36;
// Copies get a 64th of the memory: two long rounds of five pages for each side, and all single-call rounds of a page.
constexpr std::uint64_t kForSome = 64 * 2 * (2 * 5 + 3) * 4096;

/// Tensors lie in memory of the processor, but as on a device: copies are arenas of their own.
class MemoryWorkbench : public Workbench {
 public:
  MemoryWorkbench() : host_(make_host_workbench()) {}

  std::function<bool()> is_throttled = [] { return false; };
  std::uint64_t memory = kPlenty;
  int made = 0;  ///< arenas for copies

  Status fill(const Arena& arena, const std::vector<FillOrder>& orders) override {
    return host_->fill(arena, orders);
  }
  Status load(const Arena& to, const Arena& masters, const std::vector<LoadOrder>& orders,
              std::uint64_t canary_seed) override {
    return host_->load(to, masters, orders, canary_seed);
  }
  Result<std::vector<Inspected>> inspect(const Arena& arena, const Arena& masters,
                                         const std::vector<InspectOrder>& orders,
                                         std::uint64_t canary_seed) override {
    return host_->inspect(arena, masters, orders, canary_seed);
  }
  Result<std::optional<FoundMismatch>> compare(const Arena& got, const Arena& expected,
                                               const std::vector<CompareOrder>& orders) override {
    for (std::size_t i = 0; i < orders.size(); ++i) {
      const CompareOrder& o = orders[i];
      const char* answers = expected.base() - expected.origin() + o.expected;
      std::vector<double> wide(o.count);
      for (std::uint64_t n = 0; n < o.count; ++n)
        wide[n] = element_at(answers, o.expected_dtype, n);
      auto mismatch = compare_output(got.base() - got.origin() + o.got, wide.data(), o.dtype,
                                     o.count, o.row, o.tolerance);
      if (mismatch) return std::optional<FoundMismatch>({i, std::move(*mismatch)});
    }
    return std::optional<FoundMismatch>();
  }
  Status snapshot(const Arena& from, std::uint64_t begin, std::uint64_t bytes,
                  std::unique_ptr<Arena>& into) override {
    if (into == nullptr || into->bytes() < bytes) {
      into = test::make_arena(bytes);
      ++made;
    }
    std::memcpy(into->base(), from.base() + begin, bytes);
    into->set_origin(begin);
    return {};
  }
  Status make_room(std::uint64_t bytes, std::unique_ptr<Arena>& into) override {
    into = test::make_arena(bytes);
    ++made;
    return {};
  }
  double bytes_per_second_max(const Task&) const override { return 1e12; }
  std::uint64_t memory_bytes() const override { return memory; }
  Result<bool> throttled() const override { return is_throttled(); }
  Status scrub(const Arena&) override { return {}; }
  Placement placement() const override { return Placement::kDevice; }
  Status make_cold(const Arena&, const Arena&, std::uint64_t) override { return {}; }

 private:
  const std::unique_ptr<Workbench> host_;
};

/// Computes y = 2x + 1 in its arena.
class ComputingRunner : public test::FakeRunner {
 public:
  using FakeRunner::FakeRunner;

  int wrong_round = -1;            ///< of those under the clock, from 0 on
  std::vector<std::size_t> timed;  ///< calls of each of them

  Status prepare(Form form, const Dims& dims, std::uint64_t) override {
    is_wide_ = form != Form::kEntry;
    n_ = static_cast<std::size_t>(dims.at("n"));
    return {};
  }
  Round timed_round(Order order, std::size_t calls, double timeout_s) override {
    if (order != Order::kNothing) {
      compute(calls, static_cast<int>(timed.size()) == wrong_round);
      timed.push_back(calls);
    }
    return FakeRunner::timed_round(order, calls, timeout_s);
  }
  Round plain_round(Order order, std::size_t calls, double timeout_s) override {
    compute(calls, false);
    return FakeRunner::plain_round(order, calls, timeout_s);
  }

 private:
  void compute(std::size_t calls, bool wrong) {
    for (std::size_t call = 0; call < calls; ++call) {
      const RoundValues& at = values(call);
      for (std::size_t i = 0; i < n_; ++i) {
        float x = 0;
        std::memcpy(&x, arena().base() + at[0] + i * sizeof x, sizeof x);
        const bool off = wrong && call + 1 == calls && i == n_ / 2;
        const double exact = 2.0 * x + (off ? 1e6 : 1);
        const auto y = static_cast<float>(exact);
        char* to = arena().base() + at[1];
        if (is_wide_) std::memcpy(to + i * sizeof exact, &exact, sizeof exact);
        if (!is_wide_) std::memcpy(to + i * sizeof y, &y, sizeof y);
      }
    }
  }

  bool is_wide_ = false;
  std::size_t n_ = 0;
};

/// A session whose outputs are lost once other judges may measure, except for copies.
struct MemorySession {
  MemorySession() {
    task.timed["n"] = 200;
    task.tolerance.atol = task.tolerance.rtol = 1e-4;
    task.tolerance.from_reference = true;
    settings.max_interval = 0.5;
    settings.pairs_max = 7;
    settings.single_call_pairs = 3;
  }

  Judgement judge() {
    reference.call_s = 0;
    DatasetRunner installed_reference, installed_baseline;
    installed_reference.runner = &reference;
    installed_baseline.runner = &baseline;
    installed_baseline.call_seconds = 1e-3;
    installed_baseline.floor = {50e-6, 50e-6, 0};
    int made_before = 0;
    SessionHost host;
    host.progress = [](JudgeStage) {};
    host.quiet = [&]() -> Status {
      made_before = workbench.made;
      return {};
    };
    host.share = [&]() -> Status {
      made_while_exclusive = workbench.made - made_before;
      for (const ComputingRunner* side : {&submission, &baseline})
        std::memset(side->arena().base(), 0x5A, side->arena().bytes());
      return {};
    };
    host.is_device_still = [] { return true; };
    Session session({task, 42, settings, installed_reference, installed_baseline, submission,
                     workbench, host, [this] { return world.now_s; }});
    return session.judge();
  }
  /// Whether the submission's round is a warm-up, which is not compared: the first of each two rounds of one call.
  bool is_warm_up(std::size_t round) const {
    const std::vector<std::size_t>& timed = submission.timed;
    const auto end = timed.begin() + static_cast<std::ptrdiff_t>(round);
    return timed[round] == 1 && std::count(timed.begin(), end, 1u) % 2 == 0;
  }

  test::World world;
  Task task = test::sample_task();
  MeasureSettings settings;
  ComputingRunner reference{world, "reference"}, baseline{world, "baseline"},
      submission{world, "submission"};
  MemoryWorkbench workbench;
  int made_while_exclusive = 0;
};

/// What a measurement has memory for, and what happens to its pairs.
struct MemoryCase {
  const char* name;
  std::int64_t n = 200;
  std::uint64_t memory = kPlenty;
  int dropped_pair = -1;
  bool fresh_inputs = true, from_reference = true;
};

void set_up(const MemoryCase& given, MemorySession& s) {
  s.task.timed["n"] = given.n;
  s.task.tolerance.from_reference = given.from_reference;
  s.workbench.memory = given.memory;
  s.workbench.is_throttled = [&given, asked = 0]() mutable {
    return asked++ == given.dropped_pair;
  };
  if (!given.fresh_inputs) s.settings.defences = *Defences::without({"fresh_inputs"});
}

class EachTimedRound : public testing::TestWithParam<MemoryCase> {};

TEST_P(EachTimedRound, ThatIsWrong_IsFoundUnlessItIsAWarmUp) {
  MemorySession right;
  set_up(GetParam(), right);
  const Judgement judged = right.judge();
  ASSERT_EQ(judged.ending, Ending::kDone) << judged.message;
  ASSERT_EQ(judged.verdict.outcome, Outcome::kCorrect) << judged.verdict.reason;
  const std::size_t rounds = right.submission.timed.size();
  ASSERT_EQ(rounds, (GetParam().dropped_pair < 0 ? 8u : 9u) + 2 * 3);
  for (std::size_t round = 0; round < rounds; ++round) {
    MemorySession s;
    set_up(GetParam(), s);
    s.submission.wrong_round = static_cast<int>(round);
    const Verdict verdict = s.judge().verdict;
    if (right.is_warm_up(round)) {
      EXPECT_EQ(verdict.outcome, Outcome::kCorrect) << "round " << round;
    } else {
      EXPECT_EQ(verdict.outcome, Outcome::kWrong) << "round " << round;
      EXPECT_EQ(verdict.caught, caught::kWrongWhenTimed) << "round " << round;
    }
  }
}

TEST_P(EachTimedRound, OfTheBaselineThatIsWrong_IsNoVerdict) {
  for (int round = 0; round < 14; ++round) {
    MemorySession s;
    set_up(GetParam(), s);
    s.baseline.wrong_round = round;
    EXPECT_EQ(s.judge().verdict.outcome, Outcome::kCorrect) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Memory, EachTimedRound,
    testing::Values(
        MemoryCase{.name = "ForAll"}, MemoryCase{.name = "ForSomeInputs", .n = 6000},
        MemoryCase{.name = "ForNoInputs", .n = 12000},
        MemoryCase{.name = "ForCopiesOfSome", .memory = kForSome},
        MemoryCase{.name = "ForNoCopies", .memory = 0},
        MemoryCase{.name = "DroppedPair", .dropped_pair = 3},
        MemoryCase{.name = "DroppedPairAndOldInputs", .dropped_pair = 3, .fresh_inputs = false},
        MemoryCase{.name = "OwnTolerance", .from_reference = false}),
    [](const auto& tested) { return std::string(tested.param.name); });

/// A single-call round's memory is too small for a long round, which must then do without a copy.
TEST(AheadRounds, MemoryForCopiesOfSome_IsNeverExceeded) {
  MemorySession s;
  s.workbench.memory = kForSome;
  EXPECT_EQ(s.judge().verdict.outcome, Outcome::kCorrect);
  EXPECT_GT(s.workbench.made, 0);
  EXPECT_EQ(s.made_while_exclusive, 0);
}

}  // namespace
}  // namespace hone
