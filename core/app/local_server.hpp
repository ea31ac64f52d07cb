// LocalServer: a whole server in this process, for `hone demo` and for figures.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "config/config.hpp"

namespace hone {

class Evaluator;

/// A Host and a Server in front of it. It hides both, so that a file can use it beside the client,
/// whose types have some of the same names.
///
///   HONE_ASSIGN(auto server, LocalServer::start(loaded));
///   HONE_ASSIGN(auto client, Client::connect(server->endpoint()));
class LocalServer {
 public:
  using Say = std::function<void(std::string_view what)>;

  /// Listens where the configuration says. With `evaluator` (borrowed) nothing is built or run, no
  /// launcher is started.
  static Result<std::unique_ptr<LocalServer>> start(const LoadedConfig& loaded, const Say& say = {},
                                                    Evaluator* evaluator = nullptr);
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  const std::string& endpoint() const;
  const std::string& control_endpoint() const;
  std::string server_key() const;  ///< its public key; empty: no CURVE
  std::string description() const;
  /// Waits up to `timeout_s` for steps under way. True: nothing had to be cut short.
  bool shut_down(double timeout_s);
  /// False once nothing can be evaluated any more.
  bool alive() const;

 private:
  struct Parts;
  explicit LocalServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// The configuration, on free ports of the loopback, without keys.
LoadedConfig on_free_ports(LoadedConfig loaded);

}  // namespace hone
