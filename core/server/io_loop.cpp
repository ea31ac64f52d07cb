// The loop of the I/O thread: order of reads, timeouts, shutdown.
#include "server/io_loop.hpp"

#include <algorithm>
#include <vector>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "base/log.hpp"

namespace hone {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
// Rationale: the control socket and the queue are polled between batches, so the batch size bounds their delay.
constexpr std::size_t kBatch = 64;
constexpr std::int64_t kRetryNs = 5'000'000;  // for connections that do not read
constexpr std::int64_t kRetryAfterMsMax = 5000;

}  // namespace

IoLoop::IoLoop(ServerOptions options, EpisodeService& service, std::shared_ptr<EventQueue> events)
    : options_(std::move(options)),
      service_(service),
      started_ns_(monotonic_ns()),
      events_(std::move(events)),
      doors_(options_, random_hex(8), metrics_),
      replies_(doors_, requests_, metrics_, shutdown_, events_,
               [this] { return retry_after_ms(); }),
      status_(options_, service_, doors_, metrics_, shutdown_, [this] { return gauges(); }),
      admission_(options_, doors_, requests_, replies_, metrics_, shutdown_),
      dispatcher_(options_, service_, replies_, status_, workers_),
      lost_(options_, service_, doors_, status_, workers_),
      workers_(options_.workers, options_.queue_max) {}

Result<std::unique_ptr<IoLoop>> IoLoop::open(ServerOptions options, EpisodeService& service,
                                             SocketContext& context) {
  HONE_ASSERT(options.workers > 0 && options.queue_max > 0 && options.hwm > 0);
  HONE_ASSIGN(auto events, EventQueue::create());
  std::unique_ptr<IoLoop> loop(new IoLoop(std::move(options), service, std::move(events)));
  HONE_TRY(loop->doors_.listen(context));
  loop->status_.check_problems();
  return loop;
}

void IoLoop::drain(std::int64_t limit_ns) {
  shutdown_.request(limit_ns);
  events_->wake();
}

void IoLoop::reload_keys() {
  reload_ = true;
  events_->wake();
}

void IoLoop::run() {
  events_->adopt();
  const std::vector<Peers*> all = doors_.all();
  const std::vector<Socket*> sockets = doors_.sockets();
  std::int64_t now_ns = monotonic_ns();
  reap_at_ns_ = now_ns + static_cast<std::int64_t>(options_.reap_interval_s * kSecondNs);
  bool idle = true;
  for (;;) {
    if (idle) wait_readable(sockets, events_->fd(), wait_ms(now_ns));
    replies_.send_ready();
    std::size_t messages = 0;
    for (Peers* peers : all) messages += read(*peers);
    idle = messages == 0;
    now_ns = monotonic_ns();
    doors_.flush(now_ns);
    keep_time(now_ns);
    if (reload_.exchange(false)) doors_.reload_allow_list();
    if (!shutdown_.has_begun() && shutdown_.is_requested()) start_draining();
    if (shutdown_.has_begun() && drained(now_ns, idle)) break;
  }
  flush_at_end();
  events_->close();
  doors_.close();
}

std::size_t IoLoop::read(Peers& peers) {
  const wire::Limits& limits = options_.limits;
  std::string routing_id, key;
  wire::Incoming message;
  for (std::size_t n = 0; n < kBatch; ++n) {
    if (!peers.socket().receive(routing_id, message, limits.frames_max, limits.message_bytes_max,
                                key)) {
      return n;
    }
    // Between reading and serving, so that messages sent after a revocation are refused.
    if (n == 0) doors_.refresh_allow_list();
    metrics_.received(message.bytes);
    if (auto call = admission_.admit(peers, routing_id, key, std::move(message)))
      dispatcher_.serve(*call);
    replies_.send_ready();
  }
  return kBatch;
}

long IoLoop::wait_ms(std::int64_t now_ns) const {
  std::int64_t until_ns = std::min(reap_at_ns_, requests_.next_overdue_ns());
  // The service may still work on steps without a waiting client. These do not wake this thread, so it polls.
  if (doors_.has_waiting() || shutdown_.has_begun())
    until_ns = std::min(until_ns, now_ns + kRetryNs);
  if (until_ns <= now_ns) return 0;
  return static_cast<long>((until_ns - now_ns + 999'999) / 1'000'000);
}

void IoLoop::keep_time(std::int64_t now_ns) {
  replies_.end_overdue(now_ns);
  if (now_ns < reap_at_ns_) return;
  reap_at_ns_ = now_ns + static_cast<std::int64_t>(options_.reap_interval_s * kSecondNs);
  doors_.expire(now_ns);
  lost_.drop_steps(now_ns);
  if (reaping_.exchange(true)) return;
  // Clients of a server that shuts down cannot renew leases, which the next server starts again.
  const bool taken = workers_.submit([this, reaps = !shutdown_.has_begun()] {
    if (reaps) status_.count_reaped(service_.reap());
    status_.check_problems();
    reaping_ = false;
  });
  if (!taken) reaping_ = false;
}

/// Rationale: the sockets stay bound, because ZeroMQ's unbind would also close the existing connections, which wait for replies. Admission refuses new connections.
void IoLoop::start_draining() {
  shutdown_.begin(monotonic_ns());
  log_info("server",
           "shutting down: " + std::to_string(requests_.count()) + " requests are in flight");
  service_.refuse_new_work();
  replies_.announce_shutdown();
}

bool IoLoop::drained(std::int64_t now_ns, bool idle) {
  if (idle && requests_.count() == 0 && !doors_.has_waiting() && service_.pending() == 0)
    return true;
  if (!shutdown_.is_over(now_ns)) return false;
  abort_requests();
  return true;
}

/// After the time limit: answers all waiting requests with an error.
void IoLoop::abort_requests() {
  const std::size_t open = requests_.count();
  if (open > 0 || service_.pending() > 0) clean_ = false;
  if (open > 0)
    log_warning("server", std::to_string(open) + " requests are aborted after the time limit");
  replies_.end_all(
      unavailable("the server shut down before the request was done; a turn in flight stays open"));
}

/// Gives slow readers `linger_s` to read queued replies. ZeroMQ does the same for its own queues.
void IoLoop::flush_at_end() {
  const std::int64_t until_ns =
      monotonic_ns() + static_cast<std::int64_t>(options_.linger_s * kSecondNs);
  while (doors_.has_waiting() && monotonic_ns() < until_ns) {
    wait_readable({}, events_->fd(), kRetryNs / 1'000'000);
    replies_.send_ready();
    doors_.flush(monotonic_ns());
  }
  if (doors_.has_waiting()) clean_ = false;
}

Gauges IoLoop::gauges() const {
  Gauges gauges;
  gauges.connections = doors_.connections();
  gauges.sockets = doors_.counts().open;
  gauges.in_flight = requests_.count();
  gauges.queue = workers_.waiting();
  gauges.outbox_bytes = doors_.waiting_bytes();
  gauges.uptime_s = static_cast<double>(monotonic_ns() - started_ns_) * 1e-9;
  return gauges;
}

std::int64_t IoLoop::retry_after_ms() const {
  const auto waiting = static_cast<std::int64_t>(workers_.waiting() + service_.pending());
  return std::min(options_.retry_after_ms + 10 * waiting, kRetryAfterMsMax);
}

}  // namespace hone
