// The client's thread: the life of a request from submission to its one answer.
#include <algorithm>
#include <random>

#include "base/clock.hpp"
#include "base/utf8.hpp"
#include "engine.hpp"

namespace hone::inline client_api {
namespace {

constexpr std::int64_t kGrace =
    500'000'000;  // the server knows the deadline too, and its answer says more
constexpr std::int64_t kDeadlineMsMax = 24LL * 3600 * 1000;
constexpr std::size_t kCutBytes = 16;  // cut_middle() may keep this many fewer bytes than asked for
constexpr double kBusyDefault = 0.05, kBusyMax = 10;

// Spread, so that the callers of a busy server do not come back all at once.
double jitter() {
  static thread_local std::minstd_rand generator(std::random_device{}());
  return std::uniform_real_distribution<double>(1.0, 1.5)(generator);
}

/// Of an episode that was lost here: the server may know better, or that it was closed.
bool asks_the_server(const std::string& verb) {
  return verb == "resume" || verb == "branch" || verb == "close";
}

bool is_busy(const Failure& failure) {
  return failure.code == Code::kResourceExhausted && failure.error_class == "capacity";
}

}  // namespace

std::string subject(const Request& request) {
  if (request.episode.empty()) return request.verb;
  std::string text = request.verb + " of episode " + request.episode;
  if (request.turn > 0) text += ", turn " + std::to_string(request.turn);
  return text;
}

void Engine::submit(RequestPtr request) {
  post([this, request = std::move(request)] { accept(request); });
}

void Engine::cancel(std::int64_t id) {
  if (forked()) return;
  post([this, id] { give_up(id); });
}

Engine::Channel& Engine::channel_of(const Request& request) {
  return request.control && !control_.endpoint.empty() ? control_ : main_;
}

void Engine::accept(const RequestPtr& request) {
  request->deadline_entry = deadlines_.end();
  if (request->deadline_ns > 0) {
    request->deadline_entry = deadlines_.emplace(request->deadline_ns, request.get());
  }
  alive_[request->id] = request;
  if (main_.state == State::kFailed) {
    std::optional<Failure> fatal;
    {
      MutexLock lock(mutex_);
      fatal = fatal_;
    }
    return finish(request, {{}, std::move(fatal)});
  }
  std::size_t largest = to_msgpack(request->body).size();
  for (const auto& buffer : request->buffers) largest = std::max(largest, buffer.size());
  if (largest > frame_bytes_max_ && !shorten_action(*request, largest - frame_bytes_max_)) {
    // The transport would drop the connection of whoever sends it, with no word why.
    return finish(request,
                  {{},
                   Failure{Code::kInvalidArgument,
                           "protocol",
                           request->verb + ": found a frame of " + std::to_string(largest) +
                               " bytes, at most " + std::to_string(frame_bytes_max_) + " allowed",
                           false,
                           {}}});
  }
  queue(request);
}

/// Cuts the middle out of a submission that does not fit in a frame; false if that is impossible.
/// Rationale: a text that is too long is the model's turn, not an error. It stays long enough for the
/// server to reject it.
bool Engine::shorten_action(Request& request, std::size_t excess) const {
  const Value* given = request.body.find("action");
  if (request.verb != "step" || given == nullptr) return false;
  for (const char* key : {"code", "response"}) {
    const std::string text = text_or(*given, key);
    if (text.size() <= excess + kCutBytes) continue;
    if (text.size() - excess - kCutBytes <= judged_bytes_max_) continue;
    Value action = *given;
    action.set(key, cut_middle(text, text.size() - excess));
    request.body.set("action", std::move(action));
    return true;
  }
  return false;
}

void Engine::queue(const RequestPtr& request) {
  if (request->verb == "step" && ending_.count(request->episode) != 0) {
    behind_.emplace(request->episode, request);
  } else {
    channel_of(*request).waiting.push_back(request);
  }
}

void Engine::release_behind(const std::string& episode) {
  const auto ending = ending_.find(episode);
  if (ending == ending_.end() || --ending->second > 0) return;
  ending_.erase(ending);
  const auto [first, last] = behind_.equal_range(episode);
  for (auto it = first; it != last; ++it) main_.waiting.push_back(it->second);
  behind_.erase(first, last);
}

void Engine::flush(Channel& channel) {
  while (channel.state == State::kReady && !channel.waiting.empty() &&
         channel.in_flight.size() < in_flight_max_) {
    RequestPtr request = channel.waiting.front();
    if (const std::string* why = roster_.lost(request->episode);
        why != nullptr && !asks_the_server(request->verb)) {
      channel.waiting.pop_front();
      finish(request, {{}, Failure{Code::kUnavailable, "infra", *why, false, {}}});
      continue;
    }
    if (!send(channel, request)) return;
    channel.waiting.pop_front();
  }
  if (&channel == &control_ && channel.state == State::kDown && !channel.waiting.empty() &&
      channel.reopen_ns <= monotonic_ns()) {
    open(channel);
  }
}

bool Engine::send(Channel& channel, const RequestPtr& request) {
  const std::int64_t now = monotonic_ns();
  wire::Request message{request->verb, request->id, {}, request->body, request->buffers};
  if (request->deadline_ns > 0) {
    message.deadline_ms =
        std::clamp<std::int64_t>((request->deadline_ns - now) / 1'000'000, 1, kDeadlineMsMax);
  }
  if (!channel.link || !channel.link->send(wire::encode_request(message))) return false;
  channel.in_flight[request->id] = request;
  if (!request->episode.empty()) roster_.touch(request->episode, now);
  return true;
}

void Engine::handle(Channel& channel, ReplyMessage message) {
  const auto found = channel.in_flight.find(message.id);
  if (found == channel.in_flight.end()) {  // given up before; the server could not know
    const bool ends = message.kind != ReplyKind::kAccepted && message.kind != ReplyKind::kProgress;
    if (ends && left_.erase(message.id) > 0 && message.kind != ReplyKind::kError)
      close_unwanted(text_or(message.body, "episode"));
    return;
  }
  const RequestPtr request = found->second;
  if (message.kind == ReplyKind::kAccepted) {
    request->accepted = true;
    if (std::exchange(request->cancel_missed, false)) send_cancel(request, false);
    return;
  }
  if (message.kind == ReplyKind::kProgress) return request->progress(std::move(message.body));
  channel.in_flight.erase(found);
  if (!request->internal) channel.failures = 0;
  Reply reply;
  if (message.kind == ReplyKind::kError) {
    reply.failure = read_failure(message.body);
  } else {
    reply.body = std::move(message.body);
  }
  conclude(request, std::move(reply));
}

void Engine::conclude(const RequestPtr& request, Reply reply) {
  if (request->internal) return finish(request, std::move(reply));
  if (!reply.ok()) {
    if (!request->given_up && reply.failure->shutting_down)
      return wait_for_next_server(channel_of(*request), request);
    if (!request->given_up && retry_later(request, *reply.failure)) return;
    return finish(request, std::move(reply));
  }
  if (request->verb == "resume") {
    if (!bool_or(reply.body, "ended", false))
      roster_.add(request->episode, request->token, monotonic_ns());
  } else {
    roster_.note_result(request->verb, reply.body);
  }
  if (begins_episode(request->verb) && request->resent)
    return resume_then_conclude(request, std::move(reply));
  finish(request, std::move(reply));
}

/// A repeated reset or branch may have been done on the lost connection, to which the episode then belongs.
void Engine::resume_then_conclude(const RequestPtr& request, Reply reply) {
  const std::string episode = text_or(reply.body, "episode");
  const Value body = Value::map({{"episode", episode}, {"token", text_or(reply.body, "token")}});
  auto conclude_reset = [this, request, reply = std::move(reply), episode](Reply resumed) mutable {
    if (alive_.count(request->id) == 0) return close_unwanted(episode);  // given up meanwhile
    if (resumed.ok() || resumed.failure->code == Code::kUnavailable)
      return finish(request, std::move(reply));
    roster_.remove(episode);
    finish(request, std::move(resumed));
  };
  // When this connection is lost too, the roster holds the episode and the next one resumes it.
  auto resume = internal_request("resume", body, std::move(conclude_reset));
  if (!send(main_, resume)) {
    finish(resume, {{}, Failure{Code::kUnavailable, "infra", "the connection was lost", true, {}}});
  }
}

bool Engine::retry_later(const RequestPtr& request, const Failure& failure) {
  if (!options_.retry_busy || !is_busy(failure)) return false;
  const double grown = kBusyDefault * static_cast<double>(1 << std::min(request->busy_tries++, 8));
  const double wait_s =
      std::min(kBusyMax, std::max(failure.retry_after_s.value_or(0), grown)) * jitter();
  const std::int64_t at = monotonic_ns() + static_cast<std::int64_t>(wait_s * 1e9);
  if (request->deadline_ns > 0 && at >= request->deadline_ns) return false;
  later_.emplace(at, request);
  return true;
}

void Engine::finish(const RequestPtr& request, Reply reply) {
  if (alive_.erase(request->id) == 0) return;
  if (request->deadline_entry != deadlines_.end()) deadlines_.erase(request->deadline_entry);
  request->deadline_entry = deadlines_.end();
  if (request->given_up) release_behind(request->episode);
  request->done(std::move(reply));
}

RequestPtr Engine::take_waiting(std::int64_t id) {
  for (Channel* channel : {&main_, &control_}) {
    for (auto it = channel->waiting.begin(); it != channel->waiting.end(); ++it) {
      if ((*it)->id != id) continue;
      RequestPtr request = *it;
      channel->waiting.erase(it);
      return request;
    }
  }
  for (auto it = later_.begin(); it != later_.end(); ++it) {
    if (it->second->id != id) continue;
    RequestPtr request = it->second;
    later_.erase(it);
    return request;
  }
  for (auto it = behind_.begin(); it != behind_.end(); ++it) {
    if (it->second->id != id) continue;
    RequestPtr request = it->second;
    behind_.erase(it);
    return request;
  }
  return nullptr;
}

void Engine::expire(Request* expired) {
  const RequestPtr request = alive_.at(expired->id);
  deadlines_.erase(request->deadline_entry);
  request->deadline_entry = deadlines_.end();
  Channel& channel = channel_of(*request);
  const bool sent = channel.in_flight.count(request->id) != 0;
  if (sent && monotonic_ns() < request->deadline_ns + kGrace) {
    request->deadline_entry = deadlines_.emplace(request->deadline_ns + kGrace, request.get());
    return;
  }
  leave(*request);
  static_cast<void>(take_waiting(request->id));
  finish(request, {{},
                   Failure{Code::kDeadlineExceeded,
                           "timeout",
                           subject(*request) + ": no answer within " +
                               std::to_string(static_cast<long>(request->timeout_s * 1000)) +
                               " ms" + where(),
                           true,
                           {}}});
}

/// Abandons a request. If it begins an episode, the client closes the episode when the reply names it.
void Engine::leave(const Request& request) {
  const bool sent = main_.in_flight.erase(request.id) > 0;
  control_.in_flight.erase(request.id);
  if (sent && begins_episode(request.verb)) left_.insert(request.id);
}

/// An episode whose reply no caller received.
void Engine::close_unwanted(const std::string& episode) {
  roster_.remove(episode);
  queue(internal_request("close", Value::map({{"episode", episode}}), [](const Reply&) {}));
}

void Engine::give_up(std::int64_t id) {
  const auto alive = alive_.find(id);
  if (alive == alive_.end()) return;
  const RequestPtr request = alive->second;
  if (take_waiting(id) != nullptr && !request->resent) {
    finish(request, {{},
                     Failure{Code::kCancelled,
                             "cancelled",
                             subject(*request) + ": given up before it was sent",
                             false,
                             {}}});
    return;
  }
  if (request->verb != "step") {
    leave(*request);
    finish(
        request,
        {{}, Failure{Code::kCancelled, "cancelled", subject(*request) + ": given up", false, {}}});
    return;
  }
  if (std::exchange(request->given_up, true)) return;
  ++ending_[request->episode];
  // One that was sent on a connection since lost may be under way on the server as well, but no
  // answer comes here.
  send_cancel(request, main_.in_flight.count(id) == 0);
}

/// Asks the server to end a step that was given up; `ends_it`: the answer to that is the step's end.
/// Rationale: a cancel names a turn, so the episode's next step waits for its answer too, or it might
/// hit that one.
void Engine::send_cancel(const RequestPtr& request, bool ends_it) {
  ++ending_[request->episode];
  const bool was_accepted = request->accepted;
  auto done = [this, request, ends_it, was_accepted](const Reply& reply) {
    const bool found = !reply.ok() || bool_or(reply.body, "cancelled", true);
    if (ends_it) {
      finish(request,
             {{},
              Failure{Code::kCancelled, "cancelled", subject(*request) + ": given up", false, {}}});
    } else if (!found && !was_accepted && main_.in_flight.count(request->id) != 0) {
      // It overtook the step, which is on another connection: again once the server has that.
      if (request->accepted) {
        send_cancel(request, false);
      } else {
        request->cancel_missed = true;
      }
    }
    release_behind(request->episode);
  };
  auto cancel = internal_request(
      "cancel", Value::map({{"episode", request->episode}, {"turn", request->turn}}), done);
  cancel->control = true;
  queue(cancel);
}

void Engine::end_everything() {
  const auto alive = std::exchange(alive_, {});
  for (const auto& [id, request] : alive) {
    request->done({{},
                   Failure{Code::kCancelled,
                           "cancelled",
                           subject(*request) + ": the client was closed",
                           false,
                           {}}});
  }
  run_posted();
  // What was posted in the meantime came too late for the loop above.
  for (const auto& [id, request] : std::exchange(alive_, {})) {
    request->done({{},
                   Failure{Code::kCancelled,
                           "cancelled",
                           subject(*request) + ": the client was closed",
                           false,
                           {}}});
  }
}

}  // namespace hone::inline client_api
