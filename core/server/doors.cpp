// The server's sockets: bound endpoints, keys and limits of connections.
#include "server/doors.hpp"

#include <optional>
#include <utility>

#include "base/log.hpp"
#include "server/endpoint.hpp"
#include "server/keys.hpp"

namespace hone {

Doors::Doors(const ServerOptions& options, std::string incarnation, Metrics& metrics)
    : options_(options), incarnation_(std::move(incarnation)), metrics_(metrics) {}

Result<SocketOptions> Doors::socket_options() const {
  const bool guarded = !options_.keys.empty();
  SocketOptions chosen{
      .frame_bytes_max = options_.limits.frame_bytes_max,
      .hwm = options_.hwm,
      .linger_ms = static_cast<int>(options_.linger_s * 1000),
      .heartbeat_s = options_.heartbeat_s,
      .handshake_ms = options_.handshake_ms != 0 ? options_.handshake_ms
                      : guarded                  ? 5000
                                                 : 30'000,
  };
  if (guarded) {
    HONE_ASSIGN(chosen.curve, read_server_key(KeyFolder{options_.keys}));
  }
  return chosen;
}

Status Doors::listen(SocketContext& context) {
  const bool guarded = !options_.keys.empty();
  HONE_ASSIGN(const SocketOptions chosen, socket_options());
  if (guarded) {
    HONE_ASSIGN(allowed_, AllowList::open(KeyFolder{options_.keys}.clients()));
    allowed_generation_ = allowed_->generation();
    server_key_ = chosen.curve->public_key;
  }
  const std::size_t silent_max = options_.strangers_max != 0 ? options_.strangers_max
                                 : guarded                   ? 256
                                                             : 8192;
  HONE_ASSIGN(keeper_, Doorkeeper::create(context, allowed_, {options_.sockets_max, silent_max}));
  log_info("server", "connections: at most " + keeper_->limit_text());
  Socket main = Socket::router(context, chosen);
  HONE_TRY(keeper_->watch(context, main));
  std::optional<Socket> control;
  if (!options_.control_endpoint.empty()) {
    control = Socket::router(context, chosen);
    HONE_TRY(keeper_->watch(context, *control));
  }
  keeper_->start();
  HONE_ASSIGN(main_, listen_on(Door::kMain, std::move(main), endpoint_));
  if (!control) return {};
  HONE_ASSIGN(control_, listen_on(Door::kControl, std::move(*control), control_endpoint_));
  return {};
}

Result<std::unique_ptr<Peers>> Doors::listen_on(Door door, Socket socket, std::string& endpoint) {
  const bool is_main = door == Door::kMain;
  HONE_ASSIGN(const std::string place,
              prepare_endpoint(is_main ? options_.endpoint : options_.control_endpoint,
                               !options_.keys.empty()));
  HONE_ASSIGN(endpoint, socket.bind(place));
  HONE_TRY(seal_endpoint(endpoint));
  return std::make_unique<Peers>(door, std::move(socket), options_,
                                 incarnation_ + (is_main ? "-m" : "-c"), metrics_, allowed_);
}

void Doors::close() {
  main_.reset();
  control_.reset();
  keeper_->stop();
}

std::vector<Peers*> Doors::all() const {
  if (control_) return {control_.get(), main_.get()};
  return {main_.get()};
}

std::vector<Socket*> Doors::sockets() const {
  std::vector<Socket*> sockets;
  for (Peers* peers : all()) sockets.push_back(&peers->socket());
  return sockets;
}

void Doors::each(const std::function<void(const std::shared_ptr<Peer>&)>& visit) const {
  main_->each(visit);
  if (control_) control_->each(visit);
}

void Doors::flush(std::int64_t now_ns) {
  main_->flush(now_ns);
  if (control_) control_->flush(now_ns);
}

void Doors::expire(std::int64_t now_ns) {
  main_->expire(now_ns);
  if (control_) control_->expire(now_ns);
}

bool Doors::has_waiting() const {
  return main_->has_waiting() || (control_ && control_->has_waiting());
}

void Doors::refresh_allow_list() {
  if (allowed_ == nullptr) return;
  allowed_->refresh();
  apply_allow_list();
}

void Doors::reload_allow_list() {
  if (allowed_ == nullptr) return;
  allowed_->reload();
  apply_allow_list();
}

void Doors::apply_allow_list() {
  if (allowed_->generation() == allowed_generation_) return;
  allowed_generation_ = allowed_->generation();
  main_->look_up_again();
  if (control_) control_->look_up_again();
}

std::size_t Doors::connections() const { return main_->size() + (control_ ? control_->size() : 0); }

std::size_t Doors::waiting_bytes() const {
  return main_->waiting_bytes() + (control_ ? control_->waiting_bytes() : 0);
}

}  // namespace hone
