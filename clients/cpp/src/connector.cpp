// Connections: handshake, hello, resumption, leases, heartbeats, reconnects.
#include "connector.hpp"

#include <algorithm>
#include <bit>

#include "base/clock.hpp"
#include "greeting.hpp"
#include "hone/version.h"

namespace hone::inline client_api {
namespace {

using State = Channel::State;

constexpr std::size_t kResumesAtOnce = 256;
constexpr int kMessagesPerTurn = 256;  // so that a flood of replies does not hold up timers
constexpr int kGreetingMs = 500;       // while the client's thread does nothing else

std::int64_t seconds_to_ns(double seconds) {
  return static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e9) * 1e9);
}

// "tcp://0.0.0.0:5918", as a server bound to every address says it, means the host that we already
// reach.
std::string reachable(const std::string& control, const std::string& main) {
  const std::size_t port = control.rfind(':');
  const std::size_t main_port = main.rfind(':');
  for (const char* any : {"tcp://0.0.0.0:", "tcp://*:", "tcp://[::]:"}) {
    if (control.starts_with(any) && main.starts_with("tcp://"))
      return main.substr(0, main_port) + control.substr(port);
  }
  return control;
}

}  // namespace

Connector::Connector(const ClientOptions& options, bool has_keys, OpenLink open_link,
                     Connection& connection, ConnectStatus& status, RequestFlow& flow)
    : options_(options),
      has_keys_(has_keys),
      open_link_(std::move(open_link)),
      connection_(connection),
      status_(status),
      flow_(flow) {}

Status Connector::open_main() {
  HONE_ASSIGN(auto link, open_link_(connection_.main.endpoint()));
  connection_.main.connect(std::move(link), monotonic_ns());
  return {};
}

std::vector<Link*> Connector::links() const {
  std::vector<Link*> links;
  for (Channel* channel : connection_.channels()) {
    if (channel->link() != nullptr) links.push_back(channel->link());
  }
  return links;
}

void Connector::open(Channel& channel) {
  channel.note_away(monotonic_ns());
  auto link = open_link_(channel.endpoint());
  if (!link)
    return flow_.fail_waiting(channel, protocol_failure(link.error().code, link.error().message));
  channel.connect(std::move(link).value(), monotonic_ns());
}

void Connector::open_wanted() {
  Channel& control = connection_.control;
  if (control.state() == State::kDown && !control.waiting().empty() &&
      control.retry_ns() <= monotonic_ns())
    open(control);
}

void Connector::serve() {
  serve(connection_.main);
  serve(connection_.control);
}

/// Handles a connection's messages and then its events, so that a last reply is not lost when it ends.
void Connector::serve(Channel& channel) {
  Frames frames;
  for (int i = 0;
       i < kMessagesPerTurn && channel.link() != nullptr && channel.link()->receive(frames); ++i) {
    channel.note_heard(monotonic_ns());
    auto message = read_reply(std::move(frames));
    if (message) flow_.handle(channel, std::move(message).value());
  }
  while (channel.link() != nullptr) {
    const Link::Event event = channel.link()->next_event();
    if (event == Link::Event::kNone) break;
    on_link_event(channel, event);
  }
}

void Connector::lose(Channel& channel) {
  flow_.on_connection_lost(channel, channel.lose(monotonic_ns()));
  // The control channel connects again for the next request that needs it. The time limit counts from then.
  if (&channel == &connection_.control && channel.waiting().empty()) channel.note_present();
}

void Connector::on_link_event(Channel& channel, Link::Event event) {
  switch (event) {
    case Link::Event::kNone:
      return;
    case Link::Event::kUp:
      if (&channel == &connection_.main) return greet();
      channel.note_present();
      return channel.enter(State::kReady, monotonic_ns());
    case Link::Event::kHandshakeFailed:
      if (wants_another_mechanism(channel)) return refused(channel, Link::Event::kOtherMechanism);
      break;
    case Link::Event::kKeyRefused:
    case Link::Event::kOtherMechanism:
      return refused(channel, event);
    case Link::Event::kUnresolved:
    case Link::Event::kUnanswered:
      return status_.set_unresolved(event == Link::Event::kUnresolved);
    case Link::Event::kDown:
      break;
  }
  lose(channel);
}

/// Whether the server uses another security mechanism. Checked at failures 1, 2, 4, 8, …
bool Connector::wants_another_mechanism(const Channel& channel) {
  if (!std::has_single_bit(status_.count_failed_handshake())) return false;
  const std::string mechanism = mechanism_of(channel.endpoint(), kGreetingMs);
  return !mechanism.empty() && mechanism != (has_keys_ ? "CURVE" : "NULL");
}

/// Fails for good: a retry cannot help until a key or a configuration changes.
void Connector::refused(Channel& channel, Link::Event event) {
  lose(channel);
  Failure failure = protocol_failure(Code::kFailedPrecondition, "");
  if (event == Link::Event::kKeyRefused) {
    failure.message =
        "the server refused this client's key: it is not in the server's allow-list, or was "
        "revoked; "
        "check it there with `hone keys list`";
  } else {
    failure.message = has_keys_
                          ? "the server runs without keys, but this client has one; remove it, "
                            "or start the server with --keys"
                          : "the server requires a key, but this client has none; create one "
                            "with `hone keys new NAME`; for a fleet on Ray, get it with `python -m "
                            "hone.fleet key --to FILE`";
  }
  if (&channel == &connection_.main) return fail_for_good(failure);
  flow_.fail_waiting(channel, failure);
}

void Connector::fail_for_good(const Failure& failure) {
  status_.set_fatal(failure);
  connection_.main.fail(monotonic_ns());
  flow_.fail_waiting(connection_.main, failure);
}

void Connector::greet() {
  Channel& main = connection_.main;
  main.enter(State::kGreeting, monotonic_ns());
  const std::string name = options_.name.empty() ? "hone-cpp/" HONE_VERSION_STRING : options_.name;
  const Value body = Value::map({{"versions", Value::array({wire::kProtocol})}, {"client", name}});
  auto done = [this](Reply reply) { on_hello(reply); };
  if (!main.send(flow_.make_internal("hello", body, std::move(done)), monotonic_ns())) lose(main);
}

void Connector::on_hello(const Reply& reply) {
  Channel& main = connection_.main;
  if (main.state() != State::kGreeting) return;
  if (!reply.ok()) {
    if (!reply.failure->retryable) return fail_for_good(*reply.failure);
    if (reply.failure->shutting_down) {
      main.note_shutdown(monotonic_ns(), reply.failure->drain_ms);
    } else {
      main.note_present();
    }
    status_.set_refused(reply.failure->message);
    return lose(main);
  }
  main.note_present();
  main.note_next_server();
  if (const std::string version = text_or(reply.body, "version"); version != wire::kProtocol) {
    return fail_for_good(protocol_failure(
        Code::kInvalidArgument, "hello: found version '" + version + "', expected hone/1"));
  }
  adopt(reply.body);
  status_.set_greeted(reply.body);
  resume_all();
}

void Connector::adopt(const Value& hello) {
  former_incarnation_ = connection_.terms.incarnation;
  connection_.terms = read_terms(hello, connection_.terms);
  if (options_.control_endpoint.empty()) {
    Channel& control = connection_.control;
    const std::string endpoint = reachable(text_or(hello, "control"), connection_.main.endpoint());
    if (endpoint != control.endpoint() && control.link() != nullptr) lose(control);
    control.set_endpoint(endpoint);
  }
  next_beat_ns_ = monotonic_ns() + seconds_to_ns(connection_.terms.beat_s());
}

void Connector::resume_all() {
  connection_.main.enter(State::kResuming, monotonic_ns());
  to_resume_.clear();
  for (const auto& [episode, entry] : connection_.roster.open())
    to_resume_.emplace_back(episode, entry.token);
  resuming_ = to_resume_.size();
  resume_more();
}

/// Sends as many at once as the server allows in flight on one connection.
void Connector::resume_more() {
  Channel& main = connection_.main;
  const std::size_t at_once = std::min(connection_.terms.in_flight_max, kResumesAtOnce);
  while (!to_resume_.empty() && main.in_flight_count() < at_once) {
    const auto [episode, token] = to_resume_.front();
    to_resume_.pop_front();
    const Value body = Value::map({{"episode", episode}, {"token", token}});
    auto done = [this, name = episode](Reply reply) { on_resumed(name, reply); };
    if (!main.send(flow_.make_internal("resume", body, std::move(done)), monotonic_ns()))
      return lose(main);
  }
  if (resuming_ == 0) main.enter(State::kReady, monotonic_ns());
}

void Connector::on_resumed(const std::string& episode, const Reply& reply) {
  if (connection_.main.state() != State::kResuming) return;
  if (!reply.ok()) {
    // Rationale: a step sent before its episode is resumed would fail for good, so begin again.
    if (reply.failure->retryable) return lose(connection_.main);
    const std::string& incarnation = connection_.terms.incarnation;
    const bool restarted = !former_incarnation_.empty() && former_incarnation_ != incarnation;
    const std::string message = reply.failure->message;
    connection_.roster.lose(
        episode,
        "episode " + episode + " is lost: " +
            (restarted ? "the server was restarted (incarnation " + former_incarnation_ + ", now " +
                             incarnation + ") and says: " + message
                       : "while the connection was down the server let it go (" + message + ")"));
  }
  --resuming_;
  resume_more();
}

/// Pings at every heartbeat, and names the episodes whose leases would otherwise run low.
void Connector::renew_leases(std::int64_t now_ns) {
  const ServerTerms& terms = connection_.terms;
  next_beat_ns_ = now_ns + seconds_to_ns(terms.beat_s());
  const auto due = connection_.roster.due(now_ns, seconds_to_ns(terms.lease_s / 3));
  Value body = Value::map();
  if (!due.empty()) {
    Value names = Value::array();
    for (const auto& name : due) names.push(name);
    body.set("episodes", std::move(names));
  }
  static_cast<void>(
      connection_.main.send(flow_.make_internal("ping", body, [](const Reply&) {}), now_ns));
}

std::int64_t Connector::next_ns() const {
  const Channel &main = connection_.main, &control = connection_.control;
  std::int64_t next = main.serves() ? next_beat_ns_ : INT64_MAX;
  if (main.state() == State::kDown) next = std::min(next, main.retry_ns());
  // The control channel stays down until a request waits for it.
  if (control.state() == State::kDown && !control.waiting().empty())
    next = std::min(next, control.retry_ns());
  for (const Channel* channel : {&main, &control})
    next = std::min(next, channel->next_given_up_ns(options_.reconnect_timeout_s));
  return next;
}

void Connector::run_timers(std::int64_t now_ns) {
  Channel& main = connection_.main;
  if (main.state() == State::kDown && main.retry_ns() <= now_ns) open(main);
  open_wanted();
  for (Channel* channel : connection_.channels()) {
    flow_.fail_without_server(*channel, now_ns);
    if (channel->has_left()) lose(*channel);
  }
  if (main.serves() && next_beat_ns_ <= now_ns) renew_leases(now_ns);
  // A connection that is up and says nothing, though every heartbeat asks: half-open.
  if (main.is_silent(now_ns, seconds_to_ns(std::max(3 * connection_.terms.heartbeat_s, 3.0))))
    lose(main);
}

}  // namespace hone::inline client_api
