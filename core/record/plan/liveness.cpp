// Liveness of memory, backwards through the steps of setup. A kernel may read and write each memory
// that its parameters point to.
#include "record/plan/liveness.hpp"

#include <algorithm>

namespace hone::record {
namespace {

class Visitor {
 public:
  explicit Visitor(const Recording& recording) : recording_(recording) {}
  Touched touched;

  void operator()(const recorded::Launch& launch) {
    for (const recorded::Relocation& one : launch.addresses) touch(one.place.memory);
    for (const recorded::TensorMap& one : launch.tensor_maps) touch(one.place.memory);
    // A kernel can use its image's variables without an address. Only variables that the host has
    // asked for count, because code also keeps texts and tables in variables.
    for (const auto& [name, id] : recording_.kernel(launch.kernel).function->image->globals)
      touch(id);
  }
  void operator()(const recorded::Copy& copy) {
    touched.reads.push_back(copy.from.memory);
    write(copy.to, copy.bytes, copy.rows, copy.from.memory != copy.to.memory);
  }
  void operator()(const recorded::Write& step) {
    write(step.to, step.bytes.size(), 1, true);
    for (const recorded::Relocation& one : step.addresses) touch(one.place.memory);
  }
  void operator()(const recorded::Fill& fill) {
    write(fill.to, fill.count * fill.width, fill.rows, true);
  }
  void operator()(const recorded::Operator& call) {
    for (std::size_t i = 0; i < call.tensors.size(); ++i) {
      const MemoryId id = call.tensors[i].place.memory;
      const auto& results = call.results;
      const bool is_result =
          results.empty() || std::find(results.begin(), results.end(), i) != results.end();
      (is_result ? touched.writes : touched.reads).push_back(id);
    }
  }
  void operator()(const recorded::Record&) {}
  void operator()(const recorded::Wait&) {}

 private:
  void touch(MemoryId id) {
    touched.reads.push_back(id);
    if (!recording_.memories.at(id).is_constant) touched.writes.push_back(id);
  }
  void write(const recorded::Place& to, std::uint64_t bytes, std::uint64_t rows, bool may_replace) {
    touched.writes.push_back(to.memory);
    if (may_replace && to.offset == 0 && rows == 1 &&
        bytes == recording_.memories.at(to.memory).bytes)
      touched.replaces.push_back(to.memory);
  }

  const Recording& recording_;
};

}  // namespace

Touched touched_by(const recorded::Step& step, const Recording& recording) {
  Visitor visitor(recording);
  std::visit(visitor, step.work);
  return std::move(visitor.touched);
}

std::vector<recorded::Step> steps_that_make(std::vector<recorded::Step> steps,
                                            std::vector<bool>& wanted, const Recording& recording) {
  std::vector<bool> needed = wanted;  // contents that a kept step or the run reads
  std::vector<recorded::Step> kept;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const Touched touched = touched_by(*step, recording);
    const bool makes = std::any_of(touched.writes.begin(), touched.writes.end(), [&](MemoryId id) {
      return needed[id] && recording.memories.at(id).kind != recorded::MemoryKind::kTask;
    });
    if (!makes) continue;
    for (const MemoryId id : touched.writes) needed[id] = wanted[id] = true;
    for (const MemoryId id : touched.replaces) needed[id] = false;
    for (const MemoryId id : touched.reads) needed[id] = wanted[id] = true;
    kept.push_back(std::move(*step));
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

std::vector<bool> memory_from_before(const std::vector<recorded::Step>& run,
                                     const Recording& recording) {
  std::vector<bool> from_before(recording.memories.count()), seen(recording.memories.count());
  for (const recorded::Step& step : run) {
    const Touched touched = touched_by(step, recording);
    if (step.tuned == 0) {  // another configuration may read the earlier contents
      for (const MemoryId id : touched.replaces) seen[id] = true;
    }
    for (const auto* ids : {&touched.reads, &touched.writes}) {
      for (const MemoryId id : *ids) {
        const MemoryState& memory = recording.memories.at(id);
        const bool is_new =
            memory.run == recording.run_number() && memory.kind != recorded::MemoryKind::kGlobal;
        if (!seen[id] && !is_new) from_before[id] = true;
        seen[id] = true;
      }
    }
  }
  return from_before;
}

}  // namespace hone::record
