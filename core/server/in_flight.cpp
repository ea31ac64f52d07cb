// The requests without a reply.
#include "server/in_flight.hpp"

namespace hone {

std::uint64_t RequestsInFlight::begin(const std::shared_ptr<Peer>& peer, std::int64_t id, Verb verb,
                                      std::int64_t now_ns, std::int64_t overdue_ns) {
  const std::uint64_t serial = ++serials_;
  InFlight entry{verb, serial, now_ns};
  entry.overdue_ns = overdue_ns;
  if (overdue_ns != 0) timers_[{overdue_ns, serial}] = {peer, id};
  peer->in_flight[id] = entry;
  ++count_;
  return serial;
}

InFlight* RequestsInFlight::find(Peer& peer, std::int64_t id, std::uint64_t serial) {
  const auto found = peer.in_flight.find(id);
  if (found == peer.in_flight.end() || found->second.serial != serial) return nullptr;
  return &found->second;
}

std::optional<InFlight> RequestsInFlight::end(Peer& peer, std::int64_t id, std::uint64_t serial) {
  const InFlight* found = find(peer, id, serial);
  if (found == nullptr) return std::nullopt;
  InFlight request = *found;
  peer.in_flight.erase(id);
  if (request.overdue_ns != 0) timers_.erase({request.overdue_ns, serial});
  --count_;
  return request;
}

std::optional<RequestsInFlight::Overdue> RequestsInFlight::take_overdue(std::int64_t now_ns) {
  while (!timers_.empty() && timers_.begin()->first.first <= now_ns) {
    const std::uint64_t serial = timers_.begin()->first.second;
    const Timer due = timers_.begin()->second;
    timers_.erase(timers_.begin());
    const std::shared_ptr<Peer> peer = due.peer.lock();
    if (peer == nullptr) continue;
    if (const InFlight* request = find(*peer, due.id, serial))
      return Overdue{peer, due.id, serial, request->verb};
  }
  return std::nullopt;
}

std::int64_t RequestsInFlight::next_overdue_ns() const {
  return timers_.empty() ? INT64_MAX : timers_.begin()->first.first;
}

}  // namespace hone
