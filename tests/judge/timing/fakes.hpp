// Fakes of a judge's clock, runners and workbench: a whole measurement in milliseconds.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "judge/session.hpp"

namespace hone::test {

/// What all fakes of one test share: the clock, and the events in their order ("baseline runs 4", "submission freezes").
struct World {
  double now_s = 100;
  std::vector<std::string> events;

  void note(std::string event) { events.push_back(std::move(event)); }
  /// How many events have this text.
  int count(const std::string& event) const;
  /// The events that end with `end`, without it: "baseline", "submission", …
  std::vector<std::string> sides_of(const std::string& end) const;
};

std::unique_ptr<Arena> make_arena(std::uint64_t bytes);

/// Rounds take as long as the test says; the world's clock moves by it.
class FakeRunner : public Runner {
 public:
  FakeRunner(World& world, std::string name);

  double call_s = 1e-3, first_call_s = 0, empty_s = 50e-6;
  /// Changes a timed round, `number` of its kind from 0 on.
  std::function<void(Order order, int number, Round& round)> change;
  std::string traced;  ///< its report of a traced call; empty: it cannot be traced
  /// The bytes that see() gives for outputs; by default always the same.
  std::function<std::string()> seen = [] { return "outputs"; };
  bool is_module = false, can_freeze = false, settled = true;

  const Arena& arena() const override { return *arena_; }
  Status freeze() override;
  Status thaw() override;
  /// Whether the outputs are settled that lie in this arena; by default `settled`.
  std::function<bool(const Arena&)> settled_in = [this](const Arena&) { return settled; };
  std::uint64_t scratch = 0;  ///< bytes

  Status prepare(Form, const Dims&, std::uint64_t) override { return {}; }
  std::uint64_t scratch_bytes(const Dims&) const override { return scratch; }
  Result<bool> outputs_unchanged_in(const Arena& arena) override { return settled_in(arena); }
  Result<std::string> sample_outputs(const Layout&, std::uint64_t) override { return seen(); }
  bool withholds_inputs() const override { return is_module; }
  bool observes() const override { return !traced.empty(); }
  std::string observed() const override { return traced; }
  bool can_stand_still() const override { return can_freeze; }
  Result<bool> stand_still() override;
  RoundValues& values(std::size_t call) override { return values_[call]; }
  Round timed_round(Order order, std::size_t calls, double timeout_s) override;
  Round plain_round(Order order, std::size_t calls, double timeout_s) override;
  void set_guards(const std::vector<Guard>&) override {}

 private:
  World& world_;
  const std::string name_;
  std::unique_ptr<Arena> arena_;
  std::vector<RoundValues> values_;
  int empty_rounds_ = 0, rounds_ = 0;
};

/// Moves no bytes. Outputs are right unless the test says otherwise.
class FakeWorkbench : public Workbench {
 public:
  FakeWorkbench(World& world, Placement placement) : world_(world), placement_(placement) {}

  std::function<bool()> is_throttled = [] { return false; };
  std::function<bool()> has_mismatch = [] { return false; };
  /// Of the answers of that side; by default of none.
  std::function<bool(const Arena& expected)> differs_from = [](const Arena&) { return false; };
  std::function<bool()> canaries_stand = [] { return true; };
  std::function<double()> slowdown = [] { return 1.0; };  ///< of the device in a check
  double away_s = 0;                              ///< time that the device was away before a check
  double copy_s = 0;                              ///< time of a copy of outputs
  std::uint64_t memory = std::uint64_t{1} << 36;  ///< bytes
  int checks = 0;                                 ///< of the device for contention
  std::vector<double> busy_s;                     ///< how long the device was kept busy, each time

  Status fill(const Arena&, const std::vector<FillOrder>&) override;
  Status load(const Arena& to, const Arena&, const std::vector<LoadOrder>&, std::uint64_t) override;
  Result<std::vector<Inspected>> inspect(const Arena&, const Arena&,
                                         const std::vector<InspectOrder>& orders,
                                         std::uint64_t) override {
    return std::vector<Inspected>(orders.size(), {canaries_stand(), true});
  }
  Result<std::optional<FoundMismatch>> compare(const Arena&, const Arena&,
                                               const std::vector<CompareOrder>&) override;
  double bytes_per_second_max(const Task&) const override { return 1e12; }
  std::uint64_t memory_bytes() const override { return memory; }
  Result<bool> throttled() const override { return is_throttled(); }
  Status snapshot(const Arena& from, std::uint64_t begin, std::uint64_t bytes,
                  std::unique_ptr<Arena>& into) override;
  Status make_room(std::uint64_t bytes, std::unique_ptr<Arena>& into) override;
  Status scrub(const Arena&) override { return {}; }
  Placement placement() const override { return placement_; }
  Status make_busy(double seconds) override;
  Result<DeviceContention> measure_contention(double seconds) override;
  Status make_cold(const Arena&, const Arena&, std::uint64_t) override { return {}; }

 private:
  World& world_;
  const Placement placement_;
};

/// A session of a baseline with calls of 1 ms, and rounds of four calls. Tests change its parts before judge().
struct FakeSession {
  explicit FakeSession(Placement placement);

  Judgement judge();
  const Speedup& speedup() { return *judgement.verdict.speedup; }

  World world;
  Task task;
  MeasureSettings settings;
  FakeRunner reference, baseline, submission;
  FakeWorkbench workbench;
  bool is_device_still = true;
  std::optional<ReferenceError> reference_error;
  Judgement judgement;  ///< the result of judge()
};

}  // namespace hone::test
