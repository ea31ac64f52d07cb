// Steps of lost connections.
#include "server/lost_connections.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"

namespace hone {

LostConnections::LostConnections(const ServerOptions& options, EpisodeService& service,
                                 Doors& doors, ServerStatus& status, WorkerPool& workers)
    : options_(options), service_(service), doors_(doors), status_(status), workers_(workers) {}

void LostConnections::drop_steps(std::int64_t now_ns) {
  const bool probing = is_probing(now_ns);
  std::vector<std::shared_ptr<Peer>> left;
  doors_.main().each([&](const std::shared_ptr<Peer>& peer) {
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
    status_.count_steps_dropped(steps);
    if (steps == 0) return;
    log_info("server", std::to_string(steps) + " steps dropped: their " +
                           std::to_string(connections.size()) + " connections were lost");
  });
  for (const auto& peer : left) peer->steps_dropped = taken;
}

bool LostConnections::is_probing(std::int64_t now_ns) {
  constexpr std::int64_t kProbeNs = 3'000'000'000;
  const std::uint64_t disconnected = doors_.counts().disconnected;
  if (std::exchange(disconnected_count_, disconnected) != disconnected)
    probe_until_ns_ = now_ns + kProbeNs;
  return now_ns < probe_until_ns_;
}

void LostConnections::probe(const std::shared_ptr<Peer>& peer) {
  for (const auto& [id, request] : peer->in_flight) {
    if (request.verb != kVerbOf<wire::StepRequest> || !request.accepted) continue;
    const std::string stage =
        request.progress.empty() ? to_msgpack(Value::map({{"stage", "queued"}})) : request.progress;
    return doors_.main().send(
        peer, wire::encode_reply({wire::ReplyKind::kProgress, id, "step", stage, {}}));
  }
}

}  // namespace hone
