// One connection and its requests.
#include "channel.hpp"

#include <algorithm>

#include "wire/message.hpp"

namespace hone::inline client_api {
namespace {

constexpr std::int64_t kRetryFirst = 10 * kNsPerMs;
constexpr std::int64_t kRetryMax = 1000 * kNsPerMs;
constexpr std::int64_t kDeadlineMsMax = 24LL * 3600 * 1000;
constexpr std::int64_t kDrainMsMax = 3600LL * 1000;  // the largest server.drain_s

}  // namespace

bool Channel::is_connected() const {
  return state_ == State::kGreeting || state_ == State::kResuming || serves();
}

void Channel::connect(std::unique_ptr<Link> link, std::int64_t now_ns) {
  link_ = std::move(link);
  enter(State::kConnecting, now_ns);
}

void Channel::enter(State state, std::int64_t now_ns) {
  state_ = state;
  since_ns_ = now_ns;
}

std::vector<RequestPtr> Channel::lose(std::int64_t now_ns) {
  link_.reset();
  const int shift = std::min(failures_++, 10);
  retry_ns_ = now_ns + std::min(kRetryMax, kRetryFirst << shift);
  enter(State::kDown, now_ns);
  std::vector<RequestPtr> lost;
  for (auto it = in_flight_.rbegin(); it != in_flight_.rend(); ++it) lost.push_back(it->second);
  in_flight_.clear();
  return lost;
}

void Channel::fail(std::int64_t now_ns) {
  link_.reset();
  enter(State::kFailed, now_ns);
}

void Channel::note_away(std::int64_t now_ns) {
  if (away_ns_ == 0) away_ns_ = now_ns;
}

void Channel::note_shutdown(std::int64_t now_ns, std::int64_t drain_ms) {
  shutting_down_ = true;
  drained_ns_ = now_ns + std::clamp<std::int64_t>(drain_ms, 0, kDrainMsMax) * kNsPerMs;
  note_away(now_ns);
  if (state_ == State::kReady) enter(State::kLeaving, now_ns);
}

void Channel::note_next_server() {
  shutting_down_ = false;
  drained_ns_ = 0;
}

/// Rationale: a request that comes while no server is there waits as long as others. If it failed at once, a caller that tries
/// again would go through all its tasks in a moment.
std::int64_t Channel::waits_since_ns(const Request& request) const {
  return away_ns_ == 0 ? 0 : std::max(away_ns_, request.asked_ns);
}

std::int64_t Channel::given_up_ns(const Request& request, double limit_s) const {
  if (away_ns_ == 0 || !(limit_s > 0) || limit_s > 1e9) return INT64_MAX;
  // The next server cannot start before this one has ended.
  return std::max(waits_since_ns(request), drained_ns_) + static_cast<std::int64_t>(limit_s * 1e9);
}

std::int64_t Channel::next_given_up_ns(double limit_s) const {
  std::int64_t next = INT64_MAX;
  if (away_ns_ == 0) return next;
  for (const RequestPtr& one : waiting_) next = std::min(next, given_up_ns(*one, limit_s));
  return next;
}

std::optional<ServerWait> Channel::longest_wait(double limit_s) const {
  std::optional<ServerWait> longest;
  if (away_ns_ == 0) return longest;
  for (const RequestPtr& one : waiting_) {
    const std::int64_t since_ns = waits_since_ns(*one);
    if (!longest || since_ns < longest->since_ns) longest = {since_ns, given_up_ns(*one, limit_s)};
  }
  return longest;
}

std::deque<RequestPtr> Channel::take_given_up(double limit_s, std::int64_t now_ns) {
  std::deque<RequestPtr> taken, kept;
  if (next_given_up_ns(limit_s) > now_ns) return taken;
  for (RequestPtr& one : waiting_)
    (given_up_ns(*one, limit_s) <= now_ns ? taken : kept).push_back(std::move(one));
  waiting_ = std::move(kept);
  return taken;
}

bool Channel::is_silent(std::int64_t now_ns, std::int64_t patience_ns) const {
  return is_connected() && now_ns - std::max(heard_ns_, since_ns_) > patience_ns;
}

bool Channel::has_left() const {
  return state_ == State::kLeaving &&
         std::all_of(in_flight_.begin(), in_flight_.end(),
                     [](const auto& entry) { return entry.second->internal; });
}

void Channel::add_by_id(const RequestPtr& request) {
  const auto later = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const RequestPtr& one) { return one->id > request->id; });
  waiting_.insert(later, request);
}

RequestPtr Channel::take_waiting(std::int64_t id) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [id](const RequestPtr& one) { return one->id == id; });
  if (found == waiting_.end()) return nullptr;
  RequestPtr request = *found;
  waiting_.erase(found);
  return request;
}

RequestPtr Channel::find_in_flight(std::int64_t id) const {
  const auto found = in_flight_.find(id);
  return found == in_flight_.end() ? nullptr : found->second;
}

bool Channel::send(const RequestPtr& request, std::int64_t now_ns) {
  wire::Request message{request->verb, request->id, {}, request->body, request->buffers};
  if (request->deadline_ns > 0) {
    message.deadline_ms =
        std::clamp<std::int64_t>((request->deadline_ns - now_ns) / kNsPerMs, 1, kDeadlineMsMax);
  }
  if (!link_ || !link_->send(wire::encode_request(message))) return false;
  in_flight_[request->id] = request;
  return true;
}

}  // namespace hone::inline client_api
