// LocalServer: a server in this process, for `hone demo` and benchmarks.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "config/config.hpp"

namespace hone {

class Evaluator;

/// A Host with a Server in front of it. It hides both, because the client's headers define types of the same names.
///
///   HONE_ASSIGN(auto server, LocalServer::start(loaded));
///   HONE_ASSIGN(auto client, Client::connect(server->endpoint()));
class LocalServer {
 public:
  using Say = std::function<void(std::string_view what)>;

  /// Listens on the configured endpoints. With `evaluator` (borrowed), it starts no launcher and builds nothing.
  static Result<std::unique_ptr<LocalServer>> start(const LoadedConfig& loaded, const Say& say = {},
                                                    Evaluator* evaluator = nullptr);
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  const std::string& endpoint() const;
  const std::string& control_endpoint() const;
  std::string server_key() const;  ///< its public key; empty: no CURVE
  std::string description() const;
  /// [any thread] Reads the allow-list again.
  void reload_keys();
  /// Waits up to `timeout_s` for steps in flight, then syncs the journal. True if all of them ended.
  bool shut_down(double timeout_s);
  /// False after the evaluator has failed for good.
  bool alive() const;

 private:
  struct Parts;
  explicit LocalServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// The configuration, on free ports of the loopback, without keys.
LoadedConfig on_free_ports(LoadedConfig loaded);

}  // namespace hone
