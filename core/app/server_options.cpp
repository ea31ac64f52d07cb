// The server's options and its journal, from the configuration.
#include "app/host.hpp"
#include "kernel_refine/kernel_refine.hpp"

namespace hone {

ServerOptions server_options(const Config& config) {
  const ServerConfig& c = config.server;
  ServerOptions options;
  options.endpoint = c.endpoint;
  options.control_endpoint = c.control;
  options.keys = c.keys;
  options.limits.frames_max = static_cast<std::size_t>(c.limits.frames);
  options.limits.frame_bytes_max = static_cast<std::size_t>(c.limits.frame_bytes);
  options.limits.message_bytes_max = static_cast<std::size_t>(c.limits.message_bytes);
  options.source_bytes_max = static_cast<std::size_t>(c.limits.source_bytes);
  options.response_bytes_max = KernelRefineOptions().response_bytes_max;
  options.episodes_max = static_cast<std::size_t>(c.limits.episodes);
  options.in_flight_max = static_cast<std::size_t>(c.limits.in_flight);
  options.heartbeat_s = c.heartbeat_s;
  options.disconnect_grace_s = c.disconnect_grace_s;
  return options;
}

Result<std::unique_ptr<Journal>> open_journal(const Config& config) {
  if (config.journal.path.empty()) return std::unique_ptr<Journal>();
  JournalOptions options;
  options.path = config.journal.path;
  options.keep_days = config.journal.keep_days;
  options.keep_bytes = config.journal.keep_bytes;
  return Journal::open(std::move(options));
}

}  // namespace hone
