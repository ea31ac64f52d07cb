// Conversion between Verdict and the map that the ABI, the journal and the wire share.
#include "model/verdict.hpp"

#include <limits>

#include "model/fields.hpp"

namespace hone {
namespace {

constexpr double kHuge = std::numeric_limits<double>::infinity();
constexpr std::int64_t kMany = std::numeric_limits<std::int64_t>::max();

Value mismatch_to_value(const Mismatch& m) {
  Value index = Value::array();
  for (const std::int64_t i : m.index) index.push(i);
  Value map = Value::map({{"tensor", m.tensor},
                          {"shape", m.shape},
                          {"family", m.family},
                          {"index", std::move(index)},
                          {"got", m.got ? Value(*m.got) : Value()},
                          {"expected", m.expected ? Value(*m.expected) : Value()},
                          {"tolerance", m.tolerance},
                          {"wrong", m.wrong},
                          {"total", m.total},
                          {"nans", m.nans}});
  if (m.norm > 0) map.set("norm", m.norm).set("norm_allowed", m.norm_allowed);
  return map;
}

// `got` and `expected` may be NaN or infinite, so they are read without a range.
std::optional<double> number_if_any(Fields& f, std::string_view key) {
  const Value* found = f.value_or_null(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_number()) {
    f.mistake(key, "expected a number, found " + std::string(found->type_name()));
    return std::nullopt;
  }
  return found->as_double();
}

Result<Mismatch> mismatch_from_value(Fields f) {
  Mismatch m;
  m.tensor = f.text("tensor");
  m.shape = f.text("shape");
  m.family = f.text_or("family", "");
  if (const Value* index = f.array_or_null("index")) {
    for (const Value& i : index->as_array()) {
      if (i.is_int()) m.index.push_back(i.as_int());
    }
  }
  m.got = number_if_any(f, "got");
  m.expected = number_if_any(f, "expected");
  m.tolerance = f.number_or("tolerance", 0, 0, kHuge);
  m.wrong = f.integer_or("wrong", 0, 0, kMany);
  m.total = f.integer_or("total", 0, 0, kMany);
  m.nans = f.integer_or("nans", 0, 0, kMany);
  m.norm = f.number_or("norm", 0, 0, kHuge);
  m.norm_allowed = f.number_or("norm_allowed", 0, 0, kHuge);
  HONE_TRY(f.finish_loosely());
  return m;
}

Value speedup_to_value(const Speedup& s) {
  Value map = Value::map({{"value", s.value},
                          {"low", s.low},
                          {"high", s.high},
                          {"time_us", s.time_us},
                          {"baseline_us", s.baseline_us},
                          {"rounds", s.rounds},
                          {"calls", s.calls},
                          {"flags", texts_value(s.flags)}});
  if (s.floor_us > 0) map.set("floor_us", s.floor_us);
  if (s.marked_us > 0) map.set("marked_us", s.marked_us);
  return map;
}

Result<Speedup> speedup_from_value(Fields f) {
  Speedup s;
  s.value = f.number("value", 0, kHuge);
  s.low = f.number("low", 0, kHuge);
  s.high = f.number("high", 0, kHuge);
  s.time_us = f.number_or("time_us", 0, 0, kHuge);
  s.baseline_us = f.number_or("baseline_us", 0, 0, kHuge);
  s.floor_us = f.number_or("floor_us", 0, 0, kHuge);
  s.marked_us = f.number_or("marked_us", 0, 0, kHuge);
  s.rounds = static_cast<int>(f.integer_or("rounds", 0, 0, 1 << 30));
  s.calls = static_cast<int>(f.integer_or("calls", 0, 0, 1 << 30));
  s.flags = f.texts_or("flags", {});
  HONE_TRY(f.finish_loosely());
  return s;
}

Value configurations_to_value(const std::vector<ChosenConfiguration>& configurations) {
  Value list = Value::array();
  for (const ChosenConfiguration& one : configurations)
    list.push(Value::map({{"kernel", one.kernel},
                          {"key", one.key},
                          {"parameters", one.parameters},
                          {"number", one.number},
                          {"count", one.count}}));
  return list;
}

Result<ChosenConfiguration> configuration_from_value(Fields f) {
  constexpr std::int64_t kMax = std::int64_t{1} << 32;
  ChosenConfiguration one;
  one.kernel = f.text_or("kernel", "");
  one.key = f.text_or("key", "");
  one.parameters = f.text_or("parameters", "");
  one.number = f.integer("number", 1, kMax);
  one.count = f.integer_or("count", 0, 0, kMax);
  HONE_TRY(f.finish_loosely());
  return one;
}

}  // namespace

Result<Outcome> parse_outcome(std::string_view name) {
  if (const auto found = find_enum<Outcome>(name)) return *found;
  return invalid_argument("no outcome is called '" + std::string(name.substr(0, 64)) + "'");
}

bool was_compiled(const Verdict& verdict) { return verdict.stage > VerdictStage::kLoad; }

Value stage_ms_to_value(const Verdict& verdict) {
  Value stages = Value::map();
  for (const auto& [stage, ms] : verdict.stage_ms) stages.set(stage, ms);
  return stages;
}

Value verdict_to_value(const Verdict& v) {
  return Value::map({{"outcome", outcome_name(v.outcome)},
                     {"reason", v.reason},
                     {"stage", enum_name(v.stage)},
                     {"diagnostics", v.diagnostics},
                     {"signal", v.signal},
                     {"mismatch", v.mismatch ? mismatch_to_value(*v.mismatch) : Value()},
                     {"speedup", v.speedup ? speedup_to_value(*v.speedup) : Value()},
                     {"work", v.work ? work_to_value(*v.work) : Value()},
                     {"stage_ms", stage_ms_to_value(v)},
                     {"findings", texts_value(v.findings)},
                     {"timing", v.timing},
                     {"configurations", configurations_to_value(v.configurations)},
                     {"not_recorded", v.not_recorded},
                     {"caught", v.caught},
                     {"second_look", v.second_look},
                     {"fingerprint", v.fingerprint},
                     {"source_hash", v.source_hash}});
}

Result<Verdict> verdict_from_value(const Value& value) {
  Fields f(value, "verdict");
  Verdict v;
  const std::string outcome = f.text("outcome");
  v.reason = f.text_or("reason", "");
  const std::string reached = f.text_or("stage", "");
  if (const auto found = find_enum<VerdictStage>(reached)) {
    v.stage = *found;
  } else {
    f.mistake("stage", unknown_enum<VerdictStage>(reached));
  }
  v.diagnostics = f.text_or("diagnostics", "");
  v.signal = f.text_or("signal", "");
  if (const Value* m = f.map_or_null("mismatch")) {
    HONE_ASSIGN(v.mismatch, mismatch_from_value(f.inside("mismatch", *m)));
  }
  if (const Value* s = f.map_or_null("speedup")) {
    HONE_ASSIGN(v.speedup, speedup_from_value(f.inside("speedup", *s)));
  }
  if (const Value* work = f.map_or_null("work")) {
    HONE_ASSIGN(v.work, work_from_value(*work));
  }
  if (const Value* stages = f.map_or_null("stage_ms")) {
    for (const auto& [stage, ms] : stages->as_map()) {
      if (ms.is_number()) v.stage_ms[stage] = ms.as_double();
    }
  }
  v.findings = f.texts_or("findings", {});
  v.timing = f.text_or("timing", "");
  if (const Value* list = f.array_or_null("configurations")) {
    for (const Value& item : list->as_array()) {
      HONE_ASSIGN(auto one, configuration_from_value(f.inside("configurations", item)));
      v.configurations.push_back(std::move(one));
    }
  }
  v.not_recorded = f.text_or("not_recorded", "");
  v.caught = f.text_or("caught", "");
  v.second_look = f.text_or("second_look", "");
  v.fingerprint = f.text_or("fingerprint", "");
  v.source_hash = f.text_or("source_hash", "");
  HONE_TRY(f.finish_loosely());
  HONE_ASSIGN(v.outcome, parse_outcome(outcome));
  return v;
}

}  // namespace hone
