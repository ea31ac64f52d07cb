// Finds the library that reads counters, makes the player's request and reads its answer.
#include "evaluate/device_counting.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/library_symbols.hpp"
#include "base/log.hpp"
#include "base/utf8.hpp"
#include "judge_protocol/defences.hpp"
#include "model/fields.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

// The process starts in about 0.7 s, more on a busy machine.
// Each of kPasses passes may take kSlower times as long as the call.
constexpr double kStartOfPlayer = 4, kCountingSecondsMax = 12, kSlower = 10, kPasses = 16;
// A longer duration in the untrusted answer is left out of the log.
constexpr double kStageMsMax = 1e6;
// Bytes that the sweep reads, as a multiple of the cache's size: enough to evict all earlier data.
constexpr std::uint64_t kTimesTheCache = 4, kSweepMin = std::uint64_t{1} << 20;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return path.is_absolute() && fs::is_regular_file(path, ignored);
}

/// These paths in the site-packages of an interpreter, BIN/python.
std::vector<std::string> paths_in_packages(const std::string& python,
                                           const std::vector<std::string>& packages) {
  std::error_code ignored;
  std::vector<fs::path> folders;
  for (fs::directory_iterator at(fs::path(python).parent_path().parent_path() / "lib", ignored),
       end;
       !ignored && at != end; at.increment(ignored)) {
    if (at->path().filename().string().starts_with("python"))
      folders.push_back(at->path() / "site-packages");
  }
  std::sort(folders.begin(), folders.end());
  std::vector<std::string> paths;
  for (const fs::path& folder : folders) {
    for (const std::string& package : packages) paths.push_back((folder / package).string());
  }
  return paths;
}

/// Logs the durations of the process' stages and its number of passes. They are untrusted, like the rest of its answer.
void log_stages(const Value& answer) {
  const Value* stages = answer.find("stage_ms");
  if (stages == nullptr || !stages->is_map()) return;
  std::string text;
  for (const char* name :
       {"open", "load", "buffers", "sweep", "begin", "passes", "pass_count", "read"}) {
    const Value* found = stages->find(name);
    const bool is_known =
        found != nullptr && found->is_number() && std::abs(found->as_double()) < kStageMsMax;
    if (is_known)
      text += std::string(text.empty() ? "" : ", ") + name + " " +
              std::to_string(std::lround(found->as_double()));
  }
  log_debug("evaluate", "counters were read; milliseconds of each stage: " + text);
}

/// The answer is untrusted: a number that is negative or not finite counts as unknown.
Result<std::vector<LaunchCounters>> read_counters(const std::string& bytes, std::size_t expected) {
  constexpr std::size_t kProblemMax = 500;
  HONE_ASSIGN(const Value value, from_msgpack(bytes));
  Fields f(value, "answer of the player");
  const std::string problem = f.text_or("problem", "");
  HONE_TRY(f.finish_loosely());
  if (!problem.empty()) return failed_precondition(printable_ascii(problem, kProblemMax));
  const Value* launches = f.array("launches");
  HONE_TRY(f.finish_loosely());
  if (launches->as_array().size() != expected) {
    return failed_precondition("counted " + std::to_string(launches->as_array().size()) +
                               " launches, expected " + std::to_string(expected));
  }
  log_stages(value);
  std::vector<LaunchCounters> counters;
  for (const Value& launch : launches->as_array()) counters.push_back(launch_counters_of(launch));
  return counters;
}

}  // namespace

double counting_seconds(const Verdict& verdict) {
  const double call_s = verdict.speedup->time_us * 1e-6;
  return std::min(kCountingSecondsMax, kStartOfPlayer + kPasses * kSlower * call_s);
}

std::string trouble_with(const std::string& path, const DeviceCounters& counters) {
  const auto missing = missing_symbols(path, counters.symbols);
  if (!missing) return missing.error().message;
  if (missing->empty()) return "";
  return "it is too old: it lacks " + std::to_string(missing->size()) + " of " +
         std::to_string(counters.symbols.size()) + " functions, for example " + missing->front();
}

std::vector<std::string> find_library(DeviceCounters& counters, const Value& options,
                                      const std::string& python) {
  if (use_named_path(counters, options)) return {};
  std::vector<std::string> refused, paths = counters.libraries;
  if (!python.empty()) {
    for (std::string& path : paths_in_packages(python, counters.packages))
      paths.push_back(std::move(path));
  }
  for (const std::string& path : paths) {
    if (!is_file(path)) continue;
    const std::string trouble = trouble_with(path, counters);
    if (trouble.empty()) {
      counters.path = path;
      return refused;
    }
    refused.push_back(path + ": " + trouble);
  }
  return refused;
}

Status expect_counters(const DeviceCounters& counters) {
  if (!is_file(counters.path)) {
    return failed_precondition(
        (counters.path.empty() ? std::string("no library that reads hardware counters was found")
                               : "found no file " + counters.path) +
        "; " + counters.help);
  }
  return {};
}

Result<std::vector<LaunchCounters>> count_on_device(Player& player, const EvaluatorOptions& options,
                                                    const DeviceCalls& call,
                                                    const CacheSweepCode& sweep,
                                                    const std::string& artifact, double seconds) {
  PlayerRequest asked;
  asked.request = call.request;
  asked.request.set("artifact", Value::bytes(artifact))
      .set("harness", Value::bytes(sweep.harness))
      .set("sweep_bytes",
           static_cast<std::int64_t>(std::max(kSweepMin, kTimesTheCache * sweep.cache_bytes)));
  if (!options.measure.defences.holds(Defence::kOwnPlayer)) asked.request.set("again", true);
  asked.seconds = seconds;
  HONE_ASSIGN(const PlayerAnswer answer, ask_player(player, asked));
  if (!answer.bytes) {
    return failed_precondition(answer.was_starved
                                   ? "other processes used the processor's cores; profile again"
                                   : "the kernel did not finish while its counters were read");
  }
  return read_counters(
      *answer.bytes, call.request.find("calls")->as_array()[0].find("launches")->as_array().size());
}

}  // namespace hone
