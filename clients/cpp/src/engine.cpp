// The client's thread: connections, greeting, resumption, leases.
#include "engine.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.hpp"
#include "hone/version.h"

namespace hone::inline client_api {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1000 * kMs;
constexpr std::int64_t kReopenMax = 1 * kSecond;
constexpr std::size_t kResumesAtOnce = 256;
constexpr int kMessagesPerTurn = 256;  // so that a flood of replies does not hold up timers

std::int64_t seconds_to_ns(double seconds) {
  return static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e9) * 1e9);
}

// "tcp://0.0.0.0:5918", as a server bound to every address says it, means the host that we already
// reach.
std::string reachable(const std::string& control, const std::string& main) {
  const std::size_t port = control.rfind(':');
  const std::size_t main_port = main.rfind(':');
  for (const char* any : {"tcp://0.0.0.0:", "tcp://*:", "tcp://[::]:"}) {
    if (control.rfind(any, 0) == 0 && main.rfind("tcp://", 0) == 0) {
      return main.substr(0, main_port) + control.substr(port);
    }
  }
  return control;
}

}  // namespace

Engine::Engine(std::string endpoint, ClientOptions options, std::optional<wire::KeyPair> keys)
    : endpoint_(std::move(endpoint)),
      options_(std::move(options)),
      keys_(std::move(keys)),
      pid_(::getpid()) {
  main_.endpoint = endpoint_;
  control_.endpoint = options_.control_endpoint;
}

Result<std::shared_ptr<Engine>> Engine::start(std::string endpoint, ClientOptions options) {
  HONE_ASSIGN(std::optional<wire::KeyPair> keys, read_keys(options));
  std::shared_ptr<Engine> engine(
      new Engine(std::move(endpoint), std::move(options), std::move(keys)));
  engine->wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!engine->wake_) return system_error("eventfd", errno);
  // A first link here, so that a bad endpoint is the caller's error at once.
  HONE_ASSIGN(engine->main_.link, Link::open(engine->context_, engine->endpoint_, engine->keys_));
  engine->enter(engine->main_, State::kConnecting);
  engine->thread_ = std::make_unique<std::thread>(&Engine::run, engine.get());
  return engine;
}

Engine::~Engine() {
  if (forked()) {
    // The thread did not come along, and ZeroMQ must not be touched: leave both to the parent. A
    // thread that is not there can be neither joined nor detached.
    static_cast<void>(thread_.release());
    static_cast<void>(main_.link.release());
    static_cast<void>(control_.link.release());
    context_.abandon();
    return;
  }
  if (thread_ == nullptr) return;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  post([] {});
  thread_->join();
}

bool Engine::forked() const { return ::getpid() != pid_; }

void Engine::post(std::function<void()> work) {
  {
    MutexLock lock(mutex_);
    posted_.push_back(std::move(work));
  }
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_.get(), &one, sizeof one));
}

void Engine::run_posted() {
  std::uint64_t count = 0;
  static_cast<void>(!::read(wake_.get(), &count, sizeof count));
  std::vector<std::function<void()>> posted;
  {
    MutexLock lock(mutex_);
    posted.swap(posted_);
  }
  for (auto& work : posted) work();
}

void Engine::run() {
  while (true) {
    {
      MutexLock lock(mutex_);
      if (stopping_) break;
    }
    run_posted();
    serve(main_);
    serve(control_);
    run_timers();
    flush(main_);
    flush(control_);
    std::vector<Link*> links;
    for (Channel* channel : {&main_, &control_}) {
      if (channel->link) links.push_back(channel->link.get());
    }
    wait_for_links(links, wake_.get(), milliseconds_to_next_timer());
  }
  end_everything();
  main_.link.reset();
  control_.link.reset();
}

Status Engine::wait_until_greeted(double seconds) {
  const std::int64_t end = monotonic_ns() + seconds_to_ns(seconds);
  MutexLock lock(mutex_);
  while (!greeted_) {
    if (fatal_) return fatal_->error().in(endpoint_);
    const std::int64_t left = end - monotonic_ns();
    if (left <= 0) {
      if (!hello_refused_.empty()) return unavailable(hello_refused_).in(endpoint_);
      return unavailable(endpoint_ + ": no hone server answered within " +
                         std::to_string(seconds_to_ns(seconds) / kMs) + " ms; " + why_unanswered());
    }
    greeted_changed_.wait_for(mutex_, std::chrono::nanoseconds(left));
  }
  return {};
}

Value Engine::hello() const {
  if (forked()) return {};  // the thread that holds the mutex may not exist in this process
  MutexLock lock(mutex_);
  return hello_;
}

void Engine::enter(Channel& channel, State state) {
  channel.state = state;
  channel.since_ns = monotonic_ns();
}

void Engine::open(Channel& channel) {
  if (channel.away_ns == 0) channel.away_ns = monotonic_ns();
  auto link = Link::open(context_, channel.endpoint, keys_);
  if (!link) {
    Failure failure{link.error().code, "protocol", link.error().message, false, {}};
    for (const auto& request : std::deque<RequestPtr>(std::exchange(channel.waiting, {})))
      finish(request, {{}, failure});
    return;
  }
  channel.link = std::move(link).value();
  enter(channel, State::kConnecting);
}

/// Takes in what the connection brought: its messages, then its ups and downs, so that a last reply
/// is not lost.
void Engine::serve(Channel& channel) {
  Frames frames;
  for (int i = 0; i < kMessagesPerTurn && channel.link && channel.link->receive(frames); ++i) {
    channel.heard_ns = monotonic_ns();
    auto message = read_reply(std::move(frames));
    if (message) handle(channel, std::move(message).value());
  }
  while (channel.link) {
    const Link::Event event = channel.link->next_event();
    if (event == Link::Event::kNone) break;
    on_link_event(channel, event);
  }
}

void Engine::lose_connection(Channel& channel) {
  channel.link.reset();
  const int shift = std::min(channel.failures++, 10);
  channel.reopen_ns = monotonic_ns() + std::min<std::int64_t>(kReopenMax, (10 * kMs) << shift);
  enter(channel, State::kDown);
  if (&channel == &main_) left_.clear();  // their episodes end with their leases
  auto in_flight = std::exchange(channel.in_flight, {});
  for (auto it = in_flight.rbegin(); it != in_flight.rend(); ++it) {
    const RequestPtr& request = it->second;
    if (request->internal) {
      finish(request,
             {{}, Failure{Code::kUnavailable, "infra", "the connection was lost", true, {}}});
    } else if (request->given_up) {
      send_cancel(request, true);
    } else if (lost_too_often(*request)) {
      finish(request, {{}, always_lost(channel, *request)});
    } else {
      request->resent = true;
      request->accepted = false;
      channel.waiting.push_front(request);
    }
  }
  // The control channel is made anew for whoever wants it next, and counts from then.
  if (&channel == &control_ && channel.waiting.empty()) channel.away_ns = 0;
}

RequestPtr Engine::internal_request(std::string verb, Value body, std::function<void(Reply)> done) {
  auto request = std::make_shared<Request>();
  request->id = next_id();
  request->verb = std::move(verb);
  request->body = std::move(body);
  request->internal = true;
  request->done = std::move(done);
  request->deadline_entry = deadlines_.end();
  alive_[request->id] = request;
  return request;
}

void Engine::greet() {
  enter(main_, State::kGreeting);
  const std::string name = options_.name.empty() ? "hone-cpp/" HONE_VERSION_STRING : options_.name;
  const Value body = Value::map({{"versions", Value::array({wire::kProtocol})}, {"client", name}});
  if (!send(main_, internal_request("hello", body, [this](Reply reply) { on_hello(reply); })))
    lose_connection(main_);
}

void Engine::on_hello(const Reply& reply) {
  if (main_.state != State::kGreeting) return;
  if (!reply.ok()) {
    if (!reply.failure->retryable) return fail_for_good(*reply.failure);
    if (reply.failure->shutting_down) {
      note_shutdown(main_);
    } else {
      main_.away_ns = 0;
    }
    {
      MutexLock lock(mutex_);
      hello_refused_ = reply.failure->message;
    }
    return lose_connection(main_);
  }
  main_.away_ns = 0;
  main_.shutting_down = false;
  if (text_or(reply.body, "version") != wire::kProtocol) {
    return fail_for_good(
        {Code::kInvalidArgument,
         "protocol",
         "hello: found version '" + text_or(reply.body, "version") + "', expected hone/1",
         false,
         {}});
  }
  former_incarnation_ = std::exchange(incarnation_, text_or(reply.body, "incarnation"));
  heartbeat_s_ = std::clamp(number_or(reply.body, "heartbeat_s", 5), 0.1, 3600.0);
  lease_s_ = std::clamp(number_or(reply.body, "lease_s", 60), 0.3, 1e6);
  if (const Value* limits = reply.body.find("limits")) {
    // One place is kept for the client's own pings, which renew leases while the others are taken.
    in_flight_max_ = static_cast<std::size_t>(
        std::max<std::int64_t>(2, int_or(*limits, "in_flight", INT64_MAX)) - 1);
    frame_bytes_max_ = static_cast<std::size_t>(
        std::max<std::int64_t>(1, int_or(*limits, "frame_bytes", INT64_MAX)));
    judged_bytes_max_ = static_cast<std::size_t>(
        std::max({std::int64_t{0}, int_or(*limits, "source_bytes", INT64_MAX),
                  int_or(*limits, "response_bytes", INT64_MAX)}));
  }
  if (options_.control_endpoint.empty()) {
    const std::string control = reachable(text_or(reply.body, "control"), endpoint_);
    if (control != control_.endpoint && control_.link) lose_connection(control_);
    control_.endpoint = control;
  }
  next_beat_ns_ = monotonic_ns() + seconds_to_ns(beat_s());
  {
    MutexLock lock(mutex_);
    hello_ = reply.body;
    greeted_ = true;
    greeted_changed_.notify_all();
  }
  resume_all();
}

void Engine::resume_all() {
  enter(main_, State::kResuming);
  to_resume_.clear();
  for (const auto& [episode, entry] : roster_.open()) to_resume_.emplace_back(episode, entry.token);
  resuming_ = to_resume_.size();
  resume_more();
}

/// As many at once as the server takes from one connection.
void Engine::resume_more() {
  while (!to_resume_.empty() && main_.in_flight.size() < std::min(in_flight_max_, kResumesAtOnce)) {
    const auto [episode, token] = to_resume_.front();
    to_resume_.pop_front();
    const Value body = Value::map({{"episode", episode}, {"token", token}});
    auto done = [this, name = episode](Reply reply) { on_resumed(name, reply); };
    if (!send(main_, internal_request("resume", body, std::move(done)))) {
      return lose_connection(main_);
    }
  }
  if (resuming_ == 0) enter(main_, State::kReady);
}

void Engine::on_resumed(const std::string& episode, const Reply& reply) {
  if (main_.state != State::kResuming) return;
  if (!reply.ok()) {
    // Rationale: a step sent before its episode is resumed would fail for good, so begin again.
    if (reply.failure->retryable) return lose_connection(main_);
    const bool restarted = !former_incarnation_.empty() && former_incarnation_ != incarnation_;
    const std::string message = reply.failure->message;
    roster_.lose(
        episode,
        "episode " + episode + " is lost: " +
            (restarted ? "the server was restarted (incarnation " + former_incarnation_ + ", now " +
                             incarnation_ + ") and says: " + message
                       : "while the connection was down the server let it go (" + message + ")"));
  }
  --resuming_;
  resume_more();
}

/// Pings at every heartbeat, and names the episodes whose leases would otherwise run low.
void Engine::renew_leases(std::int64_t now) {
  next_beat_ns_ = now + seconds_to_ns(beat_s());
  const auto due = roster_.due(now, seconds_to_ns(lease_s_ / 3));
  Value body = Value::map();
  if (!due.empty()) {
    Value names = Value::array();
    for (const auto& name : due) names.push(name);
    body.set("episodes", std::move(names));
  }
  send(main_, internal_request("ping", body, [](Reply) {}));
}

std::string Engine::where() const {
  switch (main_.state) {
    case State::kDown:
    case State::kConnecting:
      return " (not connected to " + endpoint_ + ")";
    case State::kGreeting:
    case State::kResuming:
      return " (connecting again to " + endpoint_ + ")";
    case State::kLeaving:
      return " (the server at " + endpoint_ + " is shutting down)";
    case State::kReady:
    case State::kFailed:
      return "";
  }
  return "";
}

long Engine::milliseconds_to_next_timer() const {
  std::int64_t next = monotonic_ns() + kSecond;
  if (!deadlines_.empty()) next = std::min(next, deadlines_.begin()->first);
  if (!later_.empty()) next = std::min(next, later_.begin()->first);
  if (beats()) next = std::min(next, next_beat_ns_);
  for (const Channel* channel : {&main_, &control_}) {
    // The control channel stays down until somebody wants it: nothing is due there before.
    if (channel->state == State::kDown && (channel == &main_ || !channel->waiting.empty()))
      next = std::min(next, channel->reopen_ns);
    if (!channel->waiting.empty()) next = std::min(next, given_up_at(*channel));
  }
  return std::max(0L, static_cast<long>((next - monotonic_ns() + kMs - 1) / kMs));
}

void Engine::run_timers() {
  const std::int64_t now = monotonic_ns();
  while (!deadlines_.empty() && deadlines_.begin()->first <= now)
    expire(deadlines_.begin()->second);
  while (!later_.empty() && later_.begin()->first <= now) {
    RequestPtr request = later_.begin()->second;
    later_.erase(later_.begin());
    queue(request);
  }
  if (main_.state == State::kDown && main_.reopen_ns <= now) open(main_);
  if (control_.state == State::kDown && control_.reopen_ns <= now && !control_.waiting.empty())
    open(control_);
  for (Channel* channel : {&main_, &control_}) {
    if (given_up_at(*channel) <= now) fail_without_server(*channel, now);
    if (has_left(*channel)) lose_connection(*channel);
  }
  if (beats() && next_beat_ns_ <= now) renew_leases(now);
  // A connection that is up and says nothing, though every heartbeat asks: half-open.
  const bool greeted =
      main_.state == State::kGreeting || main_.state == State::kResuming || beats();
  const std::int64_t patience = seconds_to_ns(std::max(3 * heartbeat_s_, 3.0));
  if (greeted && now - std::max(main_.heard_ns, main_.since_ns) > patience) lose_connection(main_);
}

}  // namespace hone::inline client_api
