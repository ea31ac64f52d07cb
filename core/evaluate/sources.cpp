// Languages by file name, plans by the kind of the backend.
#include "evaluate/sources.hpp"

#include "model/task.hpp"

namespace hone {
namespace {

std::string language_of(const Source& source, const EvaluatorOptions& options) {
  if (source.name.ends_with(".py")) return "python";
  if (options.device_code) return options.backend;
  return source.name.ends_with(".c") ? "c" : "c++";
}

Result<PlannedSource> planned(const Task& task, BuildRequest build, const EvaluatorOptions& options,
                              bool reference) {
  PlannedSource source{std::move(build), mode_of(task, options), {}, std::nullopt, {}};
  source.build.threads = task.threads;
  const std::string entry = reference ? "reference" : task.entry;
  source.build.support = task.backends.at(options.backend).support;
  if (source.mode != Mode::kPlanOnDevice) {
    source.plan = host_plan(task, entry);
    if (reference) {
      source.exact = host_plan(task, "exact");
      const bool has_spikes = options.measure.defences.holds(Defence::kSpikes);
      for (const std::string& form : reference_forms(task))
        source.further[form] = host_plan(task, has_spikes ? form : "plain_" + form);
      for (const char* form : {"own", "strict", "error", "shortcuts"}) {
        if (task.tolerance.from_reference) source.further[form] = host_plan(task, form);
      }
    }
    source.build.entries = {reference ? "exact" : entry};
    return source;
  }
  HONE_ASSIGN(source.plan,
              parse_plan(source.build.text, task, entry, reference ? "reference" : ""));
  std::vector<const Plan*> plans{&source.plan};
  if (reference) {
    HONE_ASSIGN(source.exact, parse_plan(source.build.text, task, "exact", "exact", false));
    plans.push_back(&*source.exact);
  }
  HONE_ASSIGN(const auto kernels, plan_kernels(task, plans));
  for (const PlanKernel& kernel : kernels) source.build.entries.push_back(kernel.name);
  return source;
}

Result<PlannedSource> planned_of_task(const Task& task, const Source& source,
                                      const EvaluatorOptions& options, bool reference) {
  BuildRequest build;
  build.language = language_of(source, options);
  build.name = source.name;
  build.text = source.text;
  auto made = planned(task, std::move(build), options, reference);
  if (made) return made;
  return failed_precondition("task " + task.id + ": " + source.name + ":" + made.error().message);
}

}  // namespace

Mode mode_of(const Task& task, const EvaluatorOptions& options) {
  const auto found = task.backends.find(options.backend);
  if (found != task.backends.end() && language_of(found->second.reference, options) == "python")
    return options.device_code ? Mode::kModuleOnDevice : Mode::kModuleOnCpu;
  return options.device_code ? Mode::kPlanOnDevice : Mode::kNativeOnCpu;
}

std::string submission_name(const std::string& language) {
  if (language == "cuda") return "submission.cu";
  if (language == "hip") return "submission.hip";
  if (language == "python") return "submission.py";
  return language == "c" ? "submission.c" : "submission.cpp";
}

Result<PlannedSource> planned_submission(const Task& task, const std::string& language,
                                         const std::string& text, const EvaluatorOptions& options) {
  BuildRequest build;
  build.language = language;
  build.name = submission_name(language);
  build.text = text;
  return planned(task, std::move(build), options, false);
}

Result<PlannedSource> planned_reference(const Task& task, const EvaluatorOptions& options) {
  return planned_of_task(task, task.backends.at(options.backend).reference, options, true);
}

Result<PlannedSource> planned_baseline(const Task& task, const EvaluatorOptions& options) {
  return planned_of_task(task, task.backends.at(options.backend).baseline, options, false);
}

bool chooses_baseline(const Task& task, const EvaluatorOptions& options) {
  const auto sources = task.backends.find(options.backend);
  if (sources == task.backends.end()) return false;
  const auto& support = sources->second.support;
  return std::any_of(support.begin(), support.end(), [](const Source& file) {
    if (file.name != "module.json") return false;
    const auto meta = from_json(file.text);
    const Value* baseline = meta ? meta->find("baseline") : nullptr;
    return baseline != nullptr && *baseline == Value("compile");
  });
}

void build_trusted(const Task& task, const EvaluatorOptions& options, BuildPool& builds) {
  const auto build = [&](const Result<PlannedSource>& source) {
    if (source) static_cast<void>(builds.build(source->build));
  };
  build(planned_reference(task, options));
  if (is_timed(mode_of(task, options))) build(planned_baseline(task, options));
}

}  // namespace hone
