// Opens the likeliest sources of errors first, and adds the place in the configuration to each error.
#include "app/parts.hpp"

#include <filesystem>

#include "app/host.hpp"
#include "base/log.hpp"
#include "evaluate/make_evaluator.hpp"
#include "sandbox/process_watch.hpp"
#include "server/endpoint.hpp"

namespace hone {
namespace {

constexpr std::int64_t kSlotsMax = 4096;

/// The first of these members that is set.
std::string place_of(const LoadedConfig& loaded, std::initializer_list<std::string> pointers) {
  for (const std::string& pointer : pointers) {
    if (std::string place = loaded.place(pointer); !place.empty()) return place + ": ";
  }
  return "";
}

/// The line of the key that a plugin's error names, if it is one of these.
std::string key_at_fault(const LoadedConfig& loaded, const std::string& pointer,
                         const std::string& message) {
  const std::string inside = pointer + "/";
  for (auto at = loaded.origins.lower_bound(inside);
       at != loaded.origins.end() && at->first.starts_with(inside); ++at) {
    const std::string key = at->first.substr(inside.size());
    if (message.find("'" + key + "'") != std::string::npos ||
        message.find(": " + key + ":") != std::string::npos) {
      return at->first;
    }
  }
  return pointer;
}

void warn_of_plugins(const LoadedConfig& loaded, const Registry& registry) {
  const auto warn = [&](const std::string& text) {
    log_warning("config", place_of(loaded, {"/plugins/paths"}) + text);
  };
  for (const std::string& path : loaded.config.plugin_paths) {
    bool any = false;
    const std::filesystem::path folder = std::filesystem::path(path) / "";
    for (const PluginInfo& info : registry.plugins()) {
      const bool of_it = info.path == path || info.path.parent_path() / "" == folder;
      any = any || of_it;
      if (of_it && !info.error.empty()) warn("plugins.paths: " + info.error);
    }
    if (!any) warn("plugins.paths: " + path + ": found no plugin; expected .so or .py files");
  }
}

Status check_reward(const LoadedConfig& loaded, const Registry& registry) {
  const auto reward = open_reward(loaded.config, registry);
  if (reward) return {};
  const Error& error = reward.error();
  const bool name = error.code == Code::kNotFound || error.code == Code::kFailedPrecondition;
  const std::string at =
      name ? "/reward/name" : key_at_fault(loaded, "/reward/config", error.message);
  return invalid_argument(place_of(loaded, {at, "/reward"}) + "reward: " + error.message);
}

Status check_environments(const LoadedConfig& loaded, const Registry& registry) {
  const auto environments = open_environments(loaded.config, registry);
  if (environments) return {};
  return invalid_argument(place_of(loaded, {"/environment/name", "/environment"}) +
                          environments.error().message);
}

}  // namespace

Result<ConfigParts> open_parts(const LoadedConfig& loaded) {
  ConfigParts parts;
  parts.registry = open_registry(loaded.config);
  warn_of_plugins(loaded, *parts.registry);
  HONE_TRY(check_reward(loaded, *parts.registry));
  HONE_TRY(check_environments(loaded, *parts.registry));
  auto catalog = open_catalog(loaded, *parts.registry);
  if (!catalog) return invalid_argument(catalog.error().message);
  parts.catalog = std::move(*catalog);
  return parts;
}

Result<std::shared_ptr<const Catalog>> open_catalog(const LoadedConfig& loaded,
                                                    const Registry& registry) {
  return open_catalog(loaded.config, registry, [&](std::size_t i) {
    const std::string at = "/datasets/" + std::to_string(i);
    return place_of(loaded, {at + "/config", at});
  });
}

Status check_endpoints(const LoadedConfig& loaded) {
  const ServerConfig& c = loaded.config.server;
  for (const char* key : {"endpoint", "control"}) {
    const std::string& endpoint = std::string_view(key) == "control" ? c.control : c.endpoint;
    if (endpoint.empty() && std::string_view(key) == "control") continue;
    if (const Status good = check_endpoint(endpoint, !c.keys.empty()); !good) {
      return invalid_argument(place_of(loaded, {"/server/" + std::string(key)}) + key + ": " +
                              good.error().message);
    }
  }
  return {};
}

Status fit_slots(LoadedConfig& loaded) {
  Config& c = loaded.config;
  const BackendConfig* gpu = device_config(c, c.backend);
  const std::size_t chosen = gpu != nullptr ? device_numbers(*gpu).size() : c.cpu.devices.size();
  const std::size_t devices = chosen == 0 ? default_devices(cores_of(0)).size() : chosen;
  // Each builder has a pre-started successor. A device has its judge, a candidate and the next one, a zygote, and reference and
  // baseline of each loaded task. A device with its own memory has several waiting candidates, one that ends, and kept ones. It
  // also has two processes that read counters: one waits while another one ends.
  const std::int64_t interpreters = gpu != nullptr ? kModulesAhead + kTrustedModulesAhead + 1 +
                                                         static_cast<std::int64_t>(kRunnersMax)
                                                   : 1;
  const std::int64_t of_lane = 3 + interpreters;
  const std::int64_t players = gpu != nullptr ? 2 : 0;
  const std::int64_t of_device = of_lane + players + 2 * c.evaluate.installed_max;
  const std::int64_t lanes =
      gpu != nullptr ? static_cast<std::int64_t>(devices) * (module_lanes(*gpu) - 1) : 0;
  const std::int64_t builders = builder_count(c);
  const std::int64_t needed =
      2 * builders + static_cast<std::int64_t>(devices) * of_device + lanes * of_lane;
  if (needed <= c.isolation.slots) return {};
  const std::string asked = place_of(loaded, {"/isolation/slots"});
  if (asked.empty() && needed <= kSlotsMax) {
    c.isolation.slots = needed;
    return {};
  }
  const std::string wanted = std::to_string(needed) + ", for " + std::to_string(builders) +
                             " builders and " + std::to_string(devices) + " devices with " +
                             std::to_string(c.evaluate.installed_max) + " tasks each";
  if (!asked.empty()) {
    return invalid_argument(asked + "isolation.slots: found " + std::to_string(c.isolation.slots) +
                            ", expected at least " + wanted +
                            " (evaluate.builders, cpu.devices, evaluate.installed_max)");
  }
  return invalid_argument(
      place_of(loaded, {"/evaluate/installed_max", "/evaluate/builders", "/cpu/devices"}) +
      "evaluate: needs " + wanted + " sandboxed processes; the limit is " +
      std::to_string(kSlotsMax));
}

Error without_verbs(Error error) {
  constexpr std::string_view kVerb = "; describe lists them";
  if (error.message.ends_with(kVerb)) error.message.resize(error.message.size() - kVerb.size());
  return error;
}

std::string next_step(const Error& error) {
  if (error.cause == ErrorCause::kAddressInUse)
    return "if another server runs, choose other endpoints with --endpoint and --control";
  // A mistake in the command or the configuration. Its message says where.
  if (error.code == Code::kInvalidArgument || error.code == Code::kNotFound) return "";
  return "check this machine: hone doctor";
}

}  // namespace hone
