// Theory of operation. Each rule looks at the figures and writes at most one sentence, with a weight that orders the
// sentences: the largest weights come first. A sentence first states a fact, measured or read from the code, then advice.
// processor_findings.cpp and device_findings.cpp have the rules for one kind of code, this file has the common ones.
#include "examine/findings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "examine/finding_rules.hpp"

namespace hone {
namespace {

using examine::bytes_text;
using examine::number_fact;
using examine::number_text;
using examine::percent_text;
using examine::time_text;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kMemoryBound = 0.6;
constexpr double kComputeBound = 0.6;
constexpr double kOtherUnits = 1.05;  // above it, the vector units did not do all of it
constexpr double kFromMemory = 1.25;  // above it, the data cannot come from memory

std::string flops_text(double flops) {
  if (flops >= 1e12) return number_text(flops / 1e12, " TFLOP");
  if (flops >= 1e9) return number_text(flops / 1e9, " GFLOP");
  if (flops >= 1e6) return number_text(flops / 1e6, " MFLOP");
  return number_text(flops, " FLOP");
}

/// Floating-point operations per second in the task's type; 0: unknown. Rationale: a device's matrix units, which are many
/// times faster, compute 16-bit types, and single precision where TF32 is allowed.
double flops_per_second_max(const ProfileInput& input, bool is_processor) {
  const Value* rates = input.device.find("flops_per_second_max");
  if (rates == nullptr) return 0;
  const auto has = [&input](DType dtype) {
    return std::any_of(input.task.tensors.begin(), input.task.tensors.end(),
                       [dtype](const Tensor& tensor) { return tensor.dtype == dtype; });
  };
  if (has(DType::kF64)) return number_fact(*rates, "f64");
  const bool may_use_matrix_units = has(DType::kF16) || has(DType::kBF16) ||
                                    input.task.precision.find(" on") != std::string::npos;
  return may_use_matrix_units && !is_processor ? 0 : number_fact(*rates, "f32");
}

/// The rules for all code.
class CommonRules {
 public:
  explicit CommonRules(FindingList& list)
      : list_(list), input_(list.input), figures_(list.figures) {}

  void add_all() {
    memory();
    arithmetic();
    left_out();
  }

 private:
  void add(double weight, std::string text) { list_.add(weight, std::move(text)); }

  void memory() {
    if (std::isnan(figures_.memory_share)) return;
    const std::string moved = "A call has to move at least " + bytes_text(figures_.bytes) +
                              " and takes " + time_text(input_.verdict.speedup->time_us) + ": " +
                              bytes_text(figures_.bytes_per_second) + "/s, " +
                              percent_text(figures_.memory_share) + " of the memory's bandwidth";
    if (list_.is_from_cache())
      return add(0.2, moved + ". The data comes from the caches: memory does not limit it.");
    const Speedup& speedup = *input_.verdict.speedup;
    if (list_.is_memory_bound() && speedup.baseline_us < kFaster * speedup.time_us)
      return add(0.75, moved + ". The baseline takes " + time_text(speedup.baseline_us) +
                           " for the same work, so memory does not limit this kernel yet.");
    if (list_.is_memory_bound())
      return add(0.75, moved + ". It is memory-bound: less data or fewer passes help most.");
    const bool may_limit =
        figures_.memory_share < 0.25 && !list_.needs_more_arithmetic_than_memory();
    add(may_limit && accesses_global_memory(list_) ? 0.65 : 0.2,
        moved +
            (std::isnan(figures_.moved_bytes)
                 ? ". Each input and output counts once: temporaries and further passes move more."
                 : ".") +
            advice_on_accesses(list_));
  }

  /// Only if arithmetic is nearer to its limit than memory, or if the data comes from caches.
  void arithmetic() {
    if (std::isnan(figures_.flops_share)) return;
    if (figures_.flops_share < figures_.memory_share && !list_.is_from_cache()) return;
    const std::string rate = "A call needs " + flops_text(figures_.flops) + ": " +
                             flops_text(figures_.flops_per_second) + "/s";
    if (figures_.flops_share > kOtherUnits)
      return add(0.2, rate +
                          ", more than the peak rate of the vector units. The kernel does fewer "
                          "operations than the obvious algorithm, or uses other units.");
    const std::string share = rate + ", " + percent_text(figures_.flops_share) + " of the " +
                              flops_text(figures_.peak_flops_per_second) +
                              "/s that the vector units do at most";
    if (figures_.flops_share >= kComputeBound && list_.is_memory_bound())
      return add(0.74, share + ". Arithmetic is near its limit, too.");
    if (figures_.flops_share >= kComputeBound)
      return add(0.76, share + ". It is compute-bound: fewer operations help most.");
    if (!list_.needs_more_arithmetic_than_memory()) return add(0.35, share + ".");
    add(0.66,
        share + ". The task has " + number_text(figures_.intensity, " operations") +
            " for each byte that it must move: load data once and use it many times, from " +
            (input_.plan == nullptr ? "registers and caches." : "registers and shared memory."));
  }

  void left_out() {
    std::string text;
    for (const std::string& what : input_.code.left_out) text += (text.empty() ? "" : "; ") + what;
    if (!text.empty()) add(0.25, "The report on the code left out " + text + ".");
  }

  static constexpr double kFaster = 0.9;  // of the kernel's time: a difference above noise

  FindingList& list_;
  const ProfileInput& input_;
  const ProfileFigures& figures_;
};

}  // namespace

namespace examine {

std::string number_text(double value, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, value >= 100 ? "%.0f%s" : "%.3g%s", value, unit);
  return text;
}

std::string bytes_text(double bytes) {
  if (bytes >= 1e9) return number_text(bytes / 1e9, " GB");
  if (bytes >= 1e6) return number_text(bytes / 1e6, " MB");
  if (bytes >= 1e3) return number_text(bytes / 1e3, " kB");
  return number_text(bytes, " bytes");
}

std::string percent_text(double share) { return number_text(100 * share, " %"); }

std::string time_text(double us) {
  return us >= 1000 ? number_text(us / 1000, " ms") : number_text(us, " µs");
}

double number_fact(const Value& facts, const char* name) {
  const Value* found = facts.find(name);
  return found != nullptr && found->is_number() ? found->as_double() : 0;
}

std::string place_text(const CodeBlock& block) {
  if (block.line_first == 0) return "of '" + block.function + "'";
  if (block.line_first == block.line_last) return "at line " + std::to_string(block.line_first);
  return "at lines " + std::to_string(block.line_first) + " to " + std::to_string(block.line_last);
}

}  // namespace examine

std::vector<Sentence> FindingList::take() {
  std::stable_sort(sentences_.begin(), sentences_.end(),
                   [](const Sentence& a, const Sentence& b) { return a.weight > b.weight; });
  return std::move(sentences_);
}

bool FindingList::is_from_cache() const {
  return input.task.cache_warm && figures.memory_share > kFromMemory;
}

bool FindingList::is_memory_bound() const {
  return figures.memory_share >= kMemoryBound && !is_from_cache();
}

bool FindingList::is_near_a_limit() const {
  const bool is_compute_bound =
      figures.flops_share >= kComputeBound && figures.flops_share <= kOtherUnits;
  return is_memory_bound() || is_compute_bound;
}

bool FindingList::needs_more_arithmetic_than_memory() const {
  return figures.intensity > figures.peak_flops_per_second / figures.peak_bytes_per_second;
}

std::vector<ReadyLaunch> timed_launches(const ProfileInput& input) {
  if (input.plan == nullptr) return {};
  const auto kernels = plan_kernels(input.task, {input.plan});
  if (!kernels) return {};
  auto ready = ready_plan(input.task, *input.plan, *kernels, input.task.timed, PlanLimits{});
  return ready ? std::move(ready->launches) : std::vector<ReadyLaunch>();
}

ProfileFigures profile_figures(const ProfileInput& input) {
  ProfileFigures figures;
  const double seconds = input.verdict.speedup->time_us * 1e-6;
  figures.bytes = least_bytes(input.task);
  figures.bytes_per_second = seconds > 0 ? figures.bytes / seconds : kUnknown;
  // Of one core on a processor.
  const double clock = number_fact(input.device, "clock_hz");
  const bool is_processor = clock > 0;
  const double cores = is_processor ? static_cast<double>(input.task.threads) : 1;
  const auto known = [](double value) { return value > 0 ? value : kUnknown; };
  figures.peak_bytes_per_second = known(cores * number_fact(input.device, "dram_bytes_per_second"));
  figures.memory_share = figures.bytes_per_second / figures.peak_bytes_per_second;
  figures.peak_flops_per_second = known(cores * flops_per_second_max(input, is_processor));
  figures.flops = known(flops_of_call(input.task));
  figures.flops_per_second = seconds > 0 ? figures.flops / seconds : kUnknown;
  figures.flops_share = figures.flops_per_second / figures.peak_flops_per_second;
  figures.intensity = figures.bytes > 0 ? figures.flops / figures.bytes : kUnknown;
  double outputs = 0;
  for (const Tensor& tensor : input.task.tensors) {
    const auto count = element_count(tensor, input.task.timed);
    if (tensor.role != Role::kIn && count) outputs += static_cast<double>(*count);
  }
  figures.moved_bytes = memory_bytes(input.counters.launches).value_or(kUnknown);
  figures.moved_bytes_per_second =
      figures.moved_bytes / device_seconds(input.counters.launches).value_or(kUnknown);
  figures.moved_share = figures.moved_bytes_per_second / figures.peak_bytes_per_second;
  figures.cycles_per_output = clock > 0 && outputs > 0 ? clock * seconds / outputs : kUnknown;
  return figures;
}

std::vector<std::string> profile_findings(const ProfileInput& input, const ProfileFigures& figures,
                                          std::size_t count_max) {
  FindingList list(input, figures);
  input.plan == nullptr ? add_processor_findings(list) : add_device_findings(list);
  CommonRules(list).add_all();
  std::vector<std::string> texts;
  for (Sentence& sentence : list.take()) {
    if (texts.size() < count_max) texts.push_back(std::move(sentence.text));
  }
  return texts;
}

}  // namespace hone
