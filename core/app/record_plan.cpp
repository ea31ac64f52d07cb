#include "app/record_plan.hpp"

#include <utility>

#include "app/host.hpp"
#include "evaluate/interpreter.hpp"
#include "evaluate/sources.hpp"

namespace hone {

Result<std::unique_ptr<PlanRecorder>> PlanRecorder::start(LoadedConfig loaded, const Say& say) {
  HONE_TRY(fit_slots(loaded));
  std::unique_ptr<PlanRecorder> made(new PlanRecorder(std::move(loaded)));
  const Config& config = made->loaded_.config;
  say("starting the launcher");
  HONE_ASSIGN(made->launcher_, Launcher::start(launcher_options(config)));
  say("reading plugins and tasks");
  HONE_ASSIGN(made->parts_, open_parts(made->loaded_));
  HONE_ASSIGN(made->options_, evaluator_options(config, *made->parts_.registry));
  EvaluatorOptions& options = made->options_;
  if (!options.device_code)
    return invalid_argument("backend " + config.backend +
                            ": expected a backend with a device; give its configuration: -c FILE");
  HONE_TRY(expect_interpreter(options));
  options.modules = "auto";
  const Value* configured = options.toolchains.at(options.language).options.find("architecture");
  const bool is_configured =
      configured != nullptr && configured->is_string() && !configured->as_string().empty();
  const std::string architecture =
      is_configured ? configured->as_string() : std::string(kDefaultArchitecture);
  made->zygotes_ = std::make_unique<Zygotes>(*made->launcher_, options);
  made->builds_ = std::make_unique<BuildPool>(*made->launcher_, options, made->zygotes_.get());
  HONE_TRY(made->builds_->use_device(Value::map({{"architecture", architecture}})));
  say("importing torch");
  made->zygotes_->begin();
  return made;
}

Result<Recording> PlanRecorder::record(const std::string& task_id, const std::string& source) {
  HONE_ASSIGN(const auto task, parts_.catalog->find_for(loaded_.config.backend, task_id));
  if (mode_of(*task, options_) != Mode::kModuleOnDevice)
    return invalid_argument("task " + task->id + ": expected a task whose reference is a module");
  HONE_ASSIGN(PlannedSource planned, source.empty()
                                         ? planned_baseline(*task, options_)
                                         : planned_submission(*task, "python", source, options_));
  planned.build.record = true;
  HONE_ASSIGN(const auto built, builds_->build(planned.build));
  if (!built->ok) {
    std::string problem = "the source does not build: " + built->diagnostics;
    while (problem.ends_with('\n')) problem.pop_back();
    return Recording{nullptr, std::move(problem)};
  }
  return Recording{built->plan, built->not_recorded};
}

}  // namespace hone
