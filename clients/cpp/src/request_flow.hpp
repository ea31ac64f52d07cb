// RequestFlow: the life of each request from submission to its one answer: resends, retries, deadlines and cancels.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "connect_status.hpp"
#include "connection.hpp"
#include "message.hpp"
#include "request.hpp"
#include "request_table.hpp"

namespace hone::inline client_api {

/// Monotonic nanoseconds.
using Clock = std::int64_t (*)();

/// Belongs to the client's thread, but for next_id(). It decides; RequestTable and Channel keep the requests.
///
/// Theory of operation. A request waits in its channel until the channel is ready, is in flight until its reply, and waits again when
/// the connection is lost: the protocol makes each verb safe to repeat. A request that the server answers with BUSY waits for the
/// server's retry_after. A request that its caller gives up ends at once, except a step that was sent: the server has its turn, so the
/// client sends a cancel, and the step ends with the answer to it.
class RequestFlow {
 public:
  RequestFlow(const ClientOptions& options, Connection& connection, const ConnectStatus& status,
              Clock clock);

  /// [any thread]
  std::int64_t next_id() { return ++last_id_; }
  /// `request->done` is called exactly once.
  void accept(const RequestPtr& request);
  /// Ends a request that was not sent; for one that was sent, a cancel goes to the control endpoint.
  void give_up(std::int64_t id);
  /// A request of the client's own. It is not sent again on a new connection.
  RequestPtr make_internal(std::string verb, Value body, std::function<void(Reply)> done);
  void finish(const RequestPtr& request, Reply reply);
  void finish(const RequestPtr& request, Failure failure);
  void finish_all(const std::string& why);

  void handle(Channel& channel, ReplyMessage message);
  /// Sends waiting requests, up to the server's limit of requests in flight.
  void send_waiting(Channel& channel);
  /// `lost`: the requests that were in flight.
  void on_connection_lost(Channel& channel, const std::vector<RequestPtr>& lost);
  void fail_waiting(Channel& channel, const Failure& failure);
  /// Ends the requests for which no server came within the time limit of reconnection.
  void fail_without_server(Channel& channel, std::int64_t now_ns);

  void run_timers(std::int64_t now_ns);
  std::int64_t next_ns() const { return table_.next_ns(); }

 private:
  void conclude(const RequestPtr& request, Reply reply);
  void resume_then_conclude(const RequestPtr& request, Reply reply);
  void wait_for_next_server(const RequestPtr& request, std::int64_t drain_ms);
  bool retry_later(const RequestPtr& request, const Failure& failure);
  bool is_lost_too_often(Request& request) const;
  Failure always_lost(const Channel& channel, const Request& request) const;
  void expire(const RequestPtr& request);
  void leave(const Request& request);
  void close_unwanted(const std::string& episode);
  void queue(const RequestPtr& request);
  RequestPtr take_waiting(std::int64_t id);
  void send_cancel(const RequestPtr& request, bool ends_it);
  void release(const std::string& episode);

  const ClientOptions& options_;
  Connection& connection_;
  const ConnectStatus& status_;
  const Clock clock_;
  std::atomic<std::int64_t> last_id_{0};
  RequestTable table_;
  std::unordered_set<std::int64_t> left_;  // abandoned resets and branches in flight
};

}  // namespace hone::inline client_api
