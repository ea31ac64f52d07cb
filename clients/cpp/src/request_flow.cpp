// The life of a request.
#include "request_flow.hpp"

#include <algorithm>
#include <cstdio>
#include <random>
#include <utility>

#include "frame_limit.hpp"

namespace hone::inline client_api {
namespace {

constexpr std::int64_t kGrace =
    500'000'000;  // the server knows the deadline too, and its answer says more
constexpr double kBusyDefault = 0.05, kBusyMax = 10;

// A random factor, so that the clients of a busy server do not all retry at once.
double jitter() {
  static thread_local std::minstd_rand generator(std::random_device{}());
  return std::uniform_real_distribution<double>(1.0, 1.5)(generator);
}

bool is_sent_for_lost_episode(std::string_view verb) {
  const wire::VerbFacts* facts = wire::find_verb(verb);
  return facts != nullptr && facts->is_sent_for_lost_episode;
}

bool is_busy(const Failure& failure) {
  return failure.code == Code::kResourceExhausted && failure.error_class == "capacity";
}

std::string seconds_text(std::int64_t ns) {
  const double seconds = static_cast<double>(ns) / 1e9;
  char text[32];
  std::snprintf(text, sizeof text, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
  return text;
}

/// For messages: the state of the connection, if it is the reason that there is no answer.
std::string where(const Channel& main) {
  switch (main.state()) {
    case Channel::State::kDown:
    case Channel::State::kConnecting:
      return " (not connected to " + main.endpoint() + ")";
    case Channel::State::kGreeting:
    case Channel::State::kResuming:
      return " (connecting again to " + main.endpoint() + ")";
    case Channel::State::kLeaving:
      return " (the server at " + main.endpoint() + " is shutting down)";
    case Channel::State::kReady:
    case Channel::State::kFailed:
      return "";
  }
  return "";
}

}  // namespace

std::string subject(const Request& request) {
  if (request.episode.empty()) return request.verb;
  std::string text = request.verb + " of episode " + request.episode;
  if (request.turn > 0) text += ", turn " + std::to_string(request.turn);
  return text;
}

RequestFlow::RequestFlow(const ClientOptions& options, Connection& connection,
                         const ConnectStatus& status, Clock clock)
    : options_(options), connection_(connection), status_(status), clock_(clock) {}

void RequestFlow::accept(const RequestPtr& request) {
  table_.add(request);
  if (connection_.main.state() == Channel::State::kFailed)
    return finish(request, Reply{{}, status_.fatal()});
  if (const Status fits = fit_into_frames(*request, connection_.terms); !fits)
    return finish(request, protocol_failure(fits.error().code, fits.error().message));
  queue(request);
}

RequestPtr RequestFlow::make_internal(std::string verb, Value body,
                                      std::function<void(Reply)> done) {
  auto request = std::make_shared<Request>();
  request->id = next_id();
  request->verb = std::move(verb);
  request->body = std::move(body);
  request->internal = true;
  request->done = std::move(done);
  table_.add(request);
  return request;
}

void RequestFlow::queue(const RequestPtr& request) {
  if (request->asked_ns == 0) request->asked_ns = clock_();
  if (!table_.hold(request)) connection_.channel_of(*request).add(request);
}

void RequestFlow::release(const std::string& episode) {
  for (const RequestPtr& request : table_.end_ending(episode)) connection_.main.add(request);
}

void RequestFlow::send_waiting(Channel& channel) {
  while (channel.state() == Channel::State::kReady && !channel.waiting().empty() &&
         channel.in_flight_count() < connection_.terms.in_flight_max) {
    const RequestPtr request = channel.waiting().front();
    if (const std::string* why = connection_.roster.lost(request->episode);
        why != nullptr && !is_sent_for_lost_episode(request->verb)) {
      channel.drop_first();
      finish(request, no_server(*why, false));
      continue;
    }
    const std::int64_t now = clock_();
    if (!channel.send(request, now)) return;
    channel.drop_first();
    if (!request->episode.empty()) connection_.roster.touch(request->episode, now);
  }
}

void RequestFlow::handle(Channel& channel, ReplyMessage message) {
  if (message.kind == ReplyKind::kGoingAway)
    return channel.note_shutdown(clock_(), int_or(message.body, "drain_ms", 0));
  const RequestPtr request = channel.find_in_flight(message.id);
  if (request == nullptr) {  // given up, but the server had already replied
    const bool ends = message.kind != ReplyKind::kAccepted && message.kind != ReplyKind::kProgress;
    if (ends && left_.erase(message.id) > 0 && message.kind != ReplyKind::kError)
      close_unwanted(text_or(message.body, "episode"));
    return;
  }
  if (message.kind == ReplyKind::kAccepted) {
    request->accepted = true;
    if (std::exchange(request->cancel_missed, false)) send_cancel(request, false);
    return;
  }
  if (message.kind == ReplyKind::kProgress) return request->progress(std::move(message.body));
  channel.end_in_flight(message.id);
  if (!request->internal) channel.note_answer();
  Reply reply;
  if (message.kind == ReplyKind::kError) {
    reply.failure = read_failure(message.body);
  } else {
    reply.body = std::move(message.body);
  }
  conclude(request, std::move(reply));
}

void RequestFlow::conclude(const RequestPtr& request, Reply reply) {
  if (request->internal) return finish(request, std::move(reply));
  if (!reply.ok()) {
    if (!request->given_up && reply.failure->shutting_down)
      return wait_for_next_server(request, reply.failure->drain_ms);
    if (!request->given_up && retry_later(request, *reply.failure)) return;
    return finish(request, std::move(reply));
  }
  Roster& roster = connection_.roster;
  if (request->verb == "resume") {
    if (!bool_or(reply.body, "ended", false))
      roster.add(request->episode, request->token, clock_());
  } else {
    roster.note_result(request->verb, reply.body, clock_());
  }
  if (begins_episode(request->verb) && request->resent)
    return resume_then_conclude(request, std::move(reply));
  finish(request, std::move(reply));
}

/// A repeated reset or branch may have been done on the lost connection, to which the episode then belongs.
void RequestFlow::resume_then_conclude(const RequestPtr& request, Reply reply) {
  const std::string episode = text_or(reply.body, "episode");
  const Value body = Value::map({{"episode", episode}, {"token", text_or(reply.body, "token")}});
  auto conclude_reset = [this, request, reply = std::move(reply), episode](Reply resumed) mutable {
    if (table_.find(request->id) == nullptr) return close_unwanted(episode);  // given up meanwhile
    if (resumed.ok() || resumed.failure->code == Code::kUnavailable)
      return finish(request, std::move(reply));
    connection_.roster.remove(episode);
    finish(request, std::move(resumed));
  };
  // When this connection is lost too, the roster holds the episode and the next one resumes it.
  const RequestPtr resume = make_internal("resume", body, std::move(conclude_reset));
  if (!connection_.main.send(resume, clock_()))
    finish(resume, no_server("the connection was lost"));
}

/// The server is shutting down and did not do this request: it waits for the next server, as after a crash.
void RequestFlow::wait_for_next_server(const RequestPtr& request, std::int64_t drain_ms) {
  // The server may have done it nevertheless if it had begun.
  request->resent |= request->accepted || begins_episode(request->verb);
  request->accepted = false;
  Channel& channel = connection_.channel_of(*request);
  channel.add_by_id(request);
  channel.note_shutdown(clock_(), drain_ms);
}

bool RequestFlow::retry_later(const RequestPtr& request, const Failure& failure) {
  if (!options_.retry_busy || !is_busy(failure)) return false;
  const double grown = kBusyDefault * static_cast<double>(1 << std::min(request->busy_tries++, 8));
  const double wait_s =
      std::min(kBusyMax, std::max(failure.retry_after_s.value_or(0), grown)) * jitter();
  const std::int64_t at = clock_() + static_cast<std::int64_t>(wait_s * 1e9);
  if (request->deadline_ns > 0 && at >= request->deadline_ns) return false;
  table_.retry_at(request, at);
  return true;
}

void RequestFlow::on_connection_lost(Channel& channel, const std::vector<RequestPtr>& lost) {
  if (&channel == &connection_.main) left_.clear();  // their episodes end with their leases
  for (const RequestPtr& request : lost) {
    if (request->internal) {
      finish(request, no_server("the connection was lost"));
    } else if (request->given_up) {
      send_cancel(request, true);
    } else if (is_lost_too_often(*request)) {
      finish(request, always_lost(channel, *request));
    } else {
      request->resent = true;
      request->accepted = false;
      channel.add_first(request);
    }
  }
}

/// Counts a lost connection. Rationale: the time limit is the same for a server that returns each time and for one that stays away.
bool RequestFlow::is_lost_too_often(Request& request) const {
  const std::int64_t now = clock_();
  if (request.losses++ == 0) request.lost_ns = now;
  const double limit_s = options_.reconnect_timeout_s;
  return limit_s > 0 && request.losses >= options_.connection_losses_max &&
         static_cast<double>(now - request.lost_ns) >= limit_s * 1e9;
}

Failure RequestFlow::always_lost(const Channel& channel, const Request& request) const {
  return no_server(subject(request) + ": the connection to " + channel.endpoint() + " was lost " +
                   std::to_string(request.losses) + " times within " +
                   seconds_text(clock_() - request.lost_ns) +
                   " while it was under way (reconnect_timeout)");
}

void RequestFlow::fail_waiting(Channel& channel, const Failure& failure) {
  for (const auto& request : channel.take_all_waiting()) finish(request, failure);
}

void RequestFlow::fail_without_server(Channel& channel, std::int64_t now_ns) {
  for (const auto& request : channel.take_given_up(options_.reconnect_timeout_s, now_ns)) {
    finish(request, no_server(subject(*request) + ": no server at " + channel.endpoint() + " for " +
                              seconds_text(now_ns - channel.waits_since_ns(*request)) +
                              " (reconnect_timeout)" +
                              (channel.was_shut_down() ? ", the last one shut down" : "")));
  }
}

void RequestFlow::finish(const RequestPtr& request, Reply reply) {
  if (!table_.remove(*request)) return;
  if (request->given_up) release(request->episode);
  request->done(std::move(reply));
}

void RequestFlow::finish(const RequestPtr& request, Failure failure) {
  finish(request, Reply{{}, std::move(failure)});
}

void RequestFlow::finish_all(const std::string& why) {
  for (const RequestPtr& request : table_.take_all())
    request->done({{}, given_up(subject(*request) + ": " + why)});
}

void RequestFlow::run_timers(std::int64_t now_ns) {
  while (const RequestPtr request = table_.take_expired(now_ns)) expire(request);
  while (const RequestPtr request = table_.take_retry(now_ns)) queue(request);
}

void RequestFlow::expire(const RequestPtr& request) {
  const bool sent = connection_.channel_of(*request).is_in_flight(request->id);
  if (sent && clock_() < request->deadline_ns + kGrace)
    return table_.set_deadline(*request, request->deadline_ns + kGrace);
  leave(*request);
  static_cast<void>(take_waiting(request->id));
  finish(request, Failure{Code::kDeadlineExceeded,
                          "timeout",
                          subject(*request) + ": no answer within " +
                              std::to_string(static_cast<long>(request->timeout_s * 1000)) + " ms" +
                              where(connection_.main),
                          true,
                          {}});
}

/// Abandons a request. If it begins an episode, the client closes the episode when the reply names it.
void RequestFlow::leave(const Request& request) {
  const bool sent = connection_.main.end_in_flight(request.id);
  connection_.control.end_in_flight(request.id);
  if (sent && begins_episode(request.verb)) left_.insert(request.id);
}

/// An episode whose reply no caller received.
void RequestFlow::close_unwanted(const std::string& episode) {
  connection_.roster.remove(episode);
  queue(make_internal("close", Value::map({{"episode", episode}}), [](const Reply&) {}));
}

RequestPtr RequestFlow::take_waiting(std::int64_t id) {
  for (Channel* channel : connection_.channels()) {
    if (RequestPtr request = channel->take_waiting(id)) return request;
  }
  return table_.take_delayed(id);
}

void RequestFlow::give_up(std::int64_t id) {
  const RequestPtr request = table_.find(id);
  if (request == nullptr) return;
  if (take_waiting(id) != nullptr && !request->resent)
    return finish(request, given_up(subject(*request) + ": given up before it was sent"));
  if (request->verb != "step") {
    leave(*request);
    return finish(request, given_up(subject(*request) + ": given up"));
  }
  if (std::exchange(request->given_up, true)) return;
  table_.begin_ending(request->episode);
  // A step that was sent on a lost connection may still be in flight on the server, but its reply
  // does not arrive on this connection.
  send_cancel(request, !connection_.main.is_in_flight(id));
}

/// Asks the server to end a step that was given up. `ends_it`: the step ends with the answer to the cancel.
/// Rationale: a cancel names a turn. The episode's next step waits for the answer, because the cancel
/// could otherwise end the next step.
void RequestFlow::send_cancel(const RequestPtr& request, bool ends_it) {
  table_.begin_ending(request->episode);
  const bool was_accepted = request->accepted;
  auto done = [this, request, ends_it, was_accepted](const Reply& reply) {
    const bool found = !reply.ok() || bool_or(reply.body, "cancelled", true);
    if (ends_it) {
      finish(request, given_up(subject(*request) + ": given up"));
    } else if (!found && !was_accepted && connection_.main.is_in_flight(request->id)) {
      // The cancel overtook the step, which is on another connection. Cancel again when the server has the step.
      if (request->accepted) {
        send_cancel(request, false);
      } else {
        request->cancel_missed = true;
      }
    }
    release(request->episode);
  };
  const RequestPtr cancel = make_internal(
      "cancel", Value::map({{"episode", request->episode}, {"turn", request->turn}}), done);
  cancel->control = true;
  queue(cancel);
}

}  // namespace hone::inline client_api
