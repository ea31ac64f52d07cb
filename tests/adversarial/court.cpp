// Evaluators with short measurements and limits, so that the whole table takes minutes.
#include "adversarial/court.hpp"

#include <algorithm>
#include <cstdlib>

namespace hone::test {
namespace {

EvaluatorOptions court_options(const Defences& defences) {
  EvaluatorOptions options = evaluator_options();
  options.toolchains.erase("c");
  options.toolchains["c++"].flags = {"-O2", "-march=native", "-std=c++20", "-Wno-unused-result"};
  // A run at every isolation level shares the machine with others: its compilers get more time.
  options.build_seconds = std::getenv("HONE_ATTACK_LEVEL") != nullptr ? 45 : 8;
  options.build_memory_mb = 768;
  options.evaluation_seconds = 40;
  // Rounds of several calls, even if the first calls were slow because the machine was busy.
  options.measure.round_ms = 20;
  options.measure.pairs_min = 3;
  options.measure.pairs_max = 5;
  options.measure.single_call_pairs = 3;
  options.measure.seconds_max = 0.4;
  options.measure.defences = defences;
  // Low, so that a busy machine does not hide a winner; whatever gains for good agrees twice.
  options.suspect_speedup = 2.5;
  options.suspect_factor = 1.3;
  return options;
}

/// HONE_ATTACK_LEVEL and HONE_ATTACK_FREEZER have the same table run at lower isolation levels.
Result<LauncherOptions> launcher_options() {
  LauncherOptions options;
  if (const char* level = std::getenv("HONE_ATTACK_LEVEL")) {
    HONE_ASSIGN(options.maximum, parse_isolation(level));
  }
  if (const char* freezer = std::getenv("HONE_ATTACK_FREEZER")) options.freezer = freezer;
  return options;
}

}  // namespace

Court& Court::without(const std::vector<std::string>& off) {
  static std::unique_ptr<Court> sitting;
  if (sitting == nullptr || sitting->off_ != off) {
    sitting.reset();  // its launcher ends before another starts
    sitting.reset(new Court(off));
  }
  return *sitting;
}

Court::Court(const std::vector<std::string>& off) : off_(off) {
  const auto defences = Defences::without(off);
  if (!defences) {
    failure_ = defences.error().message;
    return;
  }
  auto wanted = launcher_options();
  if (!wanted) {
    failure_ = wanted.error().message;
    return;
  }
  LauncherOptions launcher = std::move(wanted).value();
  // Without Landlock a private root would still hide most of the machine: this is about Landlock
  // alone.
  if (std::find(off.begin(), off.end(), "landlock") != off.end()) {
    launcher.maximum = std::min(launcher.maximum, IsolationLevel::kSeparated);
  }
  auto machine = Machine::start(court_options(*defences), launcher);
  const IsolationLevel level = machine ? (*machine)->launcher().level() : launcher.maximum;
  if (level < launcher.maximum && std::getenv("HONE_ATTACK_LEVEL") != nullptr) {
    failure_ = "this machine allows at most " + std::string(isolation_name(level));
  } else if (machine) {
    machine_ = std::move(*machine);
  } else {
    failure_ = machine.error().message;
  }
}

std::shared_ptr<const Task> Court::task(const std::string& name) {
  auto& known = tasks_[name];
  if (known != nullptr || machine_ == nullptr) return known;
  const std::map<std::string, std::string> resized = {{"small", "add_relu"},
                                                      {"two_cores", "add_relu"},
                                                      {"two_calls", "gelu"},
                                                      {"short", "add_relu"},
                                                      {"short_two_cores", "add_relu"}};
  const auto found = resized.find(name);
  const std::string base = found == resized.end() ? name : found->second;
  const auto shipped = machine_->task(base);
  if (shipped == nullptr) return nullptr;
  auto changed = std::make_shared<Task>(*shipped);
  const bool is_short = name.starts_with("short");  // what is starved has ten times its limit
  changed->run_seconds = is_short ? 0.5 : 3;
  // The submissions know these sizes by heart.
  const std::map<std::string, std::int64_t> timed = {
      {"small", 65536},       {"add_relu", 1048576},        {"two_cores", 1048576},
      {"short", 1048576},     {"short_two_cores", 1048576}, {"gelu", 524288},
      {"histogram", 1048576}, {"two_calls", 1048576},       {"nbody", 768}};
  changed->timed["n"] = timed.at(name);
  if (name.ends_with("two_cores")) changed->threads = 2;
  return known = std::move(changed);
}

Result<Verdict> Court::judge(const Attack& attack, std::uint64_t seed) {
  if (machine_ == nullptr) return internal_error("no machine: " + failure_);
  const auto its_task = task(attack.task);
  if (its_task == nullptr) return internal_error("no task " + attack.task);
  return machine_->judge(its_task, source_of(attack.name), seed);
}

Result<Verdict> Court::judge_honest() {
  if (machine_ == nullptr) return internal_error("no machine: " + failure_);
  const auto honest = task("add_relu");
  return machine_->judge(honest, honest->backends.at("cpu").baseline.text, 99);
}

Result<std::unique_ptr<Machine>> two_at_a_time() {
  EvaluatorOptions options = court_options({});
  options.devices = {{0, 0, {0}}, {1, 1, {1}}};
  options.builders = 2;
  HONE_ASSIGN(const LauncherOptions launcher, launcher_options());
  return Machine::start(std::move(options), launcher);
}

}  // namespace hone::test
