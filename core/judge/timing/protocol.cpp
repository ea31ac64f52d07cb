#include "judge/timing/protocol.hpp"

#include "judge/timing/paired.hpp"
#include "judge/timing/processes/process_protocol.hpp"
#include "model/caught.hpp"

namespace hone {

std::unique_ptr<Protocol> make_protocol(const Measurement& measurement) {
  const SessionInput& e = measurement.input;
  const bool on_device = e.workbench.placement() == Placement::kDevice;
  if (e.submission.withholds_inputs()) return make_process_protocol(measurement);
  return on_device ? make_pairs_on_device(measurement) : make_pairs_on_host(measurement);
}

Judgement await_quiet(const SessionInput& input) {
  if (input.host.quiet == nullptr) return correct_so_far();
  const Status quiet = input.host.quiet();
  return quiet ? correct_so_far() : fault(quiet.error());
}

bool has_single_rounds(const SessionInput& input, const Timings& timings) {
  return input.settings.single_call_pairs > 0 && timings.calls > 1 &&
         input.holds(Defence::kSingleRounds);
}

Judgement expect_settled(Runner& submission, const Arena& outputs) {
  const auto settled = submission.outputs_unchanged_in(outputs);
  if (!settled) return fault(settled.error());
  if (*settled) return correct_so_far();
  Judgement late = cheated("outputs were written after the clock had stopped");
  late.verdict.caught = caught::kLateOutputs;
  return late;
}

}  // namespace hone
