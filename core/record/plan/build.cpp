// Numbers the objects of a plan and computes the lifetimes of its memory.
#include "record/plan/build.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>

#include "record/plan/liveness.hpp"

namespace hone::record {
namespace {

using recorded::MemoryKind;
using recorded::Step;

constexpr std::string_view kStateKept =
    "keeps state made from an input or a parameter between calls";

/// Maps numbers of the process to numbers of the plan, in the order of first use.
class Numbers {
 public:
  /// `is_new`: whether `key` had no number before.
  std::uint32_t of(std::uint64_t key, bool& is_new) {
    const auto [found, added] =
        numbers_.try_emplace(key, static_cast<std::uint32_t>(numbers_.size()));
    is_new = added;
    return found->second;
  }
  std::uint32_t of(std::uint64_t key) {
    bool is_new = false;
    return of(key, is_new);
  }
  std::size_t count() const { return numbers_.size(); }

 private:
  std::map<std::uint64_t, std::uint32_t> numbers_;
};

class Builder {
 public:
  explicit Builder(const Recording& recording) : recording_(recording) {
    plan_.architecture = recording.device.architecture;
    streams_.of(0);
  }

  /// Takes the phases in this order: the run, then setup.
  void add_run(std::vector<Step> run) {
    drop_unused_records(run);
    for (Step& step : run) {
      step.stream = streams_.of(step.stream);
      renumber(step);
      if (step.tuned != 0) step.tuned = tuned(step.tuned);
      plan_.run.push_back(std::move(step));
    }
    plan_.streams = static_cast<std::uint32_t>(streams_.count());
    plan_.events = static_cast<std::uint32_t>(events_.count());
  }
  void add_setup(std::vector<Step> setup) {
    for (Step& step : setup) {
      step.stream = 0;
      renumber(step);
      plan_.setup.push_back(std::move(step));
    }
  }

  recorded::Plan finish() {
    set_lifetimes();
    return std::move(plan_);
  }

 private:
  /// Returns the plan's number of an autotuned kernel of the run. A kernel without steps gets none.
  std::uint32_t tuned(std::uint32_t number) {
    bool is_new = false;
    const std::uint32_t kept = tuned_.of(number, is_new);
    if (is_new) plan_.tuned.push_back(recording_.tuned_kernels()[number - 1]);
    return kept + 1;
  }

  static void drop_unused_records(std::vector<Step>& run) {
    std::set<std::uint32_t> waited;
    for (const Step& step : run) {
      if (const auto* wait = std::get_if<recorded::Wait>(&step.work)) waited.insert(wait->event);
    }
    std::erase_if(run, [&](const Step& step) {
      const auto* record = std::get_if<recorded::Record>(&step.work);
      return record != nullptr && waited.count(record->event) == 0;
    });
  }

  std::uint32_t image(std::uint32_t id) {
    const LoadedImage& image = recording_.images.at(id);
    // Rationale: copies of an image become one, unless the host uses variables of a copy.
    const auto same = std::find_if(image_ids_.begin(), image_ids_.end(), [&](std::uint32_t other) {
      const LoadedImage& known = recording_.images.at(other);
      return other == id ||
             (known.bytes == image.bytes && known.globals.empty() && image.globals.empty());
    });
    const auto number = static_cast<std::uint32_t>(same - image_ids_.begin());
    if (same == image_ids_.end()) {
      image_ids_.push_back(id);
      plan_.images.push_back({image.bytes, image.library});
    }
    return number;
  }

  std::uint32_t kernel(std::uint32_t use) {
    const KernelUse& kernel = recording_.kernel(use);
    const recorded::Kernel wanted{image(kernel.function->image->id), kernel.function->name,
                                  kernel.shared_bytes_max, kernel.carveout,
                                  kernel.nonportable_clusters};
    const auto same =
        std::find_if(plan_.kernels.begin(), plan_.kernels.end(), [&](const recorded::Kernel& one) {
          return one.image == wanted.image && one.name == wanted.name &&
                 one.shared_bytes_max == wanted.shared_bytes_max &&
                 one.carveout == wanted.carveout &&
                 one.nonportable_clusters == wanted.nonportable_clusters;
        });
    const auto number = static_cast<std::uint32_t>(same - plan_.kernels.begin());
    if (same == plan_.kernels.end()) plan_.kernels.push_back(wanted);
    return number;
  }

  std::uint32_t memory(MemoryId id) {
    constexpr std::uint64_t kArgument = std::uint64_t{1} << 32;  // keys of the task's tensors
    const MemoryState& state = recording_.memories.at(id);
    bool is_new = false;
    const std::uint32_t number =
        memories_.of(state.kind == MemoryKind::kTask ? kArgument + state.argument : id, is_new);
    if (is_new) {
      recorded::Memory memory;
      memory.kind = state.kind;
      memory.bytes = state.bytes;
      memory.argument = state.argument;
      memory.name = state.name;
      if (state.kind == MemoryKind::kGlobal) memory.image = image(state.image);
      plan_.memories.push_back(std::move(memory));
      memory_ids_.push_back(id);
    }
    plan_.memories[number].bytes = std::max(plan_.memories[number].bytes, state.bytes);
    return number;
  }

  void renumber(recorded::Place& place) { place.memory = memory(place.memory); }
  void renumber(std::vector<recorded::Relocation>& addresses) {
    for (recorded::Relocation& one : addresses) renumber(one.place);
  }
  void renumber(Step& step) {
    std::visit([this](auto& work) { renumber_work(work); }, step.work);
  }
  void renumber_work(recorded::Launch& launch) {
    launch.kernel = kernel(launch.kernel);
    renumber(launch.addresses);
    for (recorded::TensorMap& one : launch.tensor_maps) renumber(one.place);
  }
  void renumber_work(recorded::Copy& copy) {
    renumber(copy.to);
    renumber(copy.from);
  }
  void renumber_work(recorded::Write& write) {
    renumber(write.to);
    renumber(write.addresses);
    for (const recorded::Relocation& one : write.addresses) pointed_at_.insert(one.place.memory);
  }
  void renumber_work(recorded::Fill& fill) { renumber(fill.to); }
  void renumber_work(recorded::Operator& call) {
    for (recorded::Tensor& tensor : call.tensors) renumber(tensor.place);
  }
  void renumber_work(recorded::Record& record) { record.event = events_.of(record.event); }
  void renumber_work(recorded::Wait& wait) { wait.event = events_.of(wait.event); }

  /// Calls `use` with the plan's number of each memory of a step.
  template <typename Fn>
  static void for_memory_of(const Step& step, Fn&& use) {
    std::visit(
        [&](const auto& work) {
          using Work = std::decay_t<decltype(work)>;
          if constexpr (std::is_same_v<Work, recorded::Launch>) {
            for (const auto& one : work.addresses) use(one.place.memory);
            for (const auto& one : work.tensor_maps) use(one.place.memory);
          } else if constexpr (std::is_same_v<Work, recorded::Copy>) {
            use(work.to.memory);
            use(work.from.memory);
          } else if constexpr (std::is_same_v<Work, recorded::Write>) {
            use(work.to.memory);
            for (const auto& one : work.addresses) use(one.place.memory);
          } else if constexpr (std::is_same_v<Work, recorded::Fill>) {
            use(work.to.memory);
          } else if constexpr (std::is_same_v<Work, recorded::Operator>) {
            for (const auto& one : work.tensors) use(one.place.memory);
          }
        },
        step.work);
  }

  void set_lifetimes() {
    const auto last_step =
        static_cast<std::uint32_t>(std::max<std::size_t>(plan_.run.size(), 1) - 1);
    std::vector<bool> used(plan_.memories.size());
    for (std::uint32_t at = 0; at < plan_.run.size(); ++at) {
      for_memory_of(plan_.run[at], [&](std::uint32_t number) {
        recorded::Memory& memory = plan_.memories[number];
        if (!used[number]) memory.first = at;
        used[number] = true;
        memory.last = at;
      });
    }
    for (std::uint32_t number = 0; number < plan_.memories.size(); ++number) {
      recorded::Memory& memory = plan_.memories[number];
      const bool is_of_run =
          recording_.memories.at(memory_ids_[number]).run == recording_.run_number();
      // Rationale: work of several streams overlaps, and a stored address may be used at any time.
      const bool is_short = is_of_run && plan_.streams == 1 && pointed_at_.count(number) == 0;
      if (!is_short) memory.first = 0, memory.last = last_step;
      if (memory.kind != MemoryKind::kPrivate) memory.first = memory.last = 0;
    }
  }

  const Recording& recording_;
  recorded::Plan plan_;
  Numbers memories_, streams_, events_, tuned_;
  std::vector<MemoryId> memory_ids_;  // by number
  std::vector<std::uint32_t> image_ids_;
  std::set<std::uint32_t> pointed_at_;
};

/// The first limit that the plan exceeds; empty if it exceeds none.
std::string limit_passed_by(const recorded::Plan& plan) {
  const std::pair<std::size_t, std::pair<std::int64_t, const char*>> counts[] = {
      {plan.images.size(), {recorded::kImagesMax, "images"}},
      {plan.kernels.size(), {recorded::kKernelsMax, "kernels"}},
      {plan.memories.size(), {recorded::kMemoriesMax, "pieces of memory"}},
      {plan.setup.size(), {recorded::kStepsMax, "steps before the first call"}},
      {plan.run.size(), {recorded::kStepsMax, "steps"}},
      {plan.streams, {recorded::kStreamsMax, "streams"}},
      {plan.events, {recorded::kEventsMax, "events"}}};
  for (const auto& [count, limit] : counts) {
    if (count > static_cast<std::size_t>(limit.first))
      return "more than " + std::to_string(limit.first) + " " + limit.second;
  }
  return {};
}

bool touches_task(const Step& step, const Recording& recording) {
  const Touched touched = touched_by(step, recording);
  for (const auto* ids : {&touched.reads, &touched.writes}) {
    for (const MemoryId id : *ids) {
      if (recording.memories.at(id).kind == MemoryKind::kTask) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<recorded::Plan> build_plan(Recording& recording) {
  if (!recording.problem().empty()) return std::nullopt;
  std::vector<bool> wanted = memory_from_before(recording.run(), recording);
  std::vector<Step> setup = steps_that_make(recording.setup(), wanted, recording);
  for (const Step& step : setup) {
    if (touches_task(step, recording)) recording.fail(kStateKept);
  }
  if (!recording.problem().empty()) return std::nullopt;
  Builder builder(recording);
  builder.add_run(recording.run());
  builder.add_setup(std::move(setup));
  recorded::Plan plan = builder.finish();
  if (const std::string limit = limit_passed_by(plan); !limit.empty()) {
    recording.fail(limit);
    return std::nullopt;
  }
  return plan;
}

recorded::Plan number_run(const Recording& recording, std::vector<Step> run) {
  Builder builder(recording);
  builder.add_run(std::move(run));
  return builder.finish();
}

}  // namespace hone::record
