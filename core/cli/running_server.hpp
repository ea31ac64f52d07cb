// RunningServer: options that name a running server and the key to connect with.
#pragma once

#include <memory>
#include <string>

#include "cli/command.hpp"
#include "hone/client.hpp"

namespace hone {

struct RunningServer {
  ConfigOptions config;
  std::string endpoint, control, key, server_key;

  /// `positional`: the endpoint may be a positional argument, too.
  void declare(OptionSet& options, bool positional = false);
  /// As the configuration says.
  Status set_up_log() const;
  /// With these options, and the endpoints and keys of the command line.
  Result<std::unique_ptr<Client>> connect(ClientOptions options) const;
};

}  // namespace hone
