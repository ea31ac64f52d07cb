// Languages by file name, and plans by the kind of backend.
#include "evaluate/sources.hpp"

#include <algorithm>
#include <utility>

#include "model/task.hpp"

namespace hone {
namespace {

// Rationale: twice a device's time slice. In a shorter round, a submission that reports its work as done too
// early would save its start-up time.
constexpr double kModuleRoundMs = 4;
constexpr double kFewerPairs = 0.75;  // share of the pairs, because these rounds are longer
constexpr int kPairsLeast = 3;

int fewer(int pairs) { return std::max(kPairsLeast, static_cast<int>(kFewerPairs * pairs)); }

std::string language_of(const Source& source, const EvaluatorOptions& options) {
  if (source.name.ends_with(".py")) return "python";
  if (options.device_code) return options.language;
  return source.name.ends_with(".c") ? "c" : "c++";
}

Result<PlannedSource> planned(const Task& task, BuildRequest build, const EvaluatorOptions& options,
                              bool reference) {
  PlannedSource source{std::move(build), mode_of(task, options), {}};
  source.build.threads = task.threads;
  source.build.record =
      !reference && source.mode == Mode::kModuleOnDevice && records_modules(options);
  const std::string entry = reference ? "reference" : task.entry;
  source.build.support = task.backends.at(options.backend).support;
  if (source.mode != Mode::kPlanOnDevice) {
    source.plans[Form::kEntry] = host_plan(task, entry);
    if (reference) {
      source.plans[Form::kExact] = host_plan(task, "exact");
      const bool has_spikes = options.measure.defences.holds(Defence::kSpikes);
      for (const std::string& name : reference_forms(task)) {
        HONE_ASSIGN(const Form form, parse_enum<Form>(name));
        source.plans[form] = host_plan(task, has_spikes ? name : "plain_" + name);
      }
      for (const Form form : {Form::kOwn, Form::kStrict, Form::kError, Form::kShortcuts}) {
        if (task.tolerance.from_reference)
          source.plans[form] = host_plan(task, std::string(enum_name(form)));
      }
    }
    source.build.entries = {reference ? "exact" : entry};
    return source;
  }
  HONE_ASSIGN(source.plans[Form::kEntry],
              parse_plan(source.build.text, task, entry, reference ? "reference" : ""));
  if (reference) {
    HONE_ASSIGN(source.plans[Form::kExact],
                parse_plan(source.build.text, task, "exact", "exact", false));
  }
  std::vector<const Plan*> plans;
  for (const auto& [form, plan] : source.plans) plans.push_back(&plan);
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

MeasureSettings settings_of(Mode mode, MeasureSettings settings) {
  settings.measure = settings.measure && is_timed(mode);
  if (mode == Mode::kModuleOnDevice) {
    settings.round_ms = std::max(settings.round_ms, kModuleRoundMs);
    settings.pairs_min = fewer(settings.pairs_min);
    settings.pairs_max = fewer(settings.pairs_max);
  }
  return settings;
}

std::string submission_name(const std::string& language, const EvaluatorOptions& options) {
  const auto suffix = options.suffixes.find(language);
  return "submission" + (suffix != options.suffixes.end() ? suffix->second : "");
}

void use_description(const BackendDescription& description, EvaluatorOptions& options) {
  options.device_code = description.has_device_code();
  options.language = description.languages.front();
  options.suffixes = description.suffixes;
  options.reports = description.reports;
  options.sanitizer = description.sanitizer;
  options.counters = description.counters;
  options.harness = description.harness;
  options.known_answer = description.known_answer;
}

Result<PlannedSource> planned_submission(const Task& task, const std::string& language,
                                         const std::string& text, const EvaluatorOptions& options) {
  BuildRequest build;
  build.language = language;
  build.name = submission_name(language, options);
  build.text = text;
  return planned(task, std::move(build), options, false);
}

Result<PlannedSource> planned_reference(const Task& task, const EvaluatorOptions& options) {
  return planned_of_task(task, task.backends.at(options.backend).reference, options, true);
}

Result<PlannedSource> planned_baseline(const Task& task, const EvaluatorOptions& options) {
  HONE_ASSIGN(PlannedSource source,
              planned_of_task(task, task.backends.at(options.backend).baseline, options, false));
  if (chooses_baseline(task, options)) source.build.record = false;
  return source;
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

Result<PlannedSource> planned_trusted(const Task& task, TrustedRole role,
                                      const EvaluatorOptions& options) {
  return role == TrustedRole::kReference ? planned_reference(task, options)
                                         : planned_baseline(task, options);
}

Result<TrustedCode> build_planned(PlannedSource source, BuildPool& builds) {
  HONE_ASSIGN(auto built, builds.build(source.build));
  return TrustedCode{std::move(source.plans), std::move(built)};
}

std::shared_ptr<const TrustedCode> usable(const Result<TrustedCode>& code) {
  if (!code || !code->built->ok || code->built->is_incomplete) return nullptr;
  return std::make_shared<const TrustedCode>(*code);
}

void build_trusted(const Task& task, const EvaluatorOptions& options, BuildPool& builds,
                   TrustedCodes& codes) {
  const auto build = [&](TrustedRole role) -> Result<TrustedCode> {
    HONE_ASSIGN(PlannedSource source, planned_trusted(task, role, options));
    return build_planned(std::move(source), builds);
  };
  if (codes.reference == nullptr) codes.reference = usable(build(TrustedRole::kReference));
  if (codes.baseline == nullptr && is_timed(mode_of(task, options)))
    codes.baseline = usable(build(TrustedRole::kBaseline));
}

}  // namespace hone
