// Records modules as plans in the same way as a server, without a server or a device.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "app/parts.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "evaluate/build_pool.hpp"
#include "evaluate/recording.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// The architecture to record for, if the configuration names none.
inline constexpr std::string_view kDefaultArchitecture = "sm_90a";

/// Start it before the process has threads or sockets.
///
///   HONE_ASSIGN(auto recorder, PlanRecorder::start(loaded, say));
///   HONE_ASSIGN(const Recording recording, recorder->record("kernelbench/level1/19", source));
class PlanRecorder {
 public:
  using Say = std::function<void(std::string_view what)>;  ///< progress

  /// failed_precondition: the backend has no device, or there is no interpreter.
  static Result<std::unique_ptr<PlanRecorder>> start(LoadedConfig loaded, const Say& say);

  const Catalog& catalog() const { return *parts_.catalog; }
  /// `task_id`: a task whose reference is a module. `source`: a submission's source; empty: the task's baseline.
  /// If the source does not build, the result has no plan, and its problem is the reason.
  Result<Recording> record(const std::string& task_id, const std::string& source);

 private:
  explicit PlanRecorder(LoadedConfig loaded) : loaded_(std::move(loaded)) {}

  LoadedConfig loaded_;
  std::unique_ptr<Launcher> launcher_;
  ConfigParts parts_;
  EvaluatorOptions options_;
  std::unique_ptr<Zygotes> zygotes_;
  std::unique_ptr<BuildPool> builds_;
};

}  // namespace hone
