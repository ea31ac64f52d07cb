// Determines the owners of kept processes, and when a process is replaced.
#include "evaluate/kept_processes.hpp"

#include <algorithm>
#include <utility>

#include "evaluate/diagnostics.hpp"
#include "evaluate/process_pool.hpp"

namespace hone {
namespace {

/// Rationale: the heap of a context outlives an artifact, and so does the word at which the blocks of a cooperative launch
/// wait for each other. No process can scrub them. The next submission of the client, another sample of the same model, must
/// not find the heap full. Not all device code calls malloc by that name: some asks for a heap, or for a way to call the
/// host, which its malloc uses.
bool leaves_state(const DeviceJob& job, const EvaluatorOptions& options) {
  if (!options.measure.defences.holds(Defence::kOwnHeap)) return false;
  const auto& launches = job.plan.launches;
  // No image is split between pieces, so no name in an image is.
  const std::vector<std::string_view> artifact = artifact_of(*job.built, job.mode);
  return std::any_of(artifact.begin(), artifact.end(), uses_heap) ||
         (job.mode == Mode::kRecordedModule && job.built->plan->is_cooperative) ||
         std::any_of(launches.begin(), launches.end(),
                     [](const PlanLaunch& launch) { return launch.cooperative; });
}

}  // namespace

/// Rationale: where device code reaches all memory of its process, it reaches hone's code there, and could prepare the
/// process for the next submission. The host code of a module always can, so its process is never shared.
std::string process_owner(const DeviceJob& job, const EvaluatorOptions& options,
                          const Value& facts) {
  if (!uses_device(job.mode) || is_module(job.mode) || options.isolation == "fresh" ||
      leaves_state(job, options))
    return "";
  const Value* reachable = facts.find("host_memory_reachable");
  if (reachable != nullptr && *reachable == Value(true)) return "";
  return (replays_operators(*job.built, job.mode) ? "plans with torch of " : "plans of ") +
         job.client;
}

KeptProcess KeptProcesses::take(const std::string& owner, bool fresh) {
  const auto found = kept_.find(owner);
  if (found == kept_.end()) return {};
  if (fresh || found->second.uses >= options_.runner_uses) {
    forget(owner);
    return {};
  }
  KeptProcess kept = std::move(found->second);
  ages_.remove(owner);
  kept_.erase(found);
  return kept;
}

void KeptProcesses::keep(const std::string& owner, KeptProcess kept) {
  while (kept_.size() >= options_.runners_max) forget(std::string(ages_.back()));
  kept_.insert_or_assign(owner, std::move(kept));
  ages_.push_front(owner);
}

void KeptProcesses::forget(const std::string& owner) {
  const auto found = kept_.find(owner);
  if (found == kept_.end()) return;
  judge_.forget(found->second.id);
  found->second.process->kill();
  static_cast<void>(found->second.process->wait(ProcessPool::kGoneSeconds));
  ages_.remove(owner);
  kept_.erase(found);
}

void KeptProcesses::forget_all() {
  while (!kept_.empty()) forget(std::string(ages_.back()));
}

std::vector<std::unique_ptr<Process>> KeptProcesses::release() {
  std::vector<std::unique_ptr<Process>> processes;
  for (auto& [owner, kept] : kept_) {
    judge_.forget(kept.id);
    processes.push_back(std::move(kept.process));
  }
  kept_.clear();
  ages_.clear();
  return processes;
}

}  // namespace hone
