// Connects to a running server.
#include "cli/running_server.hpp"

#include "app/log_options.hpp"
#include "config/config.hpp"

namespace hone {
namespace {

/// Replaces a wildcard address by loopback: "tcp://127.0.0.1:5918" for "tcp://*:5918".
std::string reachable_here(const std::string& endpoint) {
  for (const char* any : {"tcp://*:", "tcp://0.0.0.0:", "tcp://[::]:"}) {
    if (endpoint.starts_with(any)) return "tcp://127.0.0.1" + endpoint.substr(endpoint.rfind(':'));
  }
  return endpoint;
}

}  // namespace

void RunningServer::declare(OptionSet& options, bool positional) {
  if (positional) {
    options.text(
        {.name = "ENDPOINT", .doc = "the same as --endpoint ENDPOINT", .value = "ENDPOINT"},
        endpoint);
  }
  options.text({.name = "--endpoint",
                .doc = "main or control endpoint of the server (default: server.control)",
                .value = "ENDPOINT"},
               endpoint);
  options.text({.name = "--control",
                .doc = "control endpoint (default: as reported by the server)",
                .value = "ENDPOINT"},
               control);
  options.text({.name = "--key", .doc = "client key; the role monitor is enough", .value = "FILE"},
               key);
  options.text({.name = "--server-key",
                .doc = "public key of the server (default: from --key)",
                .value = "KEY"},
               server_key);
  config.declare(options);
}

Status RunningServer::set_up_log() const {
  HONE_ASSIGN(const LoadedConfig loaded, load_config(config.file, config.sets));
  hone::set_up_log(loaded.config.log);
  return {};
}

Result<std::unique_ptr<Client>> RunningServer::connect(ClientOptions options) const {
  HONE_ASSIGN(const LoadedConfig loaded, load_config(config.file, config.sets));
  const ServerConfig& server = loaded.config.server;
  options.control_endpoint = control;
  options.key_file = key;
  options.server_key = server_key;
  const std::string& configured = server.control.empty() ? server.endpoint : server.control;
  return Client::connect(endpoint.empty() ? reachable_here(configured) : endpoint, options);
}

}  // namespace hone
