// Connector: keeps the channels connected: handshake, hello, resumption of episodes, leases, heartbeats, reconnects.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "connect_status.hpp"
#include "connection.hpp"
#include "link.hpp"
#include "request_flow.hpp"

namespace hone::inline client_api {

/// Belongs to the client's thread. The states of a channel are drawn in channel.hpp.
class Connector {
 public:
  /// Opens a link to an endpoint, with this client's keys.
  using OpenLink = std::function<Result<std::unique_ptr<Link>>(const std::string& endpoint)>;

  Connector(const ClientOptions& options, bool has_keys, OpenLink open_link, Connection& connection,
            ConnectStatus& status, RequestFlow& flow);

  /// The first link. Error: a bad endpoint.
  Status open_main();
  /// Handles messages and events of the links.
  void serve();
  /// Opens the control channel if a request waits for it.
  void open_wanted();
  void run_timers(std::int64_t now_ns);
  std::int64_t next_ns() const;
  /// The open links, for wait_for_links().
  std::vector<Link*> links() const;

 private:
  void serve(Channel& channel);
  void open(Channel& channel);
  void lose(Channel& channel);
  void on_link_event(Channel& channel, Link::Event event);
  bool wants_another_mechanism(const Channel& channel);
  void refused(Channel& channel, Link::Event event);
  void fail_for_good(const Failure& failure);
  void greet();
  void on_hello(const Reply& reply);
  void adopt(const Value& hello);
  void resume_all();
  void resume_more();
  void on_resumed(const std::string& episode, const Reply& reply);
  void renew_leases(std::int64_t now_ns);

  const ClientOptions& options_;
  const bool has_keys_;
  const OpenLink open_link_;
  Connection& connection_;
  ConnectStatus& status_;
  RequestFlow& flow_;
  std::string former_incarnation_;
  std::deque<std::pair<std::string, std::string>> to_resume_;  // episode, token
  std::size_t resuming_ = 0;                                   // not answered yet
  std::int64_t next_beat_ns_ = 0;
};

}  // namespace hone::inline client_api
