// The handlers of the verbs. wire/requests.hpp says what a new verb needs. A handler reads the body with wire::read_request;
// Dispatcher::ping is the shortest one.
#include "server/dispatcher.hpp"
#include "server/verbs.hpp"

namespace hone {
namespace {

Result<std::string> bytes_of(Result<Value> value) {
  if (!value) return value.error();
  return to_msgpack(*value);
}

template <typename Request>
constexpr VerbRow row(VerbHandler handler) {
  return {kVerbOf<Request>, handler};
}

template <std::size_t count>
constexpr bool are_in_order(const VerbRow (&rows)[count]) {
  for (std::size_t i = 0; i < count; ++i) {
    if (rows[i].verb != static_cast<Verb>(i)) return false;
  }
  return count == wire::kVerbCount;
}

}  // namespace

std::span<const VerbRow> verb_rows() {
  using Reply = EpisodeService::Reply;
  static constexpr VerbRow kRows[] = {
      row<wire::HelloRequest>(OnIoThread{[](Dispatcher& to, const VerbCall& call) {
        return to.status().hello(*call.peer, call.body);
      }}),
      row<wire::DescribeRequest>(
          OnWorker{[](EpisodeService& service, const Caller& caller, const Value& body,
                      const Reply& reply) { reply(bytes_of(service.describe(caller, body))); }}),
      row<wire::ResetRequest>(
          OnWorker{[](EpisodeService& service, const Caller& caller, const Value& body,
                      const Reply& reply) { service.reset(caller, body, reply); }}),
      row<wire::StepRequest>(
          ByService{[](Dispatcher& to, const VerbCall& call) { to.serve_step(call); }}),
      row<wire::CancelRequest>(OnIoThread{[](Dispatcher& to, const VerbCall& call) {
        return to.service().cancel(call.peer->caller, call.body);
      }}),
      row<wire::PingRequest>(
          OnIoThread{[](Dispatcher& to, const VerbCall& call) { return to.ping(call); }}),
      row<wire::CloseRequest>(ByService{[](Dispatcher& to, const VerbCall& call) {
        to.service().close(call.peer->caller, call.body, to.replies().reply_to(call));
      }}),
      row<wire::ResumeRequest>(OnIoThread{[](Dispatcher& to, const VerbCall& call) {
        return to.service().resume(call.peer->caller, call.body);
      }}),
      row<wire::BranchRequest>(
          OnWorker{[](EpisodeService& service, const Caller& caller, const Value& body,
                      const Reply& reply) { service.branch(caller, body, reply); }}),
      row<wire::MetricsRequest>(OnIoThread{
          [](Dispatcher& to, const VerbCall& call) { return to.status().metrics(call.body); }}),
      row<wire::HealthRequest>(OnIoThread{
          [](Dispatcher& to, const VerbCall& call) { return to.status().health(call.body); }}),
  };
  static_assert(are_in_order(kRows));
  return kRows;
}

}  // namespace hone
