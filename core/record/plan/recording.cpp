// Phases, the order of streams, and the limits that hold while recording.
#include "record/plan/recording.hpp"

#include <algorithm>
#include <type_traits>

#include "record/plan/liveness.hpp"

namespace hone::record {
namespace {

constexpr std::size_t kStepsMax = static_cast<std::size_t>(recorded::kStepsMax);
/// Bounds the bytes of parameters and copies from the host that steps hold.
constexpr std::uint64_t kKeptBytesMax = std::uint64_t{256} << 20;

constexpr std::string_view kTooManySteps = "more than 16384 steps";
static_assert(recorded::kStepsMax == 16384);
constexpr auto kTunedMax = static_cast<std::size_t>(recorded::kTunedMax);
constexpr auto kConfigurationsMax = static_cast<std::size_t>(recorded::kConfigurationsMax);
constexpr std::string_view kTooManyTuned = "more than 16 autotuned kernels",
                           kTooManyConfigurations =
                               "more than 128 configurations of an autotuned kernel";
static_assert(recorded::kTunedMax == 16 && recorded::kConfigurationsMax == 128);
constexpr std::string_view kUnknownConfiguration =
    "work of an autotuned kernel or configuration that the run does not have";
constexpr std::string_view kTunedOperator =
    "an autotuned kernel calls an operator of a vendor's library";
constexpr std::string_view kTooManyBytes = "copies more than 256 MiB from the host";

std::uint64_t bytes_kept_by(const recorded::Step& step) {
  if (const auto* launch = std::get_if<recorded::Launch>(&step.work))
    return launch->parameters.size();
  if (const auto* write = std::get_if<recorded::Write>(&step.work)) return write->bytes.size();
  return 0;
}

bool orders_streams(const recorded::Step& step) {
  return std::holds_alternative<recorded::Record>(step.work) ||
         std::holds_alternative<recorded::Wait>(step.work);
}

/// Keeps only the first configurations of a run that becomes part of the setup.
void keep_first_configurations(std::vector<recorded::Step>& steps) {
  std::erase_if(steps, [](const recorded::Step& step) { return step.configuration != 0; });
  for (recorded::Step& step : steps) step.tuned = 0;
}

}  // namespace

void Recording::begin(Device facts) {
  device = std::move(facts);
  has_begun_ = true;
  problem_.clear();
}

void Recording::fail(std::string_view reason) {
  if (has_begun_ && problem_.empty()) problem_ = reason;
}

void Recording::begin_run() {
  keep_first_configurations(run_);
  tuned_kernels_.clear();
  tuned_ = configuration_ = 0;
  for (auto* steps : {&run_, &after_run_}) {
    std::move(steps->begin(), steps->end(), std::back_inserter(setup_));
    steps->clear();
  }
  // The results of the previous run become private memory again.
  for (MemoryId id = 0; id < memories.count(); ++id) {
    MemoryState& memory = memories.at(id);
    if (memory.is_result) memory.kind = recorded::MemoryKind::kPrivate;
    memory.is_result = false;
  }
  forget_what_is_freed();
  phase_ = Phase::kRun;
  ++run_number_;
  used_streams_.clear();
  barrier_ = 0;
  steps_at_barrier_ = 0;
}

void Recording::end_run() {
  if (phase_ == Phase::kRun) phase_ = Phase::kAfterRun;
}

std::vector<recorded::Step>& Recording::steps() {
  return phase_ == Phase::kSetup ? setup_ : phase_ == Phase::kRun ? run_ : after_run_;
}

void Recording::forget_what_is_freed() {
  std::vector<bool> wanted(memories.count());
  for (MemoryId id = 0; id < wanted.size(); ++id) wanted[id] = !memories.at(id).is_freed;
  setup_ = steps_that_make(std::move(setup_), wanted, *this);
  kept_bytes_ = 0;
  for (const auto* phase : {&setup_, &run_, &after_run_}) {
    for (const recorded::Step& step : *phase) kept_bytes_ += bytes_kept_by(step);
  }
}

/// Rationale: a program may do much work before its first run, and free the memory of most of it.
bool Recording::make_room_in_setup() {
  if (phase_ != Phase::kSetup) return true;
  if (setup_.size() < 2 * kStepsMax && kept_bytes_ < kKeptBytesMax) return true;
  forget_what_is_freed();
  // These limits are lower than those above, so that the next search for freed memory is not soon.
  if (setup_.size() > kStepsMax) fail(kTooManySteps);
  if (kept_bytes_ > kKeptBytesMax / 4 * 3) fail(kTooManyBytes);
  return problem_.empty();
}

void Recording::push(std::uint32_t stream, decltype(recorded::Step::work) work) {
  recorded::Step step{stream, std::move(work)};
  if (phase_ == Phase::kRun && !orders_streams(step)) {
    step.tuned = tuned_;
    step.configuration = configuration_;
  }
  kept_bytes_ += bytes_kept_by(step);
  steps().push_back(std::move(step));
}

std::uint32_t Recording::add_tuned(recorded::Tuned tuned) {
  if (tuned_kernels_.size() == kTunedMax) fail(kTooManyTuned);
  if (tuned.configurations.size() > kConfigurationsMax) fail(kTooManyConfigurations);
  if (!problem_.empty()) return 0;
  if (tuned.left_out.size() > kConfigurationsMax) tuned.left_out.resize(kConfigurationsMax);
  tuned_kernels_.push_back(std::move(tuned));
  return static_cast<std::uint32_t>(tuned_kernels_.size());
}

void Recording::begin_configuration(std::uint32_t tuned, std::uint32_t configuration) {
  const bool is_known =
      tuned == 0 || (tuned <= tuned_kernels_.size() &&
                     configuration < tuned_kernels_[tuned - 1].configurations.size());
  if (!is_known) return fail(kUnknownConfiguration);
  tuned_ = tuned;
  configuration_ = configuration;
}

void Recording::append(std::uint32_t stream, decltype(recorded::Step::work) work) {
  if (!problem_.empty()) return;
  if (tuned_ != 0 && std::holds_alternative<recorded::Operator>(work)) return fail(kTunedOperator);
  if (phase_ != Phase::kRun) {
    if (!make_room_in_setup()) return;
    stream = 0;
  } else if (std::find(used_streams_.begin(), used_streams_.end(), stream) == used_streams_.end()) {
    used_streams_.push_back(stream);
    if (barrier_ != 0 && stream != 0) push(stream, recorded::Wait{barrier_});
  }
  const std::size_t limit = phase_ == Phase::kRun ? kStepsMax : 2 * kStepsMax;
  if (steps().size() >= limit) return fail(kTooManySteps);
  if (kept_bytes_ > kKeptBytesMax) return fail(kTooManyBytes);
  push(stream, std::move(work));
}

void Recording::record(Event& event, std::uint32_t stream) {
  event.run = phase_ == Phase::kRun ? run_number_ : 0;
  event.stream = stream;
  event.record = ++last_record_;
  if (event.run != 0) append(stream, recorded::Record{event.record});
}

void Recording::wait(const Event& event, std::uint32_t stream) {
  if (phase_ != Phase::kRun || event.run != run_number_ || event.stream == stream) return;
  append(stream, recorded::Wait{event.record});
}

void Recording::synchronize() {
  if (phase_ != Phase::kRun || run_.size() == steps_at_barrier_) return;
  for (const std::uint32_t stream : std::vector(used_streams_)) {
    if (stream == 0) continue;
    append(stream, recorded::Record{++last_record_});
    append(0, recorded::Wait{last_record_});
  }
  append(0, recorded::Record{++last_record_});
  barrier_ = last_record_;
  for (const std::uint32_t stream : used_streams_) {
    if (stream != 0) push(stream, recorded::Wait{barrier_});
  }
  steps_at_barrier_ = run_.size();
}

std::uint32_t Recording::kernel_use(Function& function) {
  const auto granted = static_cast<std::uint32_t>(std::max(function.shared_bytes_max, 0));
  const auto [found, is_new] = kernel_uses_.try_emplace(
      {&function, granted, function.carveout, function.nonportable_clusters},
      static_cast<std::uint32_t>(kernels_.size()));
  if (is_new)
    kernels_.push_back({&function, granted, function.carveout, function.nonportable_clusters});
  return found->second;
}

}  // namespace hone::record
