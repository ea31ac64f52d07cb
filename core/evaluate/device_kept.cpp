// Processes that serve one owner's submissions, one after the other.
#include <algorithm>
#include <iterator>

#include "evaluate/device.hpp"
#include "evaluate/rehearsal.hpp"

namespace hone {
namespace {

constexpr const char* kHeapWords[] = {"malloc", "hidden_heap", "hidden_hostcall"};

}  // namespace

/// Whether there were any.
bool Device::forget_all() {
  const bool any = !kept_.empty();
  while (!kept_.empty()) forget(std::string(kept_ages_.back()));
  return any;
}

/// Whose submissions may share a process with this one; empty: nobody's. Rationale: where device code reaches all memory
/// of its process, it reaches our own code there, and the next submission's process must not be its work. A module's host
/// code always does, so that its process is shared only where the configuration takes that risk; and a library of its own
/// stays in its process for good.
std::string Device::owner_of(const DeviceJob& job) const {
  if (!options_.device_code) return "";
  if (is_module(*job.task, options_)) {
    if (options_.module_isolation == "fresh" || builds_extensions(job.built->artifact)) return "";
    // With its length: names are strangers' words, and no two owners have one key.
    const std::string client = std::to_string(job.client.size()) + " " + job.client;
    return "modules of " + client + (options_.module_isolation == "episode" ? job.episode : "");
  }
  const Value* reachable = facts_.find("host_memory_reachable");
  if (options_.isolation == "fresh" || leaves_state(job)) return "";
  return reachable == nullptr || *reachable != Value(true) ? "plans of " + job.client : "";
}

/// Rationale: a context's heap outlives an artifact, as does the word at which the blocks of a cooperative launch wait for
/// each other, and nobody can scrub them. The next submission of the client, another sample of the same model, must not
/// find the heap full. Not all device code calls a malloc by that name: some says that it wants a heap, or a way to call
/// the host, which its malloc goes.
bool Device::leaves_state(const DeviceJob& job) const {
  if (!options_.device_code || !options_.measure.defences.holds(Defence::kOwnHeap)) return false;
  const std::string& artifact = job.built->artifact;
  const auto& launches = job.plan.launches;
  return std::any_of(std::begin(kHeapWords), std::end(kHeapWords),
                     [&](const char* word) { return artifact.find(word) != std::string::npos; }) ||
         std::any_of(launches.begin(), launches.end(),
                     [](const PlanLaunch& launch) { return launch.cooperative; });
}

/// Its owner's process, or none. One that is not to be used any more is forgotten.
Device::Kept Device::take_kept(const std::string& owner, bool fresh) {
  const auto found = kept_.find(owner);
  if (found == kept_.end()) return {};
  if (fresh || found->second.uses >= options_.runner_uses) {
    forget(owner);
    return {};
  }
  Kept kept = std::move(found->second);
  kept_ages_.remove(owner);
  kept_.erase(found);
  return kept;
}

/// Returns once what it held of the device is others': nothing is measured meanwhile.
void Device::forget(const std::string& owner) {
  const auto found = kept_.find(owner);
  if (found == kept_.end()) return;
  judge_.forget(found->second.id);
  found->second.process->kill();
  static_cast<void>(found->second.process->wait(kGoneSeconds));
  kept_ages_.remove(owner);
  kept_.erase(found);
}

void Device::keep(const std::string& owner, Kept kept) {
  while (kept_.size() >= options_.runners_max) forget(std::string(kept_ages_.back()));
  kept_.insert_or_assign(owner, std::move(kept));
  kept_ages_.push_front(owner);
}

}  // namespace hone
