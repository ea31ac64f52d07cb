// The table of verbs.
#include "server/verbs.hpp"

#include <array>

#include "base/nearest.hpp"

namespace hone {
namespace {

struct Row {
  Verb verb;
  std::string_view name;
  bool main, control, looks;
};

constexpr std::array kRows{
    Row{Verb::kHello, "hello", true, true, true},
    Row{Verb::kDescribe, "describe", true, false, true},
    Row{Verb::kReset, "reset", true, false, false},
    Row{Verb::kStep, "step", true, false, false},
    Row{Verb::kCancel, "cancel", true, true, false},
    Row{Verb::kPing, "ping", true, true, true},
    Row{Verb::kClose, "close", true, false, false},
    Row{Verb::kResume, "resume", true, false, false},
    Row{Verb::kBranch, "branch", true, false, false},
    Row{Verb::kMetrics, "metrics", false, true, true},
    Row{Verb::kHealth, "health", false, true, true},
};
static_assert(kRows.size() + 1 == kVerbCount);  // all but kUnknown

/// Replaces {"code_buffer": 0} by {"code": <bytes of buffer 0>}.
Status place_buffer(Value& action, std::string_view key, std::string_view target,
                    std::vector<std::string>& buffers) {
  const Value* index = action.find(key);
  if (index == nullptr) return {};
  const auto count = static_cast<std::int64_t>(buffers.size());
  if (!index->is_int() || index->as_int() < 0 || index->as_int() >= count) {
    const std::string found =
        index->is_int() ? std::to_string(index->as_int()) : std::string(index->type_name());
    return invalid_argument("step/action/" + std::string(key) + ": found " + found +
                            ", the message has " + std::to_string(count) + " buffers");
  }
  if (action.find(target) != nullptr) {
    return invalid_argument("step/action: found both '" + std::string(key) + "' and '" +
                            std::string(target) + "', expected one");
  }
  std::string bytes = buffers[static_cast<std::size_t>(index->as_int())];
  Value::Map& map = action.as_map();
  std::erase_if(map, [&](const Value::Entry& entry) { return entry.first == key; });
  action.set(target, std::move(bytes));
  return {};
}

}  // namespace

std::string_view verb_name(Verb verb) {
  for (const Row& row : kRows) {
    if (row.verb == verb) return row.name;
  }
  return "unknown";
}

Result<Verb> parse_verb(std::string_view name, Door door, const std::string& main_endpoint,
                        const std::string& control_endpoint) {
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    const bool served = door == Door::kControl ? row.control : row.main || control_endpoint.empty();
    if (served) return row.verb;
    return failed_precondition(
        std::string(name) + " is served on the " +
        (row.main ? "main endpoint " + main_endpoint : "control endpoint " + control_endpoint));
  }
  return Error{Code::kUnimplemented, unknown_name("verb", name.substr(0, 32), verb_names())};
}

bool only_looks(Verb verb) {
  for (const Row& row : kRows) {
    if (row.verb == verb) return row.looks;
  }
  return false;
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

Status place_buffers(Verb verb, Value& body, std::vector<std::string>&& buffers) {
  std::size_t named = 0;
  if (verb == Verb::kStep) {
    for (Value::Entry& entry : body.as_map()) {
      if (entry.first != "action" || !entry.second.is_map()) continue;
      named = static_cast<std::size_t>(entry.second.find("code_buffer") != nullptr) +
              static_cast<std::size_t>(entry.second.find("response_buffer") != nullptr);
      HONE_TRY(place_buffer(entry.second, "code_buffer", "code", buffers));
      HONE_TRY(place_buffer(entry.second, "response_buffer", "response", buffers));
    }
  }
  if (buffers.size() > named) {
    return invalid_argument(std::string(verb_name(verb)) + ": found " +
                            std::to_string(buffers.size()) + " raw buffers, the body names " +
                            std::to_string(named));
  }
  return {};
}

}  // namespace hone
