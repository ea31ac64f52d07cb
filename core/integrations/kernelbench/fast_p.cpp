// Computes the figures, each with the number of samples behind it.
#include "integrations/kernelbench/fast_p.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/files.hpp"
#include "base/readable.hpp"
#include "base/utf8.hpp"
#include "judge/timing/statistics.hpp"

namespace hone {
namespace {

constexpr std::size_t kBaselineBytesMax = 64u << 20;

std::string fixed(double number, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, number);
  return text;
}

/// "0.0", "1.5", "1.25": as KernelBench writes its thresholds.
std::string threshold_text(double p) {
  char text[64];
  std::snprintf(text, sizeof text, "%g", p);
  return std::string(text).find_first_of(".e") == std::string::npos ? std::string(text) + ".0"
                                                                    : text;
}

std::string of_all(std::size_t count, const Analysis& analysis) {
  const double share = analysis.total == 0 ? 0
                                           : 100.0 * static_cast<double>(count) /
                                                 static_cast<double>(analysis.total);
  return std::to_string(count) + " of " + std::to_string(analysis.total) + " (" + fixed(share, 1) +
         " %)";
}

std::string share_text(const Share& share) {
  if (share.known()) return fixed(share.at_least, 3);
  return "unknown: " + fixed(share.at_least, 3) + " to " + fixed(share.at_most, 3);
}

/// The chance that one of k samples is right, when c of n are.
double pass_at(std::int64_t n, std::int64_t c, std::int64_t k) {
  if (n - c < k) return 1;
  double missed = 1;
  for (std::int64_t i = n - c + 1; i <= n; ++i) {
    missed *= 1 - static_cast<double>(k) / static_cast<double>(i);
  }
  return 1 - missed;
}

void add_pass_at_k(Analysis& analysis, const std::vector<Problem>& problems,
                   const EvalResults& results) {
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> samples;  // by problem: all, right
  for (const Problem& problem : problems) samples[problem.number] = {0, 0};
  std::int64_t most = 0;
  for (const SampleResult* result : results.all()) {
    const auto found = samples.find(result->problem);
    if (found == samples.end()) continue;
    most = std::max(most, ++found->second.first);
    found->second.second += result->correct && result->compiled;
  }
  std::set<std::int64_t> ks(analysis.request.ks.begin(), analysis.request.ks.end());
  if (ks.empty() && most > 1) ks = {1, most};
  for (const std::int64_t k : ks) {
    double sum = 0;
    std::int64_t counted = 0;
    for (const auto& [problem, of] : samples) {
      if (of.first < k) continue;
      sum += pass_at(of.first, of.second, k);
      ++counted;
    }
    if (counted > 0) analysis.pass_at_k[k] = {sum / static_cast<double>(counted), counted};
  }
}

std::optional<double> geometric_mean_of(const std::vector<double>& numbers) {
  if (numbers.empty()) return {};
  double sum = 0;
  for (const double number : numbers) sum += std::log(number);
  return std::exp(sum / static_cast<double>(numbers.size()));
}

Value or_nil(const std::optional<double>& number) { return number ? Value(*number) : Value(); }

}  // namespace

std::optional<double> speedup_of(const AnalysisRequest& request, const Problem& problem,
                                 const SampleResult& result) {
  if (!result.correct) return {};
  std::optional<double> speedup = result.speedup;
  if (request.baseline_ms) {
    const auto baseline = request.baseline_ms->find(problem.title);
    if (baseline == request.baseline_ms->end() || !result.runtime_ms) return {};
    speedup = baseline->second / *result.runtime_ms;
  }
  return speedup && std::isfinite(*speedup) && *speedup > 0 ? speedup : std::nullopt;
}

Analysis analyse(AnalysisRequest request, const std::vector<Problem>& problems,
                 const EvalResults& results, const std::set<std::int64_t>& not_judged) {
  Analysis analysis;
  analysis.request = std::move(request);
  analysis.total = problems.size();
  std::vector<double> speedups;
  for (const Problem& problem : problems) {
    if (not_judged.contains(problem.number)) {
      ++analysis.not_judged;
      continue;
    }
    const SampleResult* result = results.find(problem.number, 0);
    if (result == nullptr) continue;
    ++analysis.evaluated;
    analysis.compiled += result->compiled;
    analysis.correct += result->correct;
    const auto speedup = speedup_of(analysis.request, problem, *result);
    if (speedup) speedups.push_back(*speedup);
    analysis.unmeasured += result->correct && !speedup;
  }
  const double total = std::max<double>(1, static_cast<double>(analysis.total));
  for (const double p : analysis.request.thresholds) {
    const auto faster = static_cast<std::size_t>(
        std::count_if(speedups.begin(), speedups.end(), [p](double s) { return s > p; }));
    const std::size_t sure = p == 0 ? analysis.correct : faster;
    const std::size_t open = analysis.not_judged + (p == 0 ? 0 : analysis.unmeasured);
    analysis.fast_p.emplace_back(
        p, Share{static_cast<double>(sure) / total, static_cast<double>(sure + open) / total});
  }
  if (!speedups.empty()) analysis.median = median(speedups);
  analysis.geometric_mean = geometric_mean_of(speedups);
  add_pass_at_k(analysis, problems, results);
  return analysis;
}

Value to_value(const Analysis& analysis) {
  Value fast_p = Value::map(), bounds = Value::map();
  Value pass_at_k = Value::map(), pass_at_k_problems = Value::map();
  for (const auto& [p, share] : analysis.fast_p) {
    fast_p.set(threshold_text(p), share.known() ? Value(share.at_least) : Value());
    bounds.set(threshold_text(p), Value::array({share.at_least, share.at_most}));
  }
  for (const auto& [k, pass] : analysis.pass_at_k) {
    pass_at_k.set("pass@" + std::to_string(k), pass.chance);
    pass_at_k_problems.set("pass@" + std::to_string(k), pass.problems);
  }
  const double total = std::max<double>(1, static_cast<double>(analysis.total));
  return Value::map({{"run_name", analysis.request.run_name},
                     {"level", analysis.request.level},
                     {"total_count", analysis.total},
                     {"total_eval", analysis.evaluated},
                     {"compiled_count", analysis.compiled},
                     {"correct_count", analysis.correct},
                     {"compilation_rate", static_cast<double>(analysis.compiled) / total},
                     {"correctness_rate", static_cast<double>(analysis.correct) / total},
                     {"geo_mean_speedup", or_nil(analysis.geometric_mean)},
                     {"median_speedup", or_nil(analysis.median)},
                     {"fast_p", std::move(fast_p)},
                     {"fast_p_bounds", std::move(bounds)},
                     {"pass_at_k", std::move(pass_at_k)},
                     {"pass_at_k_problems", std::move(pass_at_k_problems)},
                     {"not_measured", analysis.unmeasured},
                     {"not_judged", analysis.not_judged}});
}

void print(Terminal& terminal, const Analysis& analysis) {
  terminal.line("level " + std::to_string(analysis.request.level) + " of " +
                analysis.request.run_name + ": " + std::to_string(analysis.evaluated) + " of " +
                std::to_string(analysis.total) + " problems have a result" +
                (analysis.not_judged == 0
                     ? ""
                     : ", " + std::to_string(analysis.not_judged) + " could not be judged"));
  terminal.table({"", ""}, {{{"compiled"}, {of_all(analysis.compiled, analysis)}},
                            {{"correct"}, {of_all(analysis.correct, analysis)}}});
  for (const auto& [k, pass] : analysis.pass_at_k) {
    const bool one = pass.problems == 1;
    terminal.line("pass@" + std::to_string(k) + "    " + fixed(pass.chance, 3) + " over the " +
                  (one ? "problem" : std::to_string(pass.problems) + " problems") + " with " +
                  counted_text(k, "sample") + " or more");
  }
  terminal.line();
  std::vector<Row> rows;
  for (const auto& [p, share] : analysis.fast_p) {
    rows.push_back({{threshold_text(p), Colour::kBold, true},
                    {share_text(share), share.known() ? Colour::kPlain : Colour::kYellow}});
  }
  terminal.table({"p", "fast_p"}, rows);
  terminal.line();
  if (analysis.median) {
    terminal.line("speedup of correct samples: median " + short_number(*analysis.median) +
                  "×, geometric mean " + short_number(*analysis.geometric_mean) + "×");
  }
  if (analysis.unmeasured > 0) {
    terminal.line(std::to_string(analysis.unmeasured) + " of " + std::to_string(analysis.correct) +
                  " correct samples were not measured");
  }
}

Result<std::map<std::string, double>> read_baseline(const std::filesystem::path& file,
                                                    std::int64_t level) {
  HONE_ASSIGN(const std::string text, read_text(file, kBaselineBytesMax));
  const auto parsed = from_json(text);
  if (!parsed) return invalid_argument(file.string() + ": " + printable(parsed.error().message));
  const std::string name = "level" + std::to_string(level);
  const Value* problems = parsed->find(name);
  if (problems == nullptr || !problems->is_map()) {
    return invalid_argument(file.string() + ": found no object '" + name +
                            "', expected one with a time for each problem");
  }
  std::map<std::string, double> times;
  for (const auto& [problem, said] : problems->as_map()) {
    const Value* mean = said.find("mean");
    const double time = mean != nullptr && mean->is_number() ? mean->as_double() : 0;
    if (!(kTimeMsMin <= time && time <= kTimeMsMax)) {
      return invalid_argument(file.string() + ": " + name + "/" + printable(problem) +
                              ": found no time, expected a 'mean' in ms");
    }
    times[problem.ends_with(".py") ? problem.substr(0, problem.size() - 3) : problem] = time;
  }
  return times;
}

}  // namespace hone
