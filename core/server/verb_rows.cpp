// The table of verbs. A new verb is a row here, its name in Verb, and its handler.
#include <utility>

#include "server/io_loop.hpp"
#include "server/verbs.hpp"

namespace hone {
namespace {

Result<std::string> bytes_of(Result<Value> value) {
  if (!value) return value.error();
  return to_msgpack(*value);
}

template <std::size_t count>
constexpr bool are_in_order(const VerbRow (&rows)[count]) {
  for (std::size_t i = 0; i < count; ++i) {
    if (rows[i].verb != static_cast<Verb>(i)) return false;
  }
  return count + 1 == kVerbCount;  // all but kUnknown
}

}  // namespace

std::span<const VerbRow> verb_rows() {
  using Reply = EpisodeService::Reply;
  static constexpr VerbRow kRows[] = {
      {Verb::kHello, "hello", true, true, true,
       OnIoThread{[](IoLoop& loop, const VerbCall& call) { return loop.hello(call); }}},
      {Verb::kDescribe, "describe", true, false, true,
       OnWorker{[](EpisodeService& service, const Caller& caller, const Value& body,
                   const Reply& reply) { reply(bytes_of(service.describe(caller, body))); }}},
      {Verb::kReset, "reset", true, false, false,
       OnWorker{[](EpisodeService& service, const Caller& caller, const Value& body,
                   const Reply& reply) { service.reset(caller, body, reply); }}},
      {Verb::kStep, "step", true, false, false,
       ByService{[](IoLoop& loop, VerbCall call) { loop.serve_step(std::move(call)); }}},
      {Verb::kCancel, "cancel", true, true, false,
       OnIoThread{[](IoLoop& loop, const VerbCall& call) {
         return loop.service_.cancel(call.peer->caller, call.body);
       }}},
      {Verb::kPing, "ping", true, true, true,
       OnIoThread{[](IoLoop& loop, const VerbCall& call) { return loop.ping(call); }}},
      {Verb::kClose, "close", true, false, false, ByService{[](IoLoop& loop, VerbCall call) {
         loop.service_.close(call.peer->caller, call.body, loop.reply_to(call));
       }}},
      {Verb::kResume, "resume", true, false, false,
       OnIoThread{[](IoLoop& loop, const VerbCall& call) {
         return loop.service_.resume(call.peer->caller, call.body);
       }}},
      {Verb::kBranch, "branch", true, false, false,
       OnWorker{[](EpisodeService& service, const Caller& caller, const Value& body,
                   const Reply& reply) { service.branch(caller, body, reply); }}},
      {Verb::kMetrics, "metrics", false, true, true,
       OnIoThread{[](IoLoop& loop, const VerbCall& call) { return loop.metrics(call); }}},
      {Verb::kHealth, "health", false, true, true,
       OnIoThread{[](IoLoop& loop, const VerbCall& call) { return loop.health(call); }}},
  };
  static_assert(are_in_order(kRows));
  return kRows;
}

}  // namespace hone
