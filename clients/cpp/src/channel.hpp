// Channel: one connection to a server, its state, and the requests that wait for it or are in flight on it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "link.hpp"
#include "request.hpp"

namespace hone::inline client_api {

/// A request's wait for a lost server, in monotonic nanoseconds. INT64_MAX: no limit.
struct ServerWait {
  std::int64_t since_ns = 0, until_ns = 0;
};

/// Belongs to the client's thread. Times are monotonic nanoseconds.
///
///   down ──retry──► connecting ──handshake──► greeting ──hello──► resuming ──all resumed──► ready
///    ▲                                                                                        │
///    └──────────────── disconnected, or silent for three heartbeats ◄─────────────────────────┘
///
/// The control channel goes from connecting to ready. When the server says that it is shutting down (`going_away`, or an error), a ready channel becomes
/// leaving: nothing new is sent, replies still come, and after the last of them the channel goes down.
class Channel {
 public:
  enum class State { kDown, kConnecting, kGreeting, kResuming, kReady, kLeaving, kFailed };

  explicit Channel(std::string endpoint) : endpoint_(std::move(endpoint)) {}

  const std::string& endpoint() const { return endpoint_; }
  void set_endpoint(std::string endpoint) { endpoint_ = std::move(endpoint); }
  State state() const { return state_; }
  bool is_connected() const;  ///< the connection is up; hello may be unanswered
  bool serves() const { return state_ == State::kReady || state_ == State::kLeaving; }

  // The connection.
  void connect(std::unique_ptr<Link> link, std::int64_t now_ns);
  void enter(State state, std::int64_t now_ns);
  /// Ends the connection. The next attempt comes after a wait that doubles each time. Returns the requests in flight, in reverse order.
  std::vector<RequestPtr> lose(std::int64_t now_ns);
  /// Ends the connection for good.
  void fail(std::int64_t now_ns);
  Link* link() const { return link_.get(); }
  void close() { link_.reset(); }
  /// In a forked child: forgets the connection without touching it.
  void abandon() { static_cast<void>(link_.release()); }

  // Whether a server is there.
  void note_heard(std::int64_t now_ns) { heard_ns_ = now_ns; }
  void note_answer() { failures_ = 0; }  ///< the connection works: the next wait is short again
  void note_away(std::int64_t now_ns);   ///< no server; counts from the first call
  void note_present() { away_ns_ = 0; }
  /// The server said that it shuts down, and ends within `drain_ms`.
  void note_shutdown(std::int64_t now_ns, std::int64_t drain_ms);
  void note_next_server();
  bool was_shut_down() const { return shutting_down_; }
  std::int64_t retry_ns() const { return retry_ns_; }
  /// When the request's wait for a server began: when the server was lost, or when the request came, if later. 0: a server is there.
  std::int64_t waits_since_ns(const Request& request) const;
  /// The time at which the request fails, because no server came within `limit_s`; INT64_MAX: never.
  std::int64_t given_up_ns(const Request& request, double limit_s) const;
  /// The earliest of these times of all waiting requests.
  std::int64_t next_given_up_ns(double limit_s) const;
  /// The wait that began first, of all waiting requests; nullopt: none waits for a server.
  std::optional<ServerWait> longest_wait(double limit_s) const;
  /// Whether the connection is up, but no message came for longer than `patience_ns`.
  bool is_silent(std::int64_t now_ns, std::int64_t patience_ns) const;
  /// Whether the leaving server has no more replies to send.
  bool has_left() const;

  // Its requests.
  const std::deque<RequestPtr>& waiting() const { return waiting_; }
  void add(const RequestPtr& request) { waiting_.push_back(request); }
  void add_first(const RequestPtr& request) { waiting_.push_front(request); }
  void add_by_id(const RequestPtr& request);
  void drop_first() { waiting_.pop_front(); }
  RequestPtr take_waiting(std::int64_t id);  ///< nullptr: it does not wait here
  std::deque<RequestPtr> take_all_waiting() { return std::exchange(waiting_, {}); }
  /// Removes and returns the waiting requests that fail at `now_ns`.
  std::deque<RequestPtr> take_given_up(double limit_s, std::int64_t now_ns);
  std::size_t in_flight_count() const { return in_flight_.size(); }
  bool is_in_flight(std::int64_t id) const { return in_flight_.contains(id); }
  RequestPtr find_in_flight(std::int64_t id) const;
  bool end_in_flight(std::int64_t id) { return in_flight_.erase(id) > 0; }
  /// False if the connection accepts no message; the request is then not in flight.
  bool send(const RequestPtr& request, std::int64_t now_ns);

 private:
  std::string endpoint_;
  std::unique_ptr<Link> link_;
  State state_ = State::kDown;
  std::int64_t since_ns_ = 0;    // when it entered its state
  std::int64_t retry_ns_ = 0;    // when a channel that is down tries again
  std::int64_t heard_ns_ = 0;    // the last message of the server
  std::int64_t away_ns_ = 0;     // when the server was lost; 0: connected, or not watched
  std::int64_t drained_ns_ = 0;  // when the server that shuts down ends at the latest; 0: unknown
  bool shutting_down_ = false;   // the last server said so, and no other has answered since
  int failures_ = 0;             // connections lost in a row without an answer
  std::map<std::int64_t, RequestPtr> in_flight_;
  std::deque<RequestPtr> waiting_;
};

}  // namespace hone::inline client_api
