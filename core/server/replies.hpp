// Replies: sends accepted, progress, results and errors to clients, and counts them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "server/doors.hpp"
#include "server/event_queue.hpp"
#include "server/in_flight.hpp"
#include "server/metrics.hpp"
#include "server/shutdown.hpp"

namespace hone {

/// The error of a request that was not finished by its deadline.
Error too_late(Verb verb);

/// Belongs to the I/O thread.
class Replies {
 public:
  /// `retry_after_ms`: the waiting time that a BUSY reply names.
  Replies(Doors& doors, RequestsInFlight& requests, Metrics& metrics, const Shutdown& shutdown,
          std::shared_ptr<EventQueue> events, std::function<std::int64_t()> retry_after_ms);

  /// Callbacks for the service, which calls them from any thread.
  EpisodeService::Reply reply_to(const VerbCall& call) const;
  EpisodeService::Progress progress_of(const VerbCall& call) const;
  /// Sends the progress and the replies from the callbacks.
  void send_ready();

  /// Sends `accepted`, once for each request.
  void accept(const std::shared_ptr<Peer>& peer, std::int64_t id, InFlight& request);
  /// Ends a request. If it has ended already, only counts the late reply.
  void finish(const std::shared_ptr<Peer>& peer, std::int64_t id, std::uint64_t serial,
              Result<std::string> body);
  /// Replies to a message that did not become a request in flight.
  void refuse(const std::shared_ptr<Peer>& peer, std::int64_t id, const std::string& verb,
              const Error& error);
  /// Replies without queueing and without storing anything about the client.
  void turn_away(Peers& peers, Peer& peer, std::int64_t id, const std::string& verb,
                 const Error& error);
  /// Ends requests that the service has not answered at their deadlines.
  void end_overdue(std::int64_t now_ns);
  /// Sends `going_away` to every connection of the main endpoint.
  void announce_shutdown();
  /// Ends all requests with an error.
  void end_all(const Error& error);

 private:
  void send_event(Event event);
  std::string packed_error(const Error& error) const;

  Doors& doors_;
  RequestsInFlight& requests_;
  Metrics& metrics_;
  const Shutdown& shutdown_;
  const std::shared_ptr<EventQueue> events_;
  const std::function<std::int64_t()> retry_after_ms_;
  std::vector<Event> taken_;
};

}  // namespace hone
