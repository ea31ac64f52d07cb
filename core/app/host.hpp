// Host: a configuration made into running parts: launcher, plugins, tasks, evaluator, episodes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "episode/catalog.hpp"
#include "episode/environment.hpp"
#include "episode/episodes.hpp"
#include "evaluate/evaluator.hpp"
#include "evaluate/options.hpp"
#include "plugin/registry.hpp"
#include "plugin_host/hosted_plugin.hpp"
#include "sandbox/launcher.hpp"
#include "server/options.hpp"

namespace hone {

// The pieces, for commands that need only some.

LauncherOptions launcher_options(const Config& config);
/// Functions of the host that plugins may call.
HostOptions plugin_services();
/// Options for plugins that run in their own processes.
PluginHostOptions plugin_host_options(const Config& config);
/// Shipped plugins, plugins in plugins.paths, and those that reward and datasets name by path.
std::unique_ptr<const Registry> open_registry(const Config& config);
/// An error begins with `place` of the i-th dataset and names it.
Result<std::shared_ptr<const Catalog>> open_catalog(
    const Config& config, const Registry& registry,
    const std::function<std::string(std::size_t i)>& place = {});
/// Finds the compilers. A missing one is failed_precondition, with the package to install.
Result<EvaluatorOptions> evaluator_options(const Config& config, const Registry& registry);
/// The configured reward, or `chosen`: a name or path of the command line.
void choose_reward(Config& config, const std::string& chosen);
Result<std::unique_ptr<Reward>> open_reward(const Config& config, const Registry& registry);
/// All environments. The first one is the default of a reset.
Result<Environments> open_environments(const Config& config, const Registry& registry);
/// The environment that takes source code as its action.
Result<std::unique_ptr<Environment>> open_kernel_refine(const Config& config);
ServerOptions server_options(const Config& config);

/// The section of a backend of device code; nullptr for other backends.
const BackendConfig* device_config(const Config& config, std::string_view backend);
/// Numbers of the configured devices; for "all", those that the backend lists, or 0 if it lists none.
std::vector<std::int64_t> device_numbers(const BackendConfig& config);
/// Number of lanes of each device, including its main lane (DeviceSpec::lanes).
std::int64_t module_lanes(const BackendConfig& config);
/// Builds at a time (EvaluatorOptions::builders).
std::int64_t builder_count(const Config& config);

/// Smallest open-file limit: half for a host with one device, half for its connections.
inline constexpr std::size_t kDescriptorsMin = 256;

/// The first of these programs in the usual folders, or "".
std::string find_program(const std::vector<std::string>& names);
/// CPUs that this process may use.
int cpu_count();

/// A running host. Members are destroyed in the reverse order of their construction. Start it before the process has threads or sockets.
///
///   HONE_ASSIGN(auto host, Host::start(loaded, terminal_status));
///   host->episodes().reset(…);
class Host {
 public:
  using Say = std::function<void(std::string_view what)>;  ///< progress: "starting the launcher"

  static Result<std::unique_ptr<Host>> start(
      LoadedConfig loaded, const Say& say = {},
      CountersAhead counters_ahead = CountersAhead::kAfterFirst);

  const Config& config() const { return config_; }
  Launcher& launcher() { return *launcher_; }
  const Registry& registry() const { return *registry_; }
  const Catalog& catalog() const { return *catalog_; }
  Evaluator& evaluator() { return *evaluator_; }
  EpisodeService& episodes() { return *episodes_; }
  Journal* journal() { return journal_.get(); }  ///< nullptr: none is configured

  /// Blocking: a full disk, a journal with write errors, or no device whose judge starts. Partial: some of the devices have no
  /// judge. [any thread] May wait for a disk.
  ServerProblems problems() const;
  /// "isolation private (freezer cgroup), cpu: Intel …; 19 tasks"
  std::string description() const;

 private:
  explicit Host(Config config) : config_(std::move(config)) {}

  const Config config_;
  std::unique_ptr<Launcher> launcher_;
  std::unique_ptr<const Registry> registry_;
  std::shared_ptr<const Catalog> catalog_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Evaluator> evaluator_;
  std::unique_ptr<EpisodeService> episodes_;
};

/// The episode service of a configuration with any evaluator. Benchmarks use an evaluator that runs nothing.
Result<std::unique_ptr<EpisodeService>> make_episodes(const Config& config,
                                                      const Registry& registry,
                                                      std::shared_ptr<const Catalog> catalog,
                                                      Evaluator& evaluator, std::string isolation,
                                                      Journal* journal = nullptr);
/// The configured journal; nullptr if none is configured.
Result<std::unique_ptr<Journal>> open_journal(const Config& config);

}  // namespace hone
