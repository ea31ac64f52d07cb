// Engine: the client's thread. Callers post closures; the thread runs them, serves the connections, and runs timers.
//
//   caller ──submit──► Mailbox ──► RequestFlow ──► Channel (main, control) ──► Link ──► server
//                                    │    ▲             ▲
//                              RequestTable  └──reply── Connector
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "connect_status.hpp"
#include "connection.hpp"
#include "connector.hpp"
#include "link.hpp"
#include "mailbox.hpp"
#include "request.hpp"
#include "request_flow.hpp"

namespace hone::inline client_api {

class Engine {
 public:
  static Result<std::shared_ptr<Engine>> start(const std::string& endpoint, ClientOptions options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// [any thread] `request->done` is called exactly once, on the engine's thread.
  void submit(RequestPtr request);
  /// [any thread] Gives up the request: it ends here if it was not sent, else a cancel goes to the
  /// control endpoint.
  void cancel(std::int64_t id);
  /// [any thread] Waits for the first hello.
  Status wait_until_greeted(double seconds) { return status_.wait_until_greeted(seconds); }
  Value hello() const;
  bool is_served() const;
  std::optional<ServerWait> server_wait() const;
  std::int64_t next_id() { return flow_.next_id(); }
  /// Whether this process is not the one that made the client.
  bool forked() const;

 private:
  Engine(const std::string& endpoint, ClientOptions options, std::optional<wire::KeyPair> keys);
  void run();
  long milliseconds_to_next_timer() const;

  const ClientOptions options_;
  const std::optional<wire::KeyPair> keys_;
  const int pid_;
  Mailbox mailbox_;
  ConnectStatus status_;
  LinkContext context_;  // before the connection, whose links must be gone first
  Connection connection_;
  RequestFlow flow_;
  Connector connector_;
  std::unique_ptr<std::thread> thread_;  // last: everything above exists before it runs
};

}  // namespace hone::inline client_api
