// What a judge asks of the host while it judges: the device alone, and the submission's end.
#include <algorithm>

#include "judge/blame.hpp"
#include "judge/judge.hpp"
#include "judge/messages.hpp"

namespace hone {
namespace {

constexpr std::size_t kHostAnswerMax = 1u << 16;
// For the host, which may have other lanes to wait for: longer than it waits for them itself (turns.hpp). It closes where
// it gives up.
constexpr double kHostSeconds = 3600;
constexpr std::uint64_t kMemoryShare = 32;  // that is to be free where something is timed

bool has(const Value& answer, std::string_view key, const Value& expected) {
  const Value* found = answer.find(key);
  return found != nullptr && *found == expected;
}

}  // namespace

SessionHost Judge::session_host() {
  SessionHost host;
  host.progress = [this](const char* stage) {
    say(Value::map({{"kind", "stage"}, {"stage", stage}}));
  };
  host.quiet = [this] { return await_quiet(); };
  host.share = [this] { return share(); };
  host.give_way = [this](const std::function<Status()>& stand_still) {
    return give_way(stand_still);
  };
  host.beside_others = [this] { return beside_others_; };
  host.others_stand = [this] {
    const bool any =
        beside_others_ || std::any_of(kept_.begin(), kept_.end(),
                                      [](const auto& kept) { return kept.second->withholds(); });
    return !any || workbench_->is_still();
  };
  host.end = [this] { say(Value::map({{"kind", "end"}})); };
  host.ended = [this]() -> Status {
    HONE_TRY(hear_host("ended"));
    return {};
  };
  return host;
}

/// The device is this judge's alone then.
Status Judge::await_quiet() {
  say(Value::map({{"kind", "quiet"}}));
  HONE_ASSIGN(const Value answer, hear_host("quiet"));
  beside_others_ = has(answer, "others", Value(true));
  return beside_others_ ? expect_memory() : Status();
}

/// Rationale: a library that finds no memory to work in takes a slower way, and says nothing.
Status Judge::expect_memory() const {
  const std::uint64_t bytes = workbench_->memory_bytes() / kMemoryShare;
  if (workbench_->has_free(bytes)) return {};
  return resource_exhausted("what others have on the device leaves less than " +
                            std::to_string(bytes) + " bytes of its memory");
}

/// What others have on the device is not to be part of what a baseline takes.
Judgement Judge::expect_still() {
  if (!beside_others_ || workbench_->is_still()) return correct_so_far();
  return fault(unavailable("the device did not stand still beside what others have on it"));
}

/// Yields the device to a judge that waits to measure. With `stand_still` the host is asked twice: whether a judge waits, and
/// then, with the submission frozen, to let it measure.
Status Judge::give_way(const std::function<Status()>& stand_still) {
  const auto ask = [this](bool still) -> Result<bool> {
    say(Value::map({{"kind", "pass"}, {"still", still}}));
    HONE_ASSIGN(const Value answer, hear_host("pass"));
    return has(answer, "wanted", Value(true));
  };
  HONE_ASSIGN(const bool wanted, ask(stand_still == nullptr));
  if (!wanted) return {};
  HONE_TRY(stand_still());
  const auto passed = ask(true);
  return passed ? Status() : Status(passed.error());
}

Status Judge::share() {
  say(Value::map({{"kind", "share"}}));
  const auto answer = hear_host("share");
  return answer ? Status() : Status(answer.error());
}

Result<Value> Judge::hear_host(std::string_view expected) const {
  auto message = receive_message(socket_, kHostAnswerMax, kHostSeconds);
  if (!message) return message.error().in("wait for the host's '" + std::string(expected) + "'");
  HONE_ASSIGN(Value answer, from_msgpack(message->bytes));
  if (has(answer, "verb", Value(std::string(expected)))) return answer;
  return internal_error("found " + to_json(answer) + ", expected the verb '" +
                        std::string(expected) + "'");
}

}  // namespace hone
