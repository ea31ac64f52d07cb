// GatewayServer: the HTTP side of `hone gateway`: its address, its references and its client of hone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "base/scratch_folder.hpp"
#include "base/unique_fd.hpp"
#include "config/config.hpp"
#include "gateway/tritonforge.hpp"
#include "http/http_server.hpp"

namespace hone {

struct GatewayOptions {
  std::string listen = "127.0.0.1:18188";
  std::string token_file;          ///< required unless the address is a loopback one
  std::string endpoint;            ///< of a running server; empty: the caller starts one
  std::string key;                 ///< client key for that server
  std::string references;          ///< folder; empty: a scratch folder
  std::int64_t seconds = 600;      ///< time limit of one evaluation
  std::int64_t evaluations = 256;  ///< in flight
};

/// One thread, except that HTTP threads handle requests.
///
///   HONE_ASSIGN(auto gateway, GatewayServer::open(options));
///   HONE_TRY(gateway->place_references(loaded.config));   // only for a server of its own
///   HONE_TRY(gateway->connect(server->endpoint()));
///   HONE_ASSIGN(const std::string url, gateway->listen());
class GatewayServer {
 public:
  /// Checks the options; an error names the option.
  static Result<std::unique_ptr<GatewayServer>> open(GatewayOptions options);

  /// Whether the address is free. Call it before anything starts that takes time.
  Status try_address() const;
  /// Adds the dataset of references, with its folder. A scratch folder that it makes is deleted with this object.
  Status place_references(Config& config);
  /// Connects to a server of hone, and tests that it judges a correct module.
  Status connect(const std::string& endpoint);
  /// Returns the URL.
  Result<std::string> listen();
  /// Ends the requests in flight.
  void stop();

  bool has_token() const { return !token_.empty(); }

 private:
  explicit GatewayServer(GatewayOptions options) : options_(std::move(options)) {}
  HttpOptions http_options() const;

  GatewayOptions options_;
  HttpPlace place_;
  std::string token_;
  UniqueFd lock_;  // of scratch_
  ScratchFolder scratch_;
  std::unique_ptr<References> references_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<TritonForgeGateway> gateway_;
  std::unique_ptr<HttpServer> door_;
};

}  // namespace hone
