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
/// What plugins may ask of the host.
HostOptions plugin_services();
/// For plugins that run in processes of their own.
PluginHostOptions plugin_host_options(const Config& config);
/// What is shipped, what is configured in plugins.paths, and what reward and datasets name by path.
std::unique_ptr<const Registry> open_registry(const Config& config);
/// An error names the dataset it is about, after what `place` says of the i-th of them.
Result<std::shared_ptr<const Catalog>> open_catalog(
    const Config& config, const Registry& registry,
    const std::function<std::string(std::size_t i)>& place = {});
/// Finds the compilers; one that is missing is failed_precondition and says how to get it.
Result<EvaluatorOptions> evaluator_options(const Config& config, const Registry& registry);
/// The configured reward; `chosen`, a name or a path of the command line, stands in its place.
void choose_reward(Config& config, const std::string& chosen);
Result<std::unique_ptr<Reward>> open_reward(const Config& config, const Registry& registry);
/// Every environment there is; first the one that episodes run in where a reset names none.
Result<Environments> open_environments(const Config& config, const Registry& registry);
/// The one whose actions are sources.
Result<std::unique_ptr<Environment>> open_kernel_refine(const Config& config);
ServerOptions server_options(const Config& config);

/// The section of a backend of devices; NULL where a backend has none.
const GpuConfig* device_config(const Config& config, std::string_view backend);
/// Lanes of its first device (EvaluatorOptions::lanes), with the one that each device is.
std::int64_t module_lanes(const GpuConfig& config);
/// Builds at a time (EvaluatorOptions::builders).
std::int64_t builder_count(const Config& config);

/// Smallest open-file limit: half for a host with one device, half for its connections.
inline constexpr std::size_t kDescriptorsMin = 256;

/// The first of these programs in the usual folders, or "".
std::string find_program(const std::vector<std::string>& names);
/// CPUs that this process may use.
int cpu_count();

/// All of it, running. Members are made in the order in which they stand, and go in the opposite
/// one. Start it before the process has threads or sockets.
///
///   HONE_ASSIGN(auto host, Host::start(loaded, terminal_status));
///   host->episodes().reset(…);
class Host {
 public:
  using Say = std::function<void(std::string_view what)>;  ///< progress: "starting the launcher"

  static Result<std::unique_ptr<Host>> start(LoadedConfig loaded, const Say& say = {});

  const Config& config() const { return config_; }
  Launcher& launcher() { return *launcher_; }
  const Registry& registry() const { return *registry_; }
  const Catalog& catalog() const { return *catalog_; }
  Evaluator& evaluator() { return *evaluator_; }
  EpisodeService& episodes() { return *episodes_; }

  /// Reasons why steps cannot be done now, one line each: a full disk, a journal that cannot be
  /// written. [any thread] May wait for a disk.
  std::vector<std::string> problems() const;
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

/// The episode service of a configuration over any evaluator: figures of the host use one that runs
/// nothing.
Result<std::unique_ptr<EpisodeService>> make_episodes(const Config& config,
                                                      const Registry& registry,
                                                      std::shared_ptr<const Catalog> catalog,
                                                      Evaluator& evaluator, std::string isolation,
                                                      Journal* journal = nullptr);
/// The configured one; nullptr where none is.
Result<std::unique_ptr<Journal>> open_journal(const Config& config);

}  // namespace hone
