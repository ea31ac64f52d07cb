// Reads the arguments strictly: an unknown name is an error that suggests the nearest one.
#include "integrations/kernelbench/run_arguments.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/nearest.hpp"

namespace hone {
namespace {

/// Arguments of KernelBench's scripts that hone's configuration replaces, or that hone does not need.
constexpr std::string_view kElsewhere[] = {
    "backend",
    "build_cache",
    "check_kernel",
    "dataset_name",
    "dataset_src",
    "gpu",
    "gpu_arch",
    "kernel_eval_build_dir",
    "log",
    "log_eval_result",
    "log_generated_kernel",
    "log_prompt",
    "logdir",
    "measure_performance",
    "num_correct_trials",
    "num_cpu_workers",
    "num_gpu_devices",
    "num_perf_trials",
    "store_type",
    "timeout",
    "timing_method",
    "verbose",
};

/// The parts between commas, without brackets and spaces.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else if (std::string_view(" []()").find(c) == std::string_view::npos) {
      parts.back() += c;
    }
  }
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

template <typename Number>
std::optional<Number> parse_number(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

}  // namespace

Result<std::vector<double>> parse_thresholds(std::string_view text) {
  std::vector<double> thresholds;
  for (const std::string& part : parts_of(text)) {
    const auto number = parse_number<double>(part);
    if (!number || !std::isfinite(*number) || *number < 0) {
      return invalid_argument("thresholds: found '" + part + "', expected numbers such as 0.5,1,2");
    }
    thresholds.push_back(*number);
  }
  if (thresholds.empty()) {
    return invalid_argument("thresholds: found none, expected numbers such as 0.5,1,2");
  }
  std::sort(thresholds.begin(), thresholds.end());
  thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
  return thresholds;
}

std::optional<std::pair<std::string, std::int64_t>> parse_level(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  const std::string dataset(slash == std::string_view::npos ? "" : text.substr(0, slash));
  std::string_view last = slash == std::string_view::npos ? text : text.substr(slash + 1);
  if (!last.starts_with("level")) return {};
  const auto level = parse_number<std::int64_t>(std::string(last.substr(5)));
  if (!level || *level < 1) return {};
  return std::pair(dataset, *level);
}

std::optional<std::string> level_of_problem(std::string_view task) {
  const std::size_t slash = task.rfind('/');
  if (slash == std::string_view::npos) return {};
  const auto problem = parse_number<std::int64_t>(std::string(task.substr(slash + 1)));
  if (!problem || !parse_level(task.substr(0, slash))) return {};
  return std::string(task.substr(0, slash));
}

RunArguments::RunArguments(const std::vector<std::string>& given, std::string action)
    : action_(std::move(action)) {
  for (const std::string& word : given) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      mistake("found '" + word + "', expected NAME=VALUE, such as level=1");
      continue;
    }
    if (!given_.emplace(word.substr(0, equals), word.substr(equals + 1)).second) {
      mistake("found " + word.substr(0, equals) + " twice");
    }
  }
}

void RunArguments::mistake(std::string message) {
  if (!error_) error_ = invalid_argument(action_ + ": " + std::move(message));
}

std::string RunArguments::text(const std::string& name, std::string fallback) {
  asked_.push_back(name);
  const auto found = given_.find(name);
  return found == given_.end() || found->second == "None" ? fallback : found->second;
}

std::int64_t RunArguments::integer(const std::string& name, std::int64_t fallback) {
  const std::string said = text(name, "");
  if (said.empty() && !has(name)) return fallback;
  const auto number = parse_number<std::int64_t>(said);
  if (said.empty() && given_.at(name) == "None") return fallback;
  if (number && *number >= 0 && *number <= 1'000'000'000) return *number;
  mistake(name + ": found '" + said + "', expected a number");
  return fallback;
}

std::vector<std::int64_t> RunArguments::integers(const std::string& name) {
  std::vector<std::int64_t> numbers;
  for (const std::string& part : parts_of(text(name, ""))) {
    if (part == "None") continue;  // subset=(None, None)
    const auto number = parse_number<std::int64_t>(part);
    if (!number || *number < 0 || *number > 1'000'000'000) {
      mistake(name + ": found '" + part + "', expected numbers such as 1,5,10");
      return {};
    }
    numbers.push_back(*number);
  }
  return numbers;
}

void RunArguments::require(const std::string& name, std::string_view what) {
  if (!has(name)) mistake("found no " + name + ", expected " + std::string(what));
}

std::vector<std::string> RunArguments::without_effect() {
  std::vector<std::string> found;
  for (const auto& [name, value] : given_) {
    if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) continue;
    if (std::find(std::begin(kElsewhere), std::end(kElsewhere), name) == std::end(kElsewhere)) {
      continue;
    }
    found.push_back(name);
  }
  asked_.insert(asked_.end(), found.begin(), found.end());
  return found;
}

Status RunArguments::finish() {
  for (const auto& [name, value] : given_) {
    if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) continue;
    return invalid_argument(action_ + ": " + unknown_name("word", name, asked_));
  }
  if (error_) return *error_;
  return {};
}

}  // namespace hone
