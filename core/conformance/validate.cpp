// Selects the checks for a plugin, and implements both sides of running one.
#include "conformance/validate.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "conformance/checks.hpp"
#include "hone/backend.h"
#include "hone/dataset.h"
#include "hone/reward.h"

namespace hone {
namespace {

/// The checks of a kind, by the id of its factory.
struct Suite {
  std::string_view factory_id;
  const std::vector<Check>& checks;
};

std::vector<Suite> suites() {
  return {{HONE_REWARD_FACTORY_ID, reward_checks()},
          {HONE_DATASET_FACTORY_ID, dataset_checks()},
          {HONE_BACKEND_FACTORY_ID, backend_checks()}};
}

const Check* find_check(std::string_view id) {
  std::vector<const std::vector<Check>*> lists{&entry_checks()};
  for (const Suite& suite : suites()) lists.push_back(&suite.checks);
  for (const std::vector<Check>* list : lists) {
    for (const Check& check : *list) {
      if (check.id == id) return &check;
    }
  }
  return nullptr;
}

/// The configuration map for create() and open().
Result<Value> parse_config(const std::string& json) {
  if (json.empty()) return Value::map();
  HONE_ASSIGN(Value config, from_json(json));
  if (config.is_map()) return config;
  return invalid_argument("configuration: expected a json object, found " +
                          std::string(config.type_name()));
}

bool is_bad(CheckOutcome outcome) {
  return outcome == CheckOutcome::kFailed || outcome == CheckOutcome::kCrashed ||
         outcome == CheckOutcome::kTimedOut;
}

/// Runs a list of checks in order. If a check fails on which the others depend, the rest is skipped.
class Run {
 public:
  Run(const std::filesystem::path& path, const std::filesystem::path& program,
      const CheckProcessOptions& options, ValidationReport& report)
      : path_(path), program_(program), options_(options), report_(report) {}

  Status all(const std::vector<Check>& checks, bool stop_at_first_bad) {
    std::string_view bad;
    for (const Check& check : checks) {
      CheckResult result{CheckOutcome::kSkipped, "after " + std::string(bad)};
      if (bad.empty()) {
        HONE_ASSIGN(result,
                    run_check_process(
                        program_, {"validate", "--check", std::string(check.id), path_.string()},
                        options_));
      }
      if (is_bad(result.outcome) && stop_at_first_bad) bad = check.id;
      report_.checks.push_back(
          {std::string(check.id), std::string(check.title), std::move(result)});
    }
    return {};
  }

 private:
  const std::filesystem::path& path_;
  const std::filesystem::path& program_;
  const CheckProcessOptions& options_;
  ValidationReport& report_;
};

const CheckResult* result_of(const ValidationReport& report, std::string_view id) {
  for (const ValidatedCheck& check : report.checks) {
    if (check.id == id) return &check.result;
  }
  return nullptr;
}

}  // namespace

bool ValidationReport::ok() const {
  return std::none_of(checks.begin(), checks.end(),
                      [](const ValidatedCheck& c) { return is_bad(c.result.outcome); });
}

Result<ValidationReport> validate_plugin(const std::filesystem::path& path,
                                         const std::filesystem::path& program,
                                         const CheckProcessOptions& options) {
  std::error_code ignored;
  const std::filesystem::path plugin = std::filesystem::absolute(path, ignored);
  if (!std::filesystem::is_regular_file(plugin, ignored)) {
    return not_found("no such file: " + path.string());
  }
  HONE_TRY(parse_config(options.config_json));
  ValidationReport report;
  Run run(plugin, program, options, report);
  HONE_TRY(run.all(entry_checks(), true));
  const CheckResult* entry = result_of(report, "entry");
  if (entry != nullptr && entry->outcome == CheckOutcome::kPassed) {
    const std::size_t space = entry->message.find(' ');
    report.name = entry->message.substr(0, space);
    report.version = entry->message.substr(space + 1);
  }
  const CheckResult* offered = result_of(report, "factories");
  if (offered == nullptr || offered->outcome != CheckOutcome::kPassed) return report;
  const std::string ids = offered->message;
  for (const Suite& suite : suites()) {
    if (ids.find(suite.factory_id) != std::string::npos) HONE_TRY(run.all(suite.checks, false));
  }
  return report;
}

int run_validation_check(const std::filesystem::path& path, std::string_view check_id,
                         HostOptions host) {
  const Check* check = find_check(check_id);
  if (check == nullptr) {
    report_check({CheckOutcome::kFailed, "no check is called '" + std::string(check_id) + "'"});
    return 2;
  }
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  CheckSubject subject{path, Value::map(), std::move(host)};
  auto config = parse_config(check_config_json());
  if (!config) {
    report_check({CheckOutcome::kFailed, config.error().message});
    return 0;
  }
  subject.config = std::move(*config);
  const Result<CheckResult> result = check->run(subject);
  report_check(result ? *result : CheckResult{CheckOutcome::kFailed, result.error().message});
  return 0;
}

}  // namespace hone
