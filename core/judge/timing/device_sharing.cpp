#include "judge/timing/device_sharing.hpp"

#include <optional>

#include "judge/blame.hpp"

namespace hone {

Judgement DeviceSharing::give_way() {
  if (!shares_ || !freezes_ || input_.host.give_way == nullptr) return correct_so_far();
  std::optional<Error> unfrozen;
  const Status gave = input_.host.give_way([&]() -> Status {
    const auto stands = input_.submission.stand_still();
    if (stands) return {};
    unfrozen = stands.error();
    return stands.error();
  });
  if (unfrozen) return freeze_failure(*unfrozen, Culprit::kSubmission, {Place::kCheck});
  return gave ? correct_so_far() : fault(gave.error());
}

Judgement DeviceSharing::await_exclusive() {
  if (input_.host.quiet == nullptr) return correct_so_far();
  const Status quiet = input_.host.quiet();
  shares_ = false;
  return quiet ? correct_so_far() : fault(quiet.error());
}

Judgement DeviceSharing::share() {
  if (input_.host.share == nullptr) return correct_so_far();
  const Status shared = input_.host.share();
  shares_ = true;
  return shared ? correct_so_far() : fault(shared.error());
}

}  // namespace hone
