// Builds the parts of a host in the order of their dependencies.
#include "app/host.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "app/load_config.hpp"
#include "app/parts.hpp"
#include "base/descriptors.hpp"
#include "base/files.hpp"
#include "config/yaml.hpp"
#include "evaluate/device_counting.hpp"
#include "evaluate/interpreter.hpp"
#include "evaluate/make_evaluator.hpp"
#include "kernel_refine/kernel_refine.hpp"
#include "sandbox/process_watch.hpp"

namespace hone {
namespace {

// The judge of each lane and its candidate need a core each; compilers and interpreters need some more.
constexpr int kCoresOfLane = 4, kLanesByCores = 4;
// Builds and dry runs do not use the device, so they need not wait for it.
constexpr int kCoresOfBuilder = 3, kBuildersByCores = 16;

/// Why a compiler is missing, and the package that contains it.
Error no_compiler(const std::string& language, const std::string& path) {
  const std::string package = language == "c" ? "gcc" : "g++";
  const std::string what =
      path == "auto" ? "no compiler for " + language + " found" : path + ": no such compiler";
  return {Code::kFailedPrecondition,
          "cpu." + language + ".path: " + what + "; apt-get install " + package};
}

Result<Toolchain> find_toolchain(const std::string& language, const CompilerConfig& config) {
  Toolchain toolchain;
  toolchain.compiler = config.path;
  toolchain.flags = config.flags;
  if (config.path == "auto") {
    const bool cxx = language == "c++";
    toolchain.compiler = cxx ? find_program({"g++", "clang++", "g++-12", "g++-13", "clang++-14"})
                             : find_program({"gcc", "clang", "gcc-12", "gcc-13", "clang-14"});
  }
  if (toolchain.compiler.empty() || access(toolchain.compiler.c_str(), X_OK) != 0) {
    return no_compiler(language, config.path);
  }
  return toolchain;
}

Status use_cpu(const Config& config, EvaluatorOptions& options) {
  HONE_ASSIGN(options.toolchains["c++"], find_toolchain("c++", config.cpu.cxx));
  HONE_ASSIGN(options.toolchains["c"], find_toolchain("c", config.cpu.c));
  options.readable = config.cpu.readable;
  if (!config.cpu.python.empty())
    HONE_TRY(use_interpreter("cpu.python", config.cpu.python, options));
  for (const DeviceConfig& device : config.cpu.devices) {
    DeviceSpec spec{
        static_cast<int>(options.devices.size()), static_cast<int>(device.judge_cpu), {}};
    for (const std::int64_t core : device.cores) spec.cores.push_back(static_cast<int>(core));
    options.devices.push_back(std::move(spec));
  }
  if (options.devices.empty()) options.devices = default_devices(cores_of(0));
  return {};
}

/// Folders that a backend's own keys name for its builders.
std::vector<std::string> paths_of_builders(const BackendConfig& config) {
  std::vector<std::string> folders;
  for (const BackendParameter& parameter : config.description.parameters) {
    if (parameter.name == config.description.sanitizer.parameter ||
        parameter.name == config.description.counters.parameter)
      continue;
    const Value* value = config.options.find(parameter.name);
    if (parameter.path == PathKind::kNone || value == nullptr) continue;
    const Value::Array one{*value};
    for (const Value& path : value->is_array() ? value->as_array() : one) {
      if (!path.is_string() || !path.as_string().starts_with('/')) continue;  // "auto"
      const std::filesystem::path named = path.as_string();
      folders.push_back(parameter.path == PathKind::kFile ? named.parent_path() : named);
    }
  }
  return folders;
}

/// Only recorded plans are judged in lanes (docs/adr/0043).
bool has_lanes(const BackendConfig& config) {
  return config.description.replays_plans && config.modules != "process";
}

/// The judge and the process that drives the device spin at the same time. Each gets a core if there are enough. These are the last cores of the machine, because builders use the first.
Status use_devices(const BackendConfig& config, EvaluatorOptions& options) {
  options.isolation = config.isolation;
  if (config.description.replays_plans) {
    options.modules = config.modules;
  } else if (config.modules == "plan") {
    return failed_precondition(options.backend +
                               ".modules: found plan, which this backend cannot replay; expected "
                               "auto or process");
  }
  if (config.module_lanes > 1 && !has_lanes(config)) {
    log_warning("config", options.backend + ".module_lanes: found " +
                              std::to_string(config.module_lanes) +
                              ", which has no effect: modules that run in processes of their own "
                              "are judged one at a time on a device; remove the key");
  }
  if (config.module_isolation != "fresh") {
    log_warning(
        "config",
        options.backend + ".module_isolation: found " + config.module_isolation +
            ", which is ignored: the process of a module serves one submission; remove the key");
  }
  options.runner_uses = static_cast<std::size_t>(config.uses);
  options.backend_library = config.library;
  options.readable = paths_of_builders(config);
  options.toolchains[options.language].options = config.options;
  use_named_path(options.sanitizer, config.options);
  const std::vector<std::string> refused =
      find_library(options.counters, config.options, config.python);
  if (options.counters.path.empty() && !refused.empty())
    log_warning("config", "no library can read hardware counters: " + refused.front());
  std::vector<int> cores = cores_of(0);
  if (cores.empty()) cores = {0};
  const std::size_t cpus = cores.size();
  std::size_t first = 0;
  const auto lane_of = [&](std::int64_t device) -> DeviceSpec {
    const std::size_t judge = cpus - 1 - first % cpus;
    first += 2;
    return {static_cast<int>(device), cores[judge], {cores[(judge + cpus - 1) % cpus]}};
  };
  for (const std::int64_t device : device_numbers(config))
    options.devices.push_back(lane_of(device));
  if (config.python.empty()) return {};
  for (std::int64_t i = 1; i < module_lanes(config); ++i) {
    for (DeviceSpec& device : options.devices) device.lanes.push_back(lane_of(device.index));
  }
  if (first > cpus) {
    log_warning("config", options.backend + ".devices: the lanes of " +
                              std::to_string(options.devices.size()) + " devices use " +
                              std::to_string(first) + " cores, and there are " +
                              std::to_string(cpus) +
                              ": measurements share cores; lower module_lanes");
  }
  return use_interpreter(options.backend + ".python", config.python, options);
}

IsolationLevel level_of(const std::string& name) {
  const auto level = parse_isolation(name);
  return level ? *level : IsolationLevel::kFiltered;  // the schema rejects other names
}

}  // namespace

const BackendConfig* device_config(const Config& config, std::string_view backend) {
  const auto found = config.backends.find(backend);
  return found != config.backends.end() ? &found->second : nullptr;
}

std::int64_t module_lanes(const BackendConfig& config) {
  if (config.python.empty() || !has_lanes(config)) return 1;
  if (config.module_lanes > 0) return config.module_lanes;
  const int devices = static_cast<int>(device_numbers(config).size());
  return std::clamp(cpu_count() / (kCoresOfLane * devices), 1, kLanesByCores);
}

std::vector<std::int64_t> device_numbers(const BackendConfig& config) {
  if (!config.devices.empty()) return config.devices;
  if (!config.description.device_numbers.empty()) return config.description.device_numbers;
  return {0};
}

std::int64_t builder_count(const Config& config) {
  if (config.evaluate.builders > 0) return config.evaluate.builders;
  // Builders and CPU measurements share the cores.
  if (device_config(config, config.backend) == nullptr) return 1;
  return std::clamp(cpu_count() / kCoresOfBuilder, 1, kBuildersByCores);
}

std::string find_program(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    for (const char* folder : {"/usr/local/bin/", "/usr/bin/", "/bin/"}) {
      if (access((folder + name).c_str(), X_OK) == 0) return folder + name;
    }
  }
  return "";
}

int cpu_count() { return std::max(1, static_cast<int>(cores_of(0).size())); }

LauncherOptions launcher_options(const Config& config) {
  LauncherOptions options;
  options.minimum = level_of(config.isolation.minimum);
  options.maximum = level_of(config.isolation.maximum);
  options.freezer = config.isolation.freezer;
  options.workdir = config.isolation.workdir;
  options.slots = static_cast<int>(config.isolation.slots);
  options.first_uid = static_cast<std::uint32_t>(config.isolation.first_uid);
  if (const BackendConfig* backend = device_config(config, config.backend))
    options.device = device_files_of(backend->description);
  return options;
}

HostOptions plugin_services() {
  HostOptions services;
  services.parse_yaml = [](std::string_view text, std::string_view name) -> Result<Value> {
    HONE_ASSIGN(const YamlDocument document, parse_yaml(text, name));
    return document.to_value();
  };
  return services;
}

PluginHostOptions plugin_host_options(const Config& config) {
  PluginHostOptions options = installed_plugin_host();
  options.python = config.plugin_host.python;
  options.call_s = config.plugin_host.call_seconds;
  options.start_s = config.plugin_host.start_seconds;
  options.memory_mb = config.plugin_host.memory_mb;
  options.reload = config.plugin_host.reload;
  return options;
}

std::unique_ptr<const Registry> open_registry(const Config& config) {
  RegistryOptions options;
  options.roots = {install_root()};
  options.extra.assign(config.plugin_paths.begin(), config.plugin_paths.end());
  for (const std::string& name : {config.reward.name, config.environment.name}) {
    if (is_plugin_path(name)) options.extra.emplace_back(name);
  }
  for (const DatasetConfig& dataset : config.datasets) {
    if (is_plugin_path(dataset.plugin)) options.extra.emplace_back(dataset.plugin);
  }
  options.host = plugin_services();
  options.start_process = open_in_plugin_hosts(plugin_host_options(config));
  options.in_process = config.plugin_host.in_process;
  return std::make_unique<const Registry>(std::move(options));
}

Result<std::shared_ptr<const Catalog>> open_catalog(
    const Config& config, const Registry& registry,
    const std::function<std::string(std::size_t i)>& place) {
  std::vector<TaskSource> sources;
  for (std::size_t i = 0; i < config.datasets.size(); ++i) {
    const DatasetConfig& dataset = config.datasets[i];
    const std::string whose = (place ? place(i) : "") + "dataset '" + dataset.name + "'";
    Value own = dataset.config;
    const Value* path = own.find("path");
    if (path != nullptr && path->is_string() && path->as_string() == "builtin") {
      own.set("path", (install_root() / "share/tasks").string());
    }
    const auto plugin = registry.name_of(dataset.plugin);
    if (!plugin) return plugin.error().in(whose);
    auto opened = registry.open_dataset(*plugin, dataset.name, own);
    if (!opened) return opened.error().in(whose);
    sources.push_back(
        task_source(std::shared_ptr<const Dataset>(std::move(opened).value()), dataset.unlisted));
  }
  return Catalog::open(std::move(sources), {.open_held_out = config.open_held_out});
}

Result<EvaluatorOptions> evaluator_options(const Config& config, const Registry& registry) {
  EvaluatorOptions options;
  options.backend = config.backend;
  options.libexec = install_root() / "libexec";
  if (const BackendConfig* devices = device_config(config, config.backend)) {
    use_description(devices->description, options);
    HONE_TRY(use_devices(*devices, options));
  } else {
    HONE_TRY(use_cpu(config, options));
  }
  if (options.backend_library.empty()) {
    HONE_ASSIGN(const PluginLibrary library,
                registry.library(PluginKind::kBackend, config.backend));
    options.backend_library = library.path();
  }
  options.backend_library = std::filesystem::absolute(options.backend_library);
  const EvaluateConfig& c = config.evaluate;
  options.builders = static_cast<int>(builder_count(config));
  options.queue_max = static_cast<std::size_t>(c.queue_max);
  options.client_max = static_cast<std::size_t>(c.client_max);
  options.build_seconds = c.build_seconds;
  options.build_memory_mb = c.build_memory_mb;
  options.evaluation_seconds = c.evaluation_seconds;
  options.cache_mb = static_cast<std::size_t>(c.cache_mb);
  options.installed_max = static_cast<std::size_t>(c.installed_max);
  options.suspect_speedup = c.suspect_speedup;
  options.suspect_factor = c.suspect_factor;
  options.measure.max_interval = c.max_interval;
  options.measure.round_ms = c.measure.round_ms;
  options.measure.pairs_min = static_cast<int>(c.measure.pairs_min);
  options.measure.pairs_max = static_cast<int>(c.measure.pairs_max);
  options.measure.seconds_max = c.measure.seconds_max;
  options.measure.set_mb = c.measure.set_mb;
  options.measure.single_call_pairs = static_cast<int>(c.measure.singles);
  return options;
}

void choose_reward(Config& config, const std::string& chosen) {
  if (chosen.empty()) return;
  config.reward = {is_plugin_path(chosen) ? std::filesystem::absolute(chosen).string() : chosen,
                   Value::map()};
}

Result<std::unique_ptr<Reward>> open_reward(const Config& config, const Registry& registry) {
  HONE_ASSIGN(const std::string name, registry.name_of(config.reward.name));
  return registry.open_reward(name, config.reward.config);
}

Result<std::unique_ptr<EpisodeService>> make_episodes(const Config& config,
                                                      const Registry& registry,
                                                      std::shared_ptr<const Catalog> catalog,
                                                      Evaluator& evaluator, std::string isolation,
                                                      Journal* journal) {
  // An error in the default reward must show at the start, not at the first reset.
  const auto default_reward = open_reward(config, registry);
  if (!default_reward) return default_reward.error().in("reward");
  HONE_ASSIGN(Environments environments, open_environments(config, registry));

  EpisodeOptions options;
  options.limits.lease_s = config.server.lease_s;
  options.limits.ended_lease_s = config.server.ended_lease_s;
  options.limits.episodes = static_cast<std::size_t>(config.server.limits.episodes);
  const LimitsConfig& limits = config.server.limits;
  options.limits.client_episodes = static_cast<std::size_t>(limits.client_episodes);
  options.limits.client_steps = static_cast<std::size_t>(limits.client_evaluations);
  options.limits.client_bytes = static_cast<std::size_t>(limits.client_bytes);
  options.split = config.environment.split;
  options.backends = {config.backend};
  options.isolation = std::move(isolation);
  options.reward = (*default_reward)->name();
  options.reward_config = config.reward.config;
  options.journal = journal;
  return make_episode_service(std::move(options), std::move(environments), std::move(catalog),
                              evaluator, [&registry](const std::string& name, const Value& own) {
                                return registry.open_reward(name, own);
                              });
}

Result<std::unique_ptr<Host>> Host::start(LoadedConfig loaded, const Say& say,
                                          CountersAhead counters_ahead) {
  const auto tell = [&say](std::string_view what) {
    if (say) say(what);
  };
  HONE_TRY(fit_slots(loaded));
  HONE_TRY(check_descriptor_limit(kDescriptorsMin));
  std::unique_ptr<Host> host(new Host(loaded.config));
  const Config& config = host->config_;
  tell("starting the launcher");
  HONE_ASSIGN(host->launcher_, Launcher::start(launcher_options(config)));
  tell("reading plugins and tasks");
  HONE_ASSIGN(ConfigParts parts, open_parts(loaded));
  host->registry_ = std::move(parts.registry);
  host->catalog_ = std::move(parts.catalog);
  HONE_ASSIGN(host->journal_, open_journal(config));
  HONE_ASSIGN(EvaluatorOptions options, evaluator_options(config, *host->registry_));
  options.counters_ahead = counters_ahead;
  HONE_ASSIGN(const std::unique_ptr<Backend> backend,
              host->registry_->open_backend(config.backend));
  HONE_ASSIGN(const Value facts, backend->describe(Value::map()));
  tell("testing compilers and starting the judge");
  HONE_ASSIGN(host->evaluator_,
              make_evaluator(*host->launcher_, options, facts.find("fingerprint")->as_string()));
  HONE_ASSIGN(
      host->episodes_,
      make_episodes(config, *host->registry_, host->catalog_, *host->evaluator_,
                    std::string(isolation_name(host->launcher_->level())), host->journal_.get()));
  return host;
}

ServerProblems Host::problems() const {
  constexpr std::uint64_t kBytesMin = 4 << 20;  // a build, or a journal's WAL between checkpoints
  std::vector<std::string> found;
  const auto look_at_space = [&](const std::string& what, const std::filesystem::path& folder) {
    const auto free = free_bytes(folder);
    if (free && *free >= kBytesMin) return;
    found.push_back(what + ": " +
                    (free ? folder.string() + " has less than 4 MiB free" : free.error().message));
  };
  if (journal_) {
    if (const std::string problem = journal_->problem(); !problem.empty())
      found.push_back("journal: " + problem);
    look_at_space("journal", std::filesystem::absolute(config_.journal.path).parent_path());
  }
  // With a private root, builds are in a tmpfs of their own.
  std::error_code ignored;
  const std::filesystem::path scratch = config_.isolation.workdir.empty()
                                            ? std::filesystem::temp_directory_path(ignored)
                                            : std::filesystem::path(config_.isolation.workdir);
  if (launcher_->level() < IsolationLevel::kPrivate) look_at_space("isolation.workdir", scratch);
  std::vector<std::string> failing = evaluator_->problems();  // one line for each device
  if (failing.empty()) return {std::move(found), {}};
  const Value stats = evaluator_->stats();
  const Value& devices = member_or_nil(stats, "devices");
  if (devices.is_int() && static_cast<std::size_t>(devices.as_int()) > failing.size())
    return {std::move(found), std::move(failing)};
  for (std::string& problem : failing) found.push_back(std::move(problem));
  return {std::move(found), {}};
}

std::string Host::description() const {
  const auto tasks = catalog_->list("");
  return "isolation " + std::string(isolation_name(launcher_->level())) + " (freezer " +
         launcher_->freezer() + "); " + evaluator_->fingerprint() + "; " +
         std::to_string(tasks ? tasks->size() : 0) + " tasks; " +
         (journal_ ? "journal " + config_.journal.path : "no journal");
}

}  // namespace hone
