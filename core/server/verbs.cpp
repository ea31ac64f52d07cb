// Verbs by name, and the raw frames of a step.
#include "server/verbs.hpp"

#include "base/nearest.hpp"

namespace hone {
namespace {

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
                            ", expected an index below " + std::to_string(count) +
                            ", the number of buffers in the message");
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
  return verb == kUnknownVerb ? "unknown" : verb_row(verb).facts().name;
}

Result<Verb> parse_verb(std::string_view name, Door door, const std::string& main_endpoint,
                        const std::string& control_endpoint) {
  const wire::VerbFacts* facts = wire::find_verb(name);
  if (facts == nullptr)
    return Error{Code::kUnimplemented, unknown_name("verb", name.substr(0, 32), verb_names())};
  const bool on_main = facts->endpoints != wire::Endpoints::kControl;
  const bool on_control = facts->endpoints != wire::Endpoints::kMain;
  if (door == Door::kControl ? on_control : on_main || control_endpoint.empty())
    return static_cast<Verb>(facts - wire::AllRequests::kVerbs);
  return failed_precondition(
      std::string(name) + " is served on the " +
      (on_main ? "main endpoint " + main_endpoint : "control endpoint " + control_endpoint));
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const wire::VerbFacts& verb : wire::AllRequests::kVerbs) names.emplace_back(verb.name);
  return names;
}

Status place_buffers(Verb verb, Value& body, std::vector<std::string>&& buffers) {
  std::size_t named = 0;
  if (verb == kVerbOf<wire::StepRequest>) {
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
