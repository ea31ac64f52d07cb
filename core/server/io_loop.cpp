// The loop of the I/O thread: order of reads, timeouts, shutdown.
#include "server/io_loop.hpp"

#include <algorithm>
#include <set>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "base/log.hpp"
#include "server/endpoint.hpp"
#include "server/keys.hpp"

namespace hone {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
// Rationale: the control socket and the queue are polled between batches, so the batch size bounds their delay.
constexpr std::size_t kBatch = 64;
constexpr std::int64_t kRetryNs = 5'000'000;  // for connections that do not read

Result<std::string> listen_on(Socket& socket, const std::string& wanted, bool guarded) {
  HONE_ASSIGN(const std::string place, prepare_endpoint(wanted, guarded));
  HONE_ASSIGN(std::string bound, socket.bind(place));
  HONE_TRY(seal_endpoint(bound));
  return bound;
}

/// A progress message is useless if the reply to its request follows in the same batch.
bool outdated(const std::vector<Event>& events, std::size_t index) {
  constexpr std::size_t kLookAhead = 8;
  if (events[index].last) return false;
  const std::size_t end = std::min(events.size(), index + 1 + kLookAhead);
  for (std::size_t i = index + 1; i < end; ++i) {
    if (events[i].last && events[i].serial == events[index].serial) return true;
  }
  return false;
}

}  // namespace

IoLoop::IoLoop(ServerOptions options, EpisodeService& service, std::shared_ptr<EventQueue> events)
    : options_(std::move(options)),
      service_(service),
      incarnation_(random_hex(8)),
      started_ns_(monotonic_ns()),
      events_(std::move(events)),
      workers_(options_.workers, options_.queue_max) {}

Result<std::unique_ptr<IoLoop>> IoLoop::open(ServerOptions options, EpisodeService& service,
                                             SocketContext& context) {
  HONE_ASSERT(options.workers > 0 && options.queue_max > 0 && options.hwm > 0);
  HONE_ASSIGN(auto events, EventQueue::create());
  std::unique_ptr<IoLoop> loop(new IoLoop(std::move(options), service, std::move(events)));
  HONE_TRY(loop->listen(context));
  loop->check_health();
  return loop;
}

Status IoLoop::listen(SocketContext& context) {
  const bool guarded = !options_.keys.empty();
  const auto chosen = [guarded](auto given, auto with_keys, auto without) {
    return given != 0 ? given : guarded ? with_keys : without;
  };
  SocketOptions socket_options{
      .frame_bytes_max = options_.limits.frame_bytes_max,
      .hwm = options_.hwm,
      .linger_ms = static_cast<int>(options_.linger_s * 1000),
      .heartbeat_s = options_.heartbeat_s,
      .handshake_ms = chosen(options_.handshake_ms, 5000, 30'000),
  };
  if (guarded) {
    const KeyFolder folder{options_.keys};
    HONE_ASSIGN(socket_options.curve, read_server_key(folder));
    HONE_ASSIGN(allowed_, AllowList::open(folder.clients()));
    allowed_generation_ = allowed_->generation();
    server_key_ = socket_options.curve->public_key;
  }
  const std::size_t silent_max =
      chosen(options_.strangers_max, std::size_t{256}, std::size_t{8192});
  HONE_ASSIGN(keeper_, Doorkeeper::create(context, allowed_, {options_.sockets_max, silent_max}));
  log_info("server", "connections: at most " + keeper_->limit_text());
  Socket main = Socket::router(context, socket_options);
  HONE_TRY(keeper_->watch(context, main));
  std::optional<Socket> control;
  if (!options_.control_endpoint.empty()) {
    control = Socket::router(context, socket_options);
    HONE_TRY(keeper_->watch(context, *control));
  }
  keeper_->start();
  HONE_ASSIGN(endpoint_, listen_on(main, options_.endpoint, guarded));
  main_ = std::make_unique<Peers>(Door::kMain, std::move(main), options_, incarnation_ + "-m",
                                  metrics_, allowed_);
  if (!control) return {};
  HONE_ASSIGN(control_endpoint_, listen_on(*control, options_.control_endpoint, guarded));
  control_ = std::make_unique<Peers>(Door::kControl, std::move(*control), options_,
                                     incarnation_ + "-c", metrics_, allowed_);
  return {};
}

void IoLoop::drain(std::int64_t limit_ns) {
  drain_limit_ns_.store(std::max<std::int64_t>(limit_ns, 1), std::memory_order_release);
  events_->wake();
}

void IoLoop::run() {
  events_->adopt();
  std::vector<Socket*> sockets{&main_->socket()};
  if (control_) sockets.push_back(&control_->socket());
  std::int64_t now_ns = monotonic_ns();
  reap_at_ns_ = now_ns + static_cast<std::int64_t>(options_.reap_interval_s * kSecondNs);
  bool idle = true;
  for (;;) {
    if (idle) wait_readable(sockets, events_->fd(), wait_ms(now_ns));
    take_events();
    std::size_t messages = control_ ? read(*control_, kBatch) : 0;
    messages += read(*main_, kBatch);
    idle = messages == 0;
    now_ns = monotonic_ns();
    main_->flush(now_ns);
    if (control_) control_->flush(now_ns);
    keep_time(now_ns);
    if (!draining_ && drain_limit_ns_.load(std::memory_order_acquire) != 0) start_draining();
    if (draining_ && drained(now_ns, idle)) break;
  }
  flush_at_end();
  events_->close();
  main_.reset();
  control_.reset();
  keeper_->stop();
}

std::size_t IoLoop::read(Peers& peers, std::size_t messages_max) {
  const wire::Limits& limits = options_.limits;
  std::string routing_id, key;
  wire::Incoming message;
  for (std::size_t n = 0; n < messages_max; ++n) {
    if (!peers.socket().receive(routing_id, message, limits.frames_max, limits.message_bytes_max,
                                key)) {
      return n;
    }
    if (n == 0) refresh_allow_list();
    metrics_.received(message.bytes);
    handle(peers, routing_id, key, std::move(message));
    take_events();
  }
  return messages_max;
}

/// Called after messages are read and before they are handled, so that messages sent after a revocation are refused. Costs one stat() per batch.
void IoLoop::refresh_allow_list() {
  if (allowed_ == nullptr) return;
  allowed_->refresh();
  if (allowed_->generation() == allowed_generation_) return;
  allowed_generation_ = allowed_->generation();
  main_->look_up_again();
  if (control_) control_->look_up_again();
}

void IoLoop::take_events() {
  events_->take(taken_);
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    if (!outdated(taken_, i)) handle_event(std::move(taken_[i]));
  }
  taken_.clear();
}

long IoLoop::wait_ms(std::int64_t now_ns) const {
  std::int64_t until_ns = reap_at_ns_;
  if (!overdue_.empty()) until_ns = std::min(until_ns, overdue_.begin()->first.first);
  const bool waiting = main_->has_waiting() || (control_ && control_->has_waiting());
  // The service may still work on steps without a waiting client. These do not wake this thread, so it polls.
  if (waiting || draining_) until_ns = std::min(until_ns, now_ns + kRetryNs);
  if (until_ns <= now_ns) return 0;
  return static_cast<long>((until_ns - now_ns + 999'999) / 1'000'000);
}

void IoLoop::keep_time(std::int64_t now_ns) {
  end_overdue(now_ns);
  if (now_ns < reap_at_ns_) return;
  reap_at_ns_ = now_ns + static_cast<std::int64_t>(options_.reap_interval_s * kSecondNs);
  main_->expire(now_ns);
  if (control_) control_->expire(now_ns);
  drop_steps_of_disconnected(now_ns);
  if (reaping_.exchange(true)) return;
  const bool taken = workers_.submit([this] {
    reaped_ += service_.reap();
    check_health();
    reaping_ = false;
  });
  if (!taken) reaping_ = false;
}

void IoLoop::check_health() {
  if (!options_.problems) return;
  std::vector<std::string> found = options_.problems();
  MutexLock lock(problems_mutex_);
  for (const std::string& one : found) {
    if (std::find(problems_.begin(), problems_.end(), one) == problems_.end())
      log_error("server", one);
  }
  problems_ = std::move(found);
}

/// Cancels the steps of lost connections.
/// Rationale: ZeroMQ reports the end of a connection, but not its routing id. A message to it fails, however. So after each report, the server repeats the progress message to each client with a step in flight. It does so for a while, because the report may come before ZeroMQ refuses messages.
void IoLoop::drop_steps_of_disconnected(std::int64_t now_ns) {
  constexpr std::int64_t kProbeNs = 3'000'000'000;
  const std::uint64_t disconnected = keeper_->counts().disconnected;
  if (std::exchange(disconnected_count_, disconnected) != disconnected)
    probe_until_ns_ = now_ns + kProbeNs;
  const bool probing = now_ns < probe_until_ns_;
  std::vector<std::shared_ptr<Peer>> left;
  main_->each([&](const std::shared_ptr<Peer>& peer) {
    if (peer->in_flight.empty() || peer->steps_dropped) return;
    if (probing && peer->disconnected_ns == 0) probe(peer);
    const double gone_s = static_cast<double>(now_ns - peer->disconnected_ns) * 1e-9;
    if (peer->disconnected_ns != 0 && gone_s >= options_.disconnect_grace_s) left.push_back(peer);
  });
  if (left.empty()) return;
  std::set<std::string> connections;
  for (const auto& peer : left) connections.insert(peer->caller.connection);
  const bool taken = workers_.submit([this, connections] {
    const std::size_t steps = service_.leave(connections);
    steps_dropped_ += steps;
    if (steps == 0) return;
    log_info("server", std::to_string(steps) + " steps dropped: their " +
                           std::to_string(connections.size()) + " connections were lost");
  });
  for (const auto& peer : left) peer->steps_dropped = taken;
}

void IoLoop::probe(const std::shared_ptr<Peer>& peer) {
  for (const auto& [id, request] : peer->in_flight) {
    if (request.verb != Verb::kStep || !request.accepted) continue;
    const std::string stage =
        request.progress.empty() ? to_msgpack(Value::map({{"stage", "queued"}})) : request.progress;
    return main_->send(peer,
                       wire::encode_reply({wire::ReplyKind::kProgress, id, "step", stage, {}}));
  }
}

/// Rationale: the sockets stay bound, because ZeroMQ's unbind would also close the existing connections, which wait for replies. dispatch.cpp refuses new connections.
void IoLoop::start_draining() {
  draining_ = true;
  draining_since_ns_ = monotonic_ns();
  log_info("server", "shutting down: " + std::to_string(in_flight_) + " requests are in flight");
  service_.refuse_new_work();
}

bool IoLoop::drained(std::int64_t now_ns, bool idle) {
  const bool waiting = main_->has_waiting() || (control_ && control_->has_waiting());
  if (idle && in_flight_ == 0 && !waiting && service_.pending() == 0) return true;
  if (now_ns < drain_limit_ns_.load(std::memory_order_acquire)) return false;
  abort_requests();
  return true;
}

/// After the time limit: answers all waiting requests with an error.
void IoLoop::abort_requests() {
  const std::size_t open = in_flight_;
  if (open > 0 || service_.pending() > 0) clean_ = false;
  if (open > 0)
    log_warning("server", std::to_string(open) + " requests are aborted after the time limit");
  const auto end_all = [this](const std::shared_ptr<Peer>& peer) {
    const auto requests = peer->in_flight;
    for (const auto& [id, request] : requests) {
      finish(peer, id, request.serial,
             unavailable(
                 "the server shut down before the request was done; a turn in flight stays open"));
    }
  };
  main_->each(end_all);
  if (control_) control_->each(end_all);
}

/// Gives slow readers `linger_s` to read queued replies. ZeroMQ does the same for its own queues.
void IoLoop::flush_at_end() {
  const std::int64_t until_ns =
      monotonic_ns() + static_cast<std::int64_t>(options_.linger_s * kSecondNs);
  const auto waiting = [this] {
    return main_->has_waiting() || (control_ && control_->has_waiting());
  };
  while (waiting() && monotonic_ns() < until_ns) {
    wait_readable({}, events_->fd(), kRetryNs / 1'000'000);
    take_events();
    main_->flush(monotonic_ns());
    if (control_) control_->flush(monotonic_ns());
  }
  if (waiting()) clean_ = false;
}

}  // namespace hone
