#include "judge/timing/fakes.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/enum_names.hpp"
#include "judge/blame.hpp"
#include "judge/sample_task.hpp"
#include "places.hpp"
#include "plugin/backend.hpp"

namespace hone::test {
namespace {

constexpr std::uint64_t kArenaBytes = 1u << 20;
constexpr std::uint64_t kSeed = 42;

struct CpuDevice {
  CpuDevice() {
    auto loaded = Backend::load(build_dir() / "plugins/backends/cpu.so");
    if (!loaded) throw std::runtime_error(loaded.error().message);
    backend = std::move(*loaded);
    hone_error error{};
    error.struct_size = sizeof error;
    if (backend->factory()->open_device(backend->host(), 0, &device, &error) != HONE_OK)
      throw std::runtime_error(error.message);
  }
  std::unique_ptr<Backend> backend;
  hone_device* device = nullptr;
};

/// Ends a round that is over its limit.
Round within(Round round, double limit_s) {
  if (round.seconds <= limit_s) return round;
  round.seconds = limit_s;
  round.ending = Ending::kTimedOut;
  return round;
}

}  // namespace

int World::count(const std::string& event) const {
  return static_cast<int>(std::count(events.begin(), events.end(), event));
}

std::vector<std::string> World::sides_of(const std::string& end) const {
  std::vector<std::string> sides;
  for (const std::string& event : events) {
    const std::size_t space = event.find(' ');
    if (event.substr(space + 1) == end) sides.push_back(event.substr(0, space));
  }
  return sides;
}

std::unique_ptr<Arena> make_arena(std::uint64_t bytes) {
  static const CpuDevice cpu;
  auto arena = Arena::create(*cpu.backend, cpu.device, bytes, false);
  if (!arena) throw std::runtime_error(arena.error().message);
  return std::move(*arena);
}

FakeRunner::FakeRunner(World& world, std::string name)
    : world_(world), name_(std::move(name)), arena_(make_arena(kArenaBytes)), values_(kCallsMax) {}

Status FakeRunner::freeze() {
  world_.note(name_ + " freezes");
  return {};
}

Status FakeRunner::thaw() {
  world_.note(name_ + " thaws");
  return {};
}

Result<bool> FakeRunner::stand_still() {
  world_.note(name_ + " freezes");
  return can_freeze;
}

Round FakeRunner::timed_round(Order order, std::size_t calls, double timeout_s) {
  const bool empty = order == Order::kNothing;
  Round round;
  round.seconds = empty_s;
  if (!empty) round.seconds += static_cast<double>(calls) * call_s + first_call_s;
  if (change != nullptr) change(order, empty ? empty_rounds_ : rounds_, round);
  round = within(round, timeout_s);
  ++(empty ? empty_rounds_ : rounds_);
  world_.now_s += round.seconds;
  world_.note(name_ + (empty                       ? " idles"
                       : order == Order::kObserved ? " is traced"
                                                   : " runs " + std::to_string(calls)));
  return round;
}

Round FakeRunner::plain_round(Order order, std::size_t calls, double timeout_s) {
  Round round;
  round.seconds = static_cast<double>(calls) * call_s;
  round = within(round, timeout_s);
  world_.now_s += round.seconds;
  world_.note(name_ + (order == Order::kObserved ? " is traced" : " is checked"));
  return round;
}

Status FakeWorkbench::fill(const Arena&, const std::vector<FillOrder>&) {
  world_.note("inputs are made");
  return {};
}

Status FakeWorkbench::load(const Arena&, const Arena&, const std::vector<LoadOrder>&,
                           std::uint64_t) {
  world_.note("inputs are loaded");
  return {};
}

Result<std::optional<FoundMismatch>> FakeWorkbench::compare(const Arena&, const Arena& expected,
                                                            const std::vector<CompareOrder>&) {
  world_.note("outputs are compared");
  if (!has_mismatch() && !differs_from(expected)) return std::optional<FoundMismatch>();
  FoundMismatch found;
  found.mismatch.index = {0};
  found.mismatch.wrong = 3;
  found.mismatch.total = 8;
  return std::optional<FoundMismatch>(std::move(found));
}

Status FakeWorkbench::snapshot(const Arena&, std::uint64_t, std::uint64_t,
                               std::unique_ptr<Arena>& into) {
  world_.note("outputs are copied");
  world_.now_s += copy_s;
  if (into == nullptr) into = make_arena(kArenaBytes);
  return {};
}

Status FakeWorkbench::make_room(std::uint64_t, std::unique_ptr<Arena>& into) {
  into = make_arena(kArenaBytes);
  return {};
}

Status FakeWorkbench::make_busy(double seconds) {
  world_.now_s += seconds;
  busy_s.push_back(seconds);
  return {};
}

Result<Workbench::DeviceContention> FakeWorkbench::measure_contention(double seconds) {
  ++checks;
  world_.now_s += seconds;
  world_.note("device is checked");
  return DeviceContention{slowdown(), away_s};
}

FakeSession::FakeSession(Placement placement)
    : task(sample_task()),
      reference(world, "reference"),
      baseline(world, "baseline"),
      submission(world, "submission"),
      workbench(world, placement) {
  task.families.resize(1);
  reference.call_s = 0;
  settings.max_interval = 0.5;
}

Judgement FakeSession::judge() {
  DatasetRunner installed_reference, installed_baseline;
  installed_reference.runner = &reference;
  installed_reference.error = reference_error;
  installed_baseline.runner = &baseline;
  installed_baseline.call_seconds = 1e-3;
  installed_baseline.floor = {50e-6, 50e-6, 0};
  SessionHost host;
  host.progress = [this](JudgeStage stage) {
    world.note("stage " + std::string(enum_name(stage)));
  };
  host.quiet = [this]() -> Status {
    world.note("device is exclusive");
    return {};
  };
  host.share = [this]() -> Status {
    world.note("device is shared");
    return {};
  };
  host.give_way = [this]() -> Status {
    world.note("judge gives way");
    return {};
  };
  host.is_device_still = [this] {
    world.now_s += 6e-3;
    return is_device_still;
  };
  host.end = [this] { world.note("submission ends"); };
  host.ended = []() -> Status { return {}; };
  Session session({task, kSeed, settings, installed_reference, installed_baseline, submission,
                   workbench, host, [this] { return world.now_s; }});
  judgement = session.judge();
  return judgement;
}

}  // namespace hone::test
