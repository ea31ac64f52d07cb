// Reads other people's results with care, and writes what KernelBench's own analysis can read.
#include "cli/run_folder.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/files.hpp"
#include "base/utf8.hpp"
#include "model/fields.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kResultsBytesMax = 256u << 20;
constexpr std::size_t kDiagnosticsMax = 2000;
constexpr std::int64_t kIdMax = 1'000'000'000;

/// Takes `before` and then a number off the front of a text.
std::optional<std::int64_t> take_number(std::string_view& text, std::string_view before) {
  if (!text.starts_with(before)) return {};
  text.remove_prefix(before.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number > kIdMax) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<std::pair<std::int64_t, Generation>> parse_name(const fs::path& file) {
  const std::string name = file.filename().string();
  std::string_view left = name;
  const auto level = take_number(left, "level_");
  const auto problem = level ? take_number(left, "_problem_") : std::nullopt;
  const auto sample = problem ? take_number(left, "_sample_") : std::nullopt;
  if (!sample || left != "_kernel.py") return {};
  return std::pair(*level, Generation{*problem, *sample, file});
}

/// Past what a compiler is to native code: parsed and loaded.
bool was_compiled(const Verdict& verdict) {
  switch (verdict.outcome) {
    case Outcome::kNoCode:
    case Outcome::kRejected:
    case Outcome::kBuildFailed:
      return false;
    default:
      return verdict.stage != "load" && verdict.stage != "build";
  }
}

Value speedup_value(const Speedup& speedup) {
  return Value::map({{"value", speedup.value},
                     {"low", speedup.low},
                     {"high", speedup.high},
                     {"time_us", speedup.time_us},
                     {"baseline_us", speedup.baseline_us}});
}

/// A verdict in a line: of what was not built, the first of the compiler's words.
std::string in_a_line(const std::string& outcome, const std::string& reason,
                      const std::string& diagnostics) {
  if (outcome != outcome_name(Outcome::kBuildFailed) || diagnostics.empty()) return reason;
  return diagnostics.substr(0, diagnostics.find('\n'));
}

/// What the verdict of hone adds to an entry.
void read_own_words(const Value& own, SampleResult& result) {
  const auto text = [&own](std::string_view key) {
    const Value* found = own.find(key);
    return found != nullptr && found->is_string() ? found->as_string() : std::string();
  };
  if (!text("outcome").empty()) result.outcome = text("outcome");
  result.reason = in_a_line(result.outcome, text("reason"), text("diagnostics"));
  result.source_hash = text("source_sha256");
  const Value* speedup = own.find("speedup");
  const Value* value = speedup == nullptr ? nullptr : speedup->find("value");
  if (value != nullptr && value->is_number()) result.speedup = value->as_double();
}

}  // namespace

std::string generation_name(std::int64_t level, std::int64_t problem, std::int64_t sample) {
  return "level_" + std::to_string(level) + "_problem_" + std::to_string(problem) + "_sample_" +
         std::to_string(sample) + "_kernel.py";
}

Result<std::vector<Generation>> list_generations(const fs::path& folder, std::int64_t level) {
  std::error_code error;
  fs::directory_iterator files(folder, error);
  if (error) return not_found(folder.string() + ": " + error.message());
  std::vector<Generation> found;
  std::set<std::int64_t> others;
  for (const fs::directory_entry& file : files) {
    const auto parsed = parse_name(file.path());
    if (!parsed) continue;
    if (parsed->first == level) {
      found.push_back(parsed->second);
    } else {
      others.insert(parsed->first);
    }
  }
  if (found.empty()) {
    std::string has;
    for (const std::int64_t other : others)
      has += (has.empty() ? "" : ", ") + std::to_string(other);
    return not_found(folder.string() + ": found no generation of level " + std::to_string(level) +
                     (has.empty() ? "" : ", only of " + has) + "; expected files such as " +
                     generation_name(level, 1, 0));
  }
  std::sort(found.begin(), found.end(), [](const Generation& a, const Generation& b) {
    return std::pair(a.problem, a.sample) < std::pair(b.problem, b.sample);
  });
  return found;
}

Result<EvalResults> EvalResults::read(const fs::path& file) {
  EvalResults results(file);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return results;
  HONE_ASSIGN(const std::string text, read_file(file, kResultsBytesMax));
  auto parsed = from_json(text);
  if (!parsed) return parsed.error().in(file.string());
  if (!parsed->is_map()) {
    return invalid_argument(file.string() + ": found " + std::string(parsed->type_name()) +
                            ", expected a JSON object with problems' numbers for keys");
  }
  for (const auto& [problem, samples] : parsed->as_map()) {
    if (const Status taken = results.take(problem, samples); !taken) {
      return taken.error().in(file.string());
    }
  }
  return results;
}

Status EvalResults::take(const std::string& problem, const Value& samples) {
  std::string_view left = problem;
  const auto number = take_number(left, "");
  if (!number || !left.empty()) {
    return invalid_argument("found the key '" + problem + "', expected a problem's number");
  }
  if (!samples.is_array()) {
    return invalid_argument(problem + ": found " + std::string(samples.type_name()) +
                            ", expected a list of samples");
  }
  for (const Value& sample : samples.as_array()) {
    if (!sample.is_map()) {
      return invalid_argument(problem + ": found " + std::string(sample.type_name()) +
                              ", expected a sample with sample_id, compiled and correctness");
    }
    Fields fields(sample, problem);
    SampleResult result;
    result.problem = *number;
    result.sample = fields.integer("sample_id", 0, kIdMax);
    result.compiled = fields.flag("compiled");
    result.correct = fields.flag("correctness");
    const Value* runtime = fields.value_or_null("runtime");
    HONE_TRY(fields.finish_loosely());
    if (runtime != nullptr && runtime->is_number() && runtime->as_double() > 0) {
      result.runtime_ms = runtime->as_double();
    }
    result.outcome = result.correct ? "correct" : result.compiled ? "wrong" : "not compiled";
    const Value* metadata = sample.find("metadata");
    const Value* own = metadata == nullptr ? nullptr : metadata->find("hone");
    if (own != nullptr && own->is_map()) read_own_words(*own, result);
    const std::pair key(*number, result.sample);
    if (entries_.contains(key)) {
      return invalid_argument(problem + ": found sample_id " + std::to_string(result.sample) +
                              " twice");
    }
    entries_[key] = {std::move(result), sample};
  }
  return {};
}

const SampleResult* EvalResults::find(std::int64_t problem, std::int64_t sample) const {
  const auto found = entries_.find({problem, sample});
  return found == entries_.end() ? nullptr : &found->second.result;
}

std::vector<const SampleResult*> EvalResults::all() const {
  std::vector<const SampleResult*> results;
  for (const auto& [key, entry] : entries_) results.push_back(&entry.result);
  return results;
}

bool EvalResults::has(const Generation& generation, const std::string& source_hash) const {
  const SampleResult* found = find(generation.problem, generation.sample);
  return found != nullptr && (found->source_hash.empty() || found->source_hash == source_hash);
}

void EvalResults::put(const Generation& generation, const std::string& source_hash,
                      const Verdict& verdict) {
  Entry entry;
  SampleResult& result = entry.result;
  result.problem = generation.problem;
  result.sample = generation.sample;
  result.compiled = was_compiled(verdict);
  result.correct = verdict.correct();
  result.outcome = std::string(outcome_name(verdict.outcome));
  const std::string diagnostics = cut_end(valid_utf8(verdict.diagnostics), kDiagnosticsMax);
  result.reason = in_a_line(result.outcome, valid_utf8(verdict.reason), diagnostics);
  result.source_hash = source_hash;
  Value own = Value::map({{"outcome", result.outcome},
                          {"stage", verdict.stage},
                          {"reason", valid_utf8(verdict.reason)},
                          {"source_sha256", source_hash}});
  if (!diagnostics.empty()) own.set("diagnostics", diagnostics);
  Value stats = Value::map();
  if (verdict.speedup) {
    result.speedup = verdict.speedup->value;
    result.runtime_ms = verdict.speedup->time_us / 1000;
    own.set("speedup", speedup_value(*verdict.speedup));
    stats = Value::map({{"mean", *result.runtime_ms},
                        {"num_trials", verdict.speedup->rounds * verdict.speedup->calls}});
  }
  entry.written = Value::map(
      {{"sample_id", generation.sample},
       {"compiled", result.compiled},
       {"correctness", result.correct},
       {"metadata", Value::map({{"hardware", verdict.fingerprint}, {"hone", std::move(own)}})},
       {"runtime", result.runtime_ms ? Value(*result.runtime_ms) : Value(-1.0)},
       {"runtime_stats", std::move(stats)}});
  entries_[{generation.problem, generation.sample}] = std::move(entry);
}

Status EvalResults::write() const {
  Value all = Value::map();
  for (const auto& [key, entry] : entries_) {
    const std::string problem = std::to_string(key.first);
    if (all.as_map().empty() || all.as_map().back().first != problem) {
      all.as_map().emplace_back(problem, Value::array());
    }
    all.as_map().back().second.push(entry.written);
  }
  return write_file(file_, to_json(all, 4) + "\n");
}

}  // namespace hone
