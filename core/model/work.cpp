// Conversion between Work and its map.
#include "model/work.hpp"

#include <algorithm>
#include <vector>

#include "model/fields.hpp"

namespace hone {
namespace {

using Counts = std::map<std::string, std::int64_t>;

constexpr std::size_t kNamesMax = 64, kNameBytesMax = 64, kNamesShown = 3;
constexpr double kMicrosecondsMax = 1e9;

Value counts_to_value(const Counts& counts) {
  Value map = Value::map();
  for (const auto& [name, count] : counts) map.set(name, count);
  return map;
}

/// Rationale: the same limits as in a report, so that each verdict can be read again.
void add(Counts& counts, std::string_view name) {
  std::string known(name.substr(0, kNameBytesMax));
  if (counts.size() >= kNamesMax - 1 && counts.count(known) == 0) known = "others";
  ++counts[known];
}

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= kNameBytesMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

Counts read_counts(Fields& f, std::string_view key) {
  Counts counts;
  const Value* map = f.map(key);
  if (map == nullptr) return counts;
  if (map->as_map().size() > kNamesMax) f.mistake(key, "expected at most 64 names");
  for (const auto& [name, count] : map->as_map()) {
    if (!is_name(name) || !count.is_int() || count.as_int() < 1) {
      f.mistake(key, "expected printable names and counts from 1 on");
      break;
    }
    counts[name] = count.as_int();
  }
  return counts;
}

std::optional<double> read_us(Fields& f, std::string_view key) {
  const double us = f.number_or(key, -1, 0, kMicrosecondsMax);
  return us < 0 ? std::nullopt : std::optional<double>(us);
}

Value us_to_value(const std::optional<double>& us) { return us ? Value(*us) : Value(); }

Value witnessed_to_value(const Witnessed& witnessed) {
  return Value::map({{"kernels", counts_to_value(witnessed.kernels)},
                     {"operators", counts_to_value(witnessed.operators)}});
}

Witnessed read_witnessed(Fields& f) {
  return {read_counts(f, "kernels"), read_counts(f, "operators")};
}

bool names_equal(const Counts& one, const Counts& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const auto& a, const auto& b) { return a.first == b.first; });
}

}  // namespace

void Witnessed::add_kernel(std::string_view name) { add(kernels, name); }
void Witnessed::add_operator(std::string_view name) { add(operators, name); }

bool Witnessed::same_names(const Witnessed& other) const {
  return names_equal(kernels, other.kernels) && names_equal(operators, other.operators);
}

std::optional<bool> Work::agrees() const {
  return dry_run ? std::optional<bool>(same_names(*dry_run)) : std::nullopt;
}

Value work_to_value(const Work& work) {
  Value map = witnessed_to_value(work);
  map.set("kernels_us", us_to_value(work.kernels_us));
  map.set("operators_us", us_to_value(work.operators_us));
  map.set("rehearsed", work.dry_run ? witnessed_to_value(*work.dry_run) : Value());
  const std::optional<bool> agrees = work.agrees();
  map.set("agrees", agrees ? Value(*agrees) : Value());
  return map;
}

Result<Work> work_from_value(const Value& value) {
  Fields f(value, "work");
  Work work{read_witnessed(f)};
  work.kernels_us = read_us(f, "kernels_us");
  work.operators_us = read_us(f, "operators_us");
  if (const Value* rehearsed = f.map_or_null("rehearsed")) {
    Fields inner(*rehearsed, "work.rehearsed");
    work.dry_run = read_witnessed(inner);
    HONE_TRY(inner.finish_loosely());
  }
  HONE_TRY(f.finish_loosely());
  return work;
}

Result<Work> work_from_json(std::string_view words) {
  HONE_ASSIGN(const Value value, from_json(words));
  HONE_ASSIGN(Work work, work_from_value(value));
  work.dry_run.reset();
  return work;
}

std::string operator_words(const Witnessed& witnessed) {
  std::vector<std::pair<std::int64_t, std::string>> most;
  for (const auto& [name, count] : witnessed.operators) most.emplace_back(-count, name);
  std::sort(most.begin(), most.end());
  std::string words;
  for (std::size_t i = 0; i < std::min(most.size(), kNamesShown); ++i)
    words += (words.empty() ? "" : ", ") + most[i].second;
  if (most.size() > kNamesShown)
    words += " and " + std::to_string(most.size() - kNamesShown) + " others";
  return words;
}

}  // namespace hone
