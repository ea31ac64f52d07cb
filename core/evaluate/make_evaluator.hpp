// Makes the evaluator of this machine, and admits tasks.
#pragma once

#include <memory>
#include <string>

#include "evaluate/evaluator.hpp"
#include "evaluate/options.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// Starts judges and builders; tests each compiler in its jail, so that a missing one is found now.
/// `hardware` begins the fingerprint (the backend's own words). The launcher outlives the
/// evaluator.
Result<std::unique_ptr<Evaluator>> make_evaluator(Launcher& launcher, EvaluatorOptions options,
                                                  std::string hardware);

/// What `hone tasks --admit` asks: the map of judge/admit.hpp.
Result<Value> admit(Launcher& launcher, const EvaluatorOptions& options,
                    const std::shared_ptr<const Task>& task, std::uint64_t seed);

}  // namespace hone
