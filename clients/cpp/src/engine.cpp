// The client's thread.
#include "engine.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/clock.hpp"

namespace hone::inline client_api {
namespace {

constexpr std::int64_t kWaitMax = 1000 * kNsPerMs;

}  // namespace

Engine::Engine(const std::string& endpoint, ClientOptions options,
               std::optional<wire::KeyPair> keys)
    : options_(std::move(options)),
      keys_(std::move(keys)),
      pid_(::getpid()),
      status_(endpoint, keys_.has_value()),
      connection_(endpoint, options_.control_endpoint),
      flow_(options_, connection_, status_, monotonic_ns),
      connector_(
          options_, keys_.has_value(),
          [this](const std::string& to) { return open_link(context_, to, keys_); }, connection_,
          status_, flow_) {}

Result<std::shared_ptr<Engine>> Engine::start(const std::string& endpoint, ClientOptions options) {
  HONE_ASSIGN(std::optional<wire::KeyPair> keys, read_keys(options));
  std::shared_ptr<Engine> engine(new Engine(endpoint, std::move(options), std::move(keys)));
  HONE_TRY(engine->mailbox_.open());
  // A first link here, so that a bad endpoint is the caller's error at once.
  HONE_TRY(engine->connector_.open_main());
  engine->thread_ = std::make_unique<std::thread>(&Engine::run, engine.get());
  return engine;
}

Engine::~Engine() {
  if (forked()) {
    // The thread did not come along, and ZeroMQ must not be touched: leave both to the parent. A
    // thread that is not there can be neither joined nor detached.
    static_cast<void>(thread_.release());
    for (Channel* channel : connection_.channels()) channel->abandon();
    context_.abandon();
    return;
  }
  if (thread_ == nullptr) return;
  mailbox_.stop();
  thread_->join();
}

bool Engine::forked() const { return ::getpid() != pid_; }

void Engine::submit(RequestPtr request) {
  mailbox_.post([this, request = std::move(request)] { flow_.accept(request); });
}

void Engine::cancel(std::int64_t id) {
  if (forked()) return;
  mailbox_.post([this, id] { flow_.give_up(id); });
}

Value Engine::hello() const {
  if (forked()) return {};  // the thread that holds the mutex may not exist in this process
  return status_.hello();
}

bool Engine::is_served() const { return !forked() && status_.is_served(); }

std::optional<ServerWait> Engine::server_wait() const {
  if (forked()) return {};
  return status_.server_wait();
}

void Engine::run() {
  while (!mailbox_.is_stopping()) {
    mailbox_.run();
    connector_.serve();
    const std::int64_t now = monotonic_ns();
    flow_.run_timers(now);
    connector_.run_timers(now);
    for (Channel* channel : connection_.channels()) flow_.send_waiting(*channel);
    connector_.open_wanted();
    status_.set_served(connection_.main.state() == Channel::State::kReady);
    status_.set_server_wait(connection_.main.longest_wait(options_.reconnect_timeout_s));
    wait_for_links(connector_.links(), mailbox_.fd(), milliseconds_to_next_timer());
  }
  constexpr const char* kClosed = "the client was closed";
  flow_.finish_all(kClosed);
  mailbox_.run();
  flow_.finish_all(kClosed);  // requests that were submitted while the others finished
  for (Channel* channel : connection_.channels()) channel->close();
}

long Engine::milliseconds_to_next_timer() const {
  const std::int64_t now = monotonic_ns();
  const std::int64_t next = std::min({now + kWaitMax, flow_.next_ns(), connector_.next_ns()});
  return std::max(0L, static_cast<long>((next - now + kNsPerMs - 1) / kNsPerMs));
}

}  // namespace hone::inline client_api
