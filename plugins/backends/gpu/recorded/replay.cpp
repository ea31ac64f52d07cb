// Finds or makes the graph of a call.
#include "recorded/replay.hpp"

#include <algorithm>

#include "errors.hpp"
#include "recorded/tuning.hpp"

namespace hone_gpu {
namespace {

using hone::plugin::fail;
using hone::recorded::Memory;
using hone::recorded::MemoryKind;

/// Rationale: a round has at most 64 calls, which come in any order, and other calls come between rounds.
constexpr std::size_t kGraphsMax = 128, kGraphsLeast = 4;
constexpr std::size_t kGraphStepsMax = std::size_t{1} << 17;  ///< of all graphs of a plan

bool has_graphs(const Driver& gpu) {
  return gpu.gpuGraphDestroy != nullptr && gpu.gpuGraphExecDestroy != nullptr &&
         gpu.gpuGraphInstantiate != nullptr && gpu.gpuGraphLaunch != nullptr &&
         gpu.gpuStreamBeginCapture != nullptr && gpu.gpuStreamEndCapture != nullptr;
}

/// A graph of one step takes longer to launch than the step, unless the step is an operator, which needs Python.
bool is_worth_a_graph(const LoadedPlan& loaded) {
  std::size_t steps = 0;
  for (const hone::recorded::Step& step : loaded.plan.run) {
    if (std::holds_alternative<hone::recorded::Operator>(step.work)) return true;
    if (hone::recorded::runs(step, loaded.chosen)) ++steps;
  }
  return steps > 1;
}

}  // namespace

bool is_recorded_plan(std::string_view bytes) {
  return bytes.substr(0, hone::recorded::kMagic.size()) == hone::recorded::kMagic;
}

Replay::Replay(std::unique_ptr<LoadedPlan> loaded)
    : loaded_(std::move(loaded)),
      prepared_max_(std::clamp(kGraphStepsMax / std::max<std::size_t>(loaded_->plan.run.size(), 1),
                               kGraphsLeast, kGraphsMax)) {
  ++loaded_->device.plans;
  for (std::size_t i = 0; i < loaded_->plan.memories.size(); ++i) {
    const Memory& memory = loaded_->plan.memories[i];
    if (memory.kind != MemoryKind::kTask) continue;
    task_memories_.push_back({i, memory.argument, memory.bytes});
  }
}

Replay::~Replay() {
  const hone_device& device = loaded_->device;
  use_context(device.gpu, device.ordinal, device.context);
  for (Prepared& prepared : prepared_) drop(prepared);
  --loaded_->device.plans;
}

void Replay::check_arguments(const std::uint32_t* kinds, std::uint32_t count) const {
  for (const TaskMemory& memory : task_memories_) {
    const std::string which = "the plan uses argument " + std::to_string(memory.argument);
    if (memory.argument >= count) {
      fail(HONE_INVALID_ARGUMENT,
           which + ", counted from 0, and its launch gives " + std::to_string(count));
    }
    if (kinds[memory.argument] != HONE_ARGUMENT_BUFFER) {
      fail(HONE_INVALID_ARGUMENT, which + ", counted from 0, which is no buffer");
    }
  }
}

std::vector<std::uint64_t> Replay::addresses_in(const hone_buffer& buffer,
                                                const std::uint64_t* offsets) const {
  std::vector<std::uint64_t> addresses;
  addresses.reserve(task_memories_.size());
  for (const TaskMemory& memory : task_memories_) {
    const std::uint64_t offset = offsets[memory.argument];
    if (offset > buffer.bytes || memory.bytes > buffer.bytes - offset) {
      fail(HONE_INVALID_ARGUMENT, "argument " + std::to_string(memory.argument) +
                                      " of the plan has " + std::to_string(memory.bytes) +
                                      " bytes at " + std::to_string(offset) + " of a buffer of " +
                                      std::to_string(buffer.bytes));
    }
    addresses.push_back(buffer.address + offset);
  }
  return addresses;
}

Replay::Prepared& Replay::prepare(std::vector<std::uint64_t> key) {
  const auto found = std::find_if(prepared_.begin(), prepared_.end(),
                                  [&](const Prepared& prepared) { return prepared.key == key; });
  if (found != prepared_.end()) {
    prepared_.splice(prepared_.begin(), prepared_, found);
    return prepared_.front();
  }
  if (prepared_.size() >= prepared_max_) {
    drop(prepared_.back());
    prepared_.pop_back();
  }
  std::vector<std::uint64_t> addresses = loaded_->addresses;
  for (std::size_t i = 0; i < key.size(); ++i) addresses[task_memories_[i].index] = key[i];
  Binding binding = bind(*loaded_, std::move(addresses));
  prepared_.push_front({std::move(key), std::move(binding), nullptr});
  return prepared_.front();
}

void Replay::drop(Prepared& prepared) {
  // The driver keeps a graph until its launches are done. Staged bytes are given back in the stream's order.
  if (prepared.graph != nullptr) loaded_->device.gpu.gpuGraphExecDestroy(prepared.graph);
  unbind(*loaded_, prepared.binding);
}

gpuGraphExec Replay::captured(Prepared& prepared) {
  const hone_device& device = loaded_->device;
  const Driver& gpu = device.gpu;
  check(gpu, gpu.gpuStreamBeginCapture(device.stream, kCaptureRelaxed), "begin a graph");
  gpuGraph graph = nullptr;
  try {
    issue_run(*loaded_, prepared.binding);
  } catch (...) {
    gpu.gpuStreamEndCapture(device.stream, &graph);
    if (graph != nullptr) gpu.gpuGraphDestroy(graph);
    throw;
  }
  check(gpu, gpu.gpuStreamEndCapture(device.stream, &graph), "end a graph");
  gpuGraphExec made = nullptr;
  const gpuResult result = gpu.gpuGraphInstantiate(&made, graph, 0);
  gpu.gpuGraphDestroy(graph);
  check(gpu, result, "make a graph");
  if (gpu.gpuGraphUpload != nullptr) gpu.gpuGraphUpload(made, device.stream);
  return made;
}

/// Rationale: an operator may do work that cannot be captured. Calls are then issued step by step,
/// and errors of a step are reported there.
void Replay::capture(Prepared& prepared) {
  try {
    prepared.graph = captured(prepared);
  } catch (const hone::plugin::Failure&) {
    captures_ = false;
  }
}

void Replay::call(const hone_buffer& buffer, const std::uint64_t* offsets) {
  const hone_device& device = loaded_->device;
  use(device);
  Prepared& prepared = prepare(addresses_in(buffer, offsets));
  // Rationale: the driver or an operator may initialise at the first use, which must not become part of a graph.
  const bool first = !has_run_;
  if (first) {
    if (!loaded_->chosen.empty()) choose_configurations(*loaded_, prepared.binding.addresses);
    captures_ = has_graphs(device.gpu) && is_worth_a_graph(*loaded_);
  }
  if (first) issue_run(*loaded_, prepared.binding);
  has_run_ = true;
  if (captures_ && prepared.graph == nullptr) capture(prepared);
  if (first) return;
  if (prepared.graph == nullptr) return issue_run(*loaded_, prepared.binding);
  check(device.gpu, device.gpu.gpuGraphLaunch(prepared.graph, device.stream), "launch a graph",
        true);
}

}  // namespace hone_gpu
