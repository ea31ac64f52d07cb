// Work as a map.
#include "model/work.hpp"

#include <algorithm>
#include <vector>

#include "model/fields.hpp"

namespace hone {
namespace {

using Counts = std::map<std::string, std::int64_t>;

constexpr std::size_t kNamesMax = 64, kNameBytesMax = 64, kNamesShown = 3;

Value counts_to_value(const Counts& counts) {
  Value map = Value::map();
  for (const auto& [name, count] : counts) map.set(name, count);
  return map;
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

}  // namespace

Value work_to_value(const Work& work) {
  return Value::map(
      {{"kernels", counts_to_value(work.kernels)}, {"operators", counts_to_value(work.operators)}});
}

Result<Work> work_from_value(const Value& value) {
  Fields f(value, "work");
  Work work;
  work.kernels = read_counts(f, "kernels");
  work.operators = read_counts(f, "operators");
  HONE_TRY(f.finish_loosely());
  return work;
}

Result<Work> work_from_json(std::string_view words) {
  HONE_ASSIGN(const Value value, from_json(words));
  return work_from_value(value);
}

std::string operator_words(const Work& work) {
  std::vector<std::pair<std::int64_t, std::string>> most;
  for (const auto& [name, count] : work.operators) most.emplace_back(-count, name);
  std::sort(most.begin(), most.end());
  std::string words;
  for (std::size_t i = 0; i < std::min(most.size(), kNamesShown); ++i)
    words += (words.empty() ? "" : ", ") + most[i].second;
  if (most.size() > kNamesShown)
    words += " and " + std::to_string(most.size() - kNamesShown) + " others";
  return words;
}

}  // namespace hone
