// The names of the defences.
#include "judge_protocol/defences.hpp"

#include <algorithm>
#include <iterator>

#include "base/nearest.hpp"

namespace hone {
namespace {

constexpr std::string_view kNames[] = {
    "freeze",        "freeze_between", "fresh_inputs",  "poison",         "shuffle",
    "timed_answers", "single_rounds",  "canaries",      "guards",         "inputs_unchanged",
    "hidden_shapes", "families",       "seccomp",       "landlock",       "memory_limit",
    "physics",       "second_look",    "proven_faults", "thread_memory",  "mixed_families",
    "fixed_pairs",   "own_waits",      "witness",       "own_round",      "own_heap",
    "stream_wait",   "scrub",          "known_answer",  "withhold",       "alone",
    "stand_still",   "second_witness", "spikes",        "floor_in_pairs", "builder_time",
    "own_report",    "own_player"};

}  // namespace

Result<Defences> Defences::without(const std::vector<std::string>& names) {
  Defences defences;
  for (const std::string& name : names) {
#if defined(HONE_TEST_BUILD)
    const auto found = std::find(std::begin(kNames), std::end(kNames), name);
    if (found == std::end(kNames)) {
      return invalid_argument(
          unknown_name("defence", name, {std::begin(kNames), std::end(kNames)}));
    }
    defences.off_ |= std::uint64_t{1} << (found - std::begin(kNames));
#else
    return invalid_argument("defence '" + name + "' can be switched off in a test build only");
#endif
  }
  return defences;
}

std::vector<std::string> Defences::off() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if ((off_ >> i & 1u) != 0) names.emplace_back(kNames[i]);
  }
  return names;
}

}  // namespace hone
