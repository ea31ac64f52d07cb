// Server: starts and stops the I/O thread.
#include "server/server.hpp"

#include <pthread.h>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "server/io_loop.hpp"

namespace hone {

Server::Server(std::unique_ptr<SocketContext> context, std::unique_ptr<IoLoop> loop)
    : context_(std::move(context)), loop_(std::move(loop)) {}

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, EpisodeService& service) {
  auto context = std::make_unique<SocketContext>();
  HONE_ASSIGN(auto loop, IoLoop::open(std::move(options), service, *context));
  std::unique_ptr<Server> server(new Server(std::move(context), std::move(loop)));
  server->thread_ = std::thread([loop = server->loop_.get()] {
    ::pthread_setname_np(::pthread_self(), "hone-io");
    loop->run();
  });
  log_info("server",
           "listening on " + server->endpoint() + ", control " +
               (server->control_endpoint().empty() ? "none" : server->control_endpoint()) +
               (server->server_key().empty() ? "" : ", CURVE, public key " + server->server_key()));
  return server;
}

Server::~Server() { static_cast<void>(shut_down(0)); }

const std::string& Server::endpoint() const { return loop_->doors().endpoint(); }
const std::string& Server::control_endpoint() const { return loop_->doors().control_endpoint(); }
const std::string& Server::incarnation() const { return loop_->doors().incarnation(); }
std::string Server::server_key() const { return loop_->doors().server_key(); }

void Server::reload_keys() { loop_->reload_keys(); }

bool Server::shut_down(double timeout_s) {
  MutexLock lock(ending_);
  if (ended_) return clean_;
  loop_->drain(monotonic_ns() + static_cast<std::int64_t>(timeout_s * 1e9));
  thread_.join();
  // Its destructor waits until ZeroMQ has sent its queues, at most linger_s.
  context_.reset();
  ended_ = true;
  clean_ = loop_->clean();
  return clean_;
}

}  // namespace hone
