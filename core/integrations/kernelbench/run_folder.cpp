// Reads results of any program defensively, and writes results that KernelBench's analysis can read.
#include "integrations/kernelbench/run_folder.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/utf8.hpp"
#include "integrations/kernelbench/python_json.hpp"
#include "model/fields.hpp"
#include "terminal/terminal.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kResultsBytesMax = 256u << 20;
constexpr std::size_t kSourceBytesMax = 64u << 20;
constexpr std::size_t kDiagnosticsMax = 2000;
constexpr std::size_t kMisnamedShown = 3;
constexpr std::int64_t kIdMax = 1'000'000'000;

/// Removes `before` and a number that follows it from the start of a text.
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

Value speedup_value(const Speedup& speedup) {
  return Value::map({{"value", speedup.value},
                     {"low", speedup.low},
                     {"high", speedup.high},
                     {"time_us", speedup.time_us},
                     {"baseline_us", speedup.baseline_us}});
}

/// A verdict in one line. After a failed build, the first line of the compiler's output.
std::string in_a_line(const std::string& outcome, const std::string& reason,
                      const std::string& diagnostics) {
  if (outcome != outcome_name(Outcome::kBuildFailed) || diagnostics.empty()) return reason;
  return diagnostics.substr(0, diagnostics.find('\n'));
}

/// The value as an error message quotes it.
std::string shown(const Value& value) {
  return value.is_number() || value.is_string() ? cut_end(printable(to_json(value)), 64)
                                                : std::string(value.type_name());
}

/// A number within a range. Anything else is an error with the member's name.
Result<double> number_in(const Value& value, std::string_view name, double low, double high,
                         std::string_view expected) {
  const double number = value.is_number() ? value.as_double() : 0;
  if (low <= number && number <= high) return number;
  return invalid_argument("found " + std::string(name) + " " + shown(value) + ", expected " +
                          std::string(expected));
}

/// Adds the members of hone's verdict to an entry. A contradiction is an error.
Status read_own_words(const Value& own, SampleResult& result) {
  const auto text = [&own](std::string_view key) {
    const Value* found = own.find(key);
    return found != nullptr && found->is_string() ? printable(found->as_string()) : std::string();
  };
  if (const Value* said = own.find("outcome"); said != nullptr && !said->is_nil()) {
    const auto outcome = parse_outcome(said->is_string() ? said->as_string() : "");
    if (!outcome) {
      return invalid_argument("found hone.outcome " + shown(*said) +
                              ", expected an outcome of hone");
    }
    result.outcome = std::string(outcome_name(*outcome));
    if ((*outcome == Outcome::kCorrect) != result.correct) {
      return invalid_argument(
          "found correctness " + std::string(result.correct ? "true" : "false") +
          " and hone.outcome \"" + result.outcome + "\", which contradict each other");
    }
    // A rejected submission may have been compiled: a module that starts no kernel of its own is rejected after its check.
    const bool unbuilt = *outcome == Outcome::kNoCode || *outcome == Outcome::kBuildFailed;
    if (unbuilt && result.compiled) {
      return invalid_argument("found compiled true and hone.outcome \"" + result.outcome +
                              "\", which contradict each other");
    }
  }
  const Value* diagnostics = own.find("diagnostics");
  result.reason = printable(in_a_line(
      result.outcome, text("reason"),
      diagnostics != nullptr && diagnostics->is_string() ? diagnostics->as_string() : ""));
  result.source_hash = text("source_sha256");
  const Value* speedup = own.find("speedup");
  if (speedup == nullptr || speedup->is_nil()) return {};
  const Value* value = speedup->is_map() ? speedup->find("value") : nullptr;
  HONE_ASSIGN(result.speedup,
              number_in(value == nullptr ? *speedup : *value, "hone.speedup", kSpeedupMin,
                        kSpeedupMax, "a number above 0 and at most 1e9"));
  return {};
}

/// The result in an entry. An invalid or contradictory value is an error.
Status read_sample(const Value& sample, SampleResult& result) {
  if (result.correct && !result.compiled) {
    return invalid_argument(
        "found compiled false and correctness true, which contradict each other");
  }
  const Value* runtime = sample.find("runtime");
  const bool measured = runtime != nullptr && !runtime->is_nil() &&
                        !(runtime->is_number() && runtime->as_double() == -1);
  if (measured) {
    HONE_ASSIGN(result.runtime_ms,
                number_in(*runtime, "runtime", kTimeMsMin, kTimeMsMax,
                          "milliseconds above 0 and at most 1e12, or -1 where not measured"));
  }
  result.outcome = result.correct ? "correct" : result.compiled ? "wrong" : "not compiled";
  const Value* metadata = sample.find("metadata");
  const Value* own = metadata == nullptr ? nullptr : metadata->find("hone");
  if (own == nullptr || !own->is_map()) return {};
  return read_own_words(*own, result);
}

void warn_of(const fs::path& folder, const std::set<std::string>& misnamed,
             const std::string& example) {
  if (misnamed.empty()) return;
  std::vector<std::string> names;
  std::copy_n(misnamed.begin(), std::min(misnamed.size(), kMisnamedShown),
              std::back_inserter(names));
  if (misnamed.size() > kMisnamedShown) names.emplace_back("…");
  log_warning("run", folder.string() + ": " + std::to_string(misnamed.size()) +
                         " ignored, expected a name such as " + example + ": " + joined(names));
}

}  // namespace

std::string generation_name(std::int64_t level, std::int64_t problem, std::int64_t sample) {
  return "level_" + std::to_string(level) + "_problem_" + std::to_string(problem) + "_sample_" +
         std::to_string(sample) + "_kernel.py";
}

Result<Generations> list_generations(const fs::path& folder, std::int64_t level) {
  std::error_code error;
  fs::directory_iterator files(folder, error);
  if (error) return not_found(folder.string() + ": " + error.message());
  Generations generations;
  std::vector<Generation>& found = generations.of_level;
  std::set<std::string> misnamed;
  for (const fs::directory_entry& file : files) {
    const auto parsed = parse_name(file.path());
    if (!parsed) {
      if (file.path().extension() == ".py")
        misnamed.insert(printable(file.path().filename().string()));
      continue;
    }
    if (parsed->first == level) {
      found.push_back(parsed->second);
    } else {
      ++generations.of_others[parsed->first];
    }
  }
  if (found.empty()) {
    std::string has;
    for (const auto& [other, count] : generations.of_others)
      has += (has.empty() ? "" : ", ") + std::to_string(other);
    return not_found(folder.string() + ": found no generation of level " + std::to_string(level) +
                     (has.empty() ? "" : ", only of " + has) + "; expected files such as " +
                     generation_name(level, 1, 0));
  }
  warn_of(folder, misnamed, generation_name(level, 1, 0));
  std::sort(found.begin(), found.end(), [](const Generation& a, const Generation& b) {
    return std::pair(a.problem, a.sample) < std::pair(b.problem, b.sample);
  });
  return generations;
}

Result<std::string> read_generation(const Generation& generation) {
  return read_text(generation.file, kSourceBytesMax);
}

Result<EvalResults> EvalResults::read(const fs::path& file) {
  EvalResults results(file);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return results;
  HONE_ASSIGN(const std::string text, read_text(file, kResultsBytesMax));
  auto parsed = from_python_json(text);
  if (!parsed) return invalid_argument(file.string() + ": " + printable(parsed.error().message));
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
    return invalid_argument("found the key '" + printable(problem) +
                            "', expected a problem's number");
  }
  if (!samples.is_array()) {
    return invalid_argument(problem + ": found " + std::string(samples.type_name()) +
                            ", expected a list of samples");
  }
  for (const Value& sample : samples.as_array()) {
    const Value none = Value::map();
    Fields fields(sample.is_map() ? sample : none, "");
    SampleResult result;
    result.problem = *number;
    result.sample = fields.integer("sample_id", 0, kIdMax);
    if (!sample.is_map() || !fields.finish_loosely()) {
      refuse(*number, {}, "found no sample_id, expected a sample with one", sample);
      continue;
    }
    result.compiled = fields.flag("compiled");
    result.correct = fields.flag("correctness");
    Status good = fields.finish_loosely();
    if (good) good = read_sample(sample, result);
    const std::pair key(*number, result.sample);
    const bool twice = entries_.contains(key) ||
                       std::any_of(refused_.begin(), refused_.end(), [&](const RefusedEntry& one) {
                         return one.problem == key.first && one.sample == key.second;
                       });
    if (twice) good = invalid_argument("found this sample_id twice, expected it once");
    if (const auto first = entries_.find(key); twice && first != entries_.end()) {
      refuse(key.first, key.second, good.error().message, first->second.written);
      entries_.erase(first);
    }
    if (!good) {
      refuse(key.first, key.second, good.error().message, sample);
    } else {
      entries_[key] = {std::move(result), sample};
    }
  }
  return {};
}

void EvalResults::refuse(std::int64_t problem, std::optional<std::int64_t> sample,
                         const std::string& why, const Value& written) {
  const std::string of = sample ? ", sample " + std::to_string(*sample) : "";
  refused_.push_back(
      {problem, sample,
       printable(file_.string() + ": problem " + std::to_string(problem) + of + ": " + why),
       false});
  refused_written_.push_back(written);
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
  result.reason = printable(in_a_line(result.outcome, verdict.reason, diagnostics));
  result.source_hash = source_hash;
  Value own = Value::map({{"outcome", result.outcome},
                          {"stage", enum_name(verdict.stage)},
                          {"reason", valid_utf8(verdict.reason)},
                          {"stage_ms", stage_ms_to_value(verdict)},
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
  for (RefusedEntry& one : refused_) {
    if (one.problem == generation.problem && one.sample == generation.sample) one.judged = true;
  }
  entries_[{generation.problem, generation.sample}] = std::move(entry);
}

Status EvalResults::write() const {
  std::map<std::int64_t, Value> samples;
  const auto add = [&samples](std::int64_t problem, const Value& sample) {
    samples.try_emplace(problem, Value::array()).first->second.push(sample);
  };
  for (const auto& [key, entry] : entries_) add(key.first, entry.written);
  for (std::size_t i = 0; i < refused_.size(); ++i) {
    if (!refused_[i].judged) add(refused_[i].problem, refused_written_[i]);
  }
  Value all = Value::map();
  for (auto& [problem, listed] : samples) {
    all.as_map().emplace_back(std::to_string(problem), std::move(listed));
  }
  return write_file(file_, to_json(all, 4) + "\n");
}

}  // namespace hone
