#include "episode/environment.hpp"

#include <algorithm>

namespace hone {

std::int64_t calls_in_turn(std::span<const CallFacts> calls, std::int64_t turn) {
  return std::count_if(calls.begin(), calls.end(),
                       [turn](const CallFacts& call) { return call.turn == turn; });
}

Result<ToolCall> Environment::prepare_call(const EpisodeView&, const Value&) const {
  return failed_precondition("the environment '" + name() + "' has no tools");
}

Value Environment::observe_call(const EpisodeView&, const Value&, Tool, const Examination&) const {
  return Value::map();  // prepare_call() allows no call
}

}  // namespace hone
