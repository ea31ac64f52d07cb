// The table of verbs. A new verb is a row here, its name in Verb, its handler, and its request in wire/requests.hpp, with a
// line at the end of wire/requests.cpp. Clients: a method of ClientVerbs (clients/python/src/hone/_verbs.py) and of Client
// (clients/cpp). For a verb of the control endpoint, also wants_control() in clients/cpp/src/client.cpp. Documents:
// docs/protocol.md (endpoints, repeated requests) and docs/protocol-reference.md. Tests: its request in
// tests/fuzz/wire_fuzz.cpp.
#include "server/dispatcher.hpp"
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
       OnIoThread{[](Dispatcher& to, const VerbCall& call) {
         return to.status().hello(*call.peer, call.body);
       }}},
      {Verb::kDescribe, "describe", true, false, true,
       OnWorker{[](EpisodeService& service, const Caller& caller, const Value& body,
                   const Reply& reply) { reply(bytes_of(service.describe(caller, body))); }}},
      {Verb::kReset, "reset", true, false, false,
       OnWorker{[](EpisodeService& service, const Caller& caller, const Value& body,
                   const Reply& reply) { service.reset(caller, body, reply); }}},
      {Verb::kStep, "step", true, false, false,
       ByService{[](Dispatcher& to, const VerbCall& call) { to.serve_step(call); }}},
      {Verb::kCancel, "cancel", true, true, false,
       OnIoThread{[](Dispatcher& to, const VerbCall& call) {
         return to.service().cancel(call.peer->caller, call.body);
       }}},
      {Verb::kPing, "ping", true, true, true,
       OnIoThread{[](Dispatcher& to, const VerbCall& call) { return to.ping(call); }}},
      {Verb::kClose, "close", true, false, false,
       ByService{[](Dispatcher& to, const VerbCall& call) {
         to.service().close(call.peer->caller, call.body, to.replies().reply_to(call));
       }}},
      {Verb::kResume, "resume", true, false, false,
       OnIoThread{[](Dispatcher& to, const VerbCall& call) {
         return to.service().resume(call.peer->caller, call.body);
       }}},
      {Verb::kBranch, "branch", true, false, false,
       OnWorker{[](EpisodeService& service, const Caller& caller, const Value& body,
                   const Reply& reply) { service.branch(caller, body, reply); }}},
      {Verb::kMetrics, "metrics", false, true, true,
       OnIoThread{
           [](Dispatcher& to, const VerbCall& call) { return to.status().metrics(call.body); }}},
      {Verb::kHealth, "health", false, true, true,
       OnIoThread{
           [](Dispatcher& to, const VerbCall& call) { return to.status().health(call.body); }}},
  };
  static_assert(are_in_order(kRows));
  return kRows;
}

}  // namespace hone
