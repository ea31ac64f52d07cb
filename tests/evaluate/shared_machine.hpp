// One Machine for all tests of a program, because starting one takes a second.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "evaluate/machine.hpp"

namespace hone::test {

/// A quick measurement: outcomes are what these tests are about.
inline EvaluatorOptions quick_options() {
  EvaluatorOptions options = evaluator_options();
  options.measure.pairs_min = 3;
  options.measure.pairs_max = 3;
  options.measure.single_call_pairs = 1;
  options.suspect_speedup = options.suspect_factor = 0;  // one look is enough for an outcome
  return options;
}

inline Machine& machine() {
  static const std::unique_ptr<Machine> shared = [] {
    EvaluatorOptions options = quick_options();
    options.measure.round_ms = 1;  // its tests assert no times
    options.measure.set_mb = 16;
    auto started = Machine::start(std::move(options));
    if (!started) ADD_FAILURE() << started.error().message;
    return started ? std::move(started).value() : nullptr;
  }();
  return *shared;
}

inline Result<Verdict> judge(const std::string& task, const std::string& source,
                             std::uint64_t seed = 1, const std::string& language = "c++") {
  return machine().judge(machine().task(task), source, seed, language);
}

}  // namespace hone::test
