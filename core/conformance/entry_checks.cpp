// Checks of a plugin's library and entry, and functions that several kinds of checks share.
#include "base/clock.hpp"
#include "conformance/checks.hpp"
#include "model/fields.hpp"

namespace hone {
namespace {

constexpr std::int64_t kLoadNsMax = 200'000'000;

Result<CheckResult> loads(const CheckSubject& subject) {
  const std::int64_t before = monotonic_ns();
  if (const auto loaded = load_library(subject.path); !loaded) return loaded.error();
  const std::int64_t took = monotonic_ns() - before;
  if (took <= kLoadNsMax) return passed();
  return CheckResult{CheckOutcome::kWarning,
                     "loading took " + std::to_string(took / 1'000'000) + " ms, expected at most " +
                         std::to_string(kLoadNsMax / 1'000'000) +
                         ": a scan loads every plugin, so do the work in create()"};
}

Result<CheckResult> entry(const CheckSubject& subject) {
  HONE_ASSIGN(const PluginLibrary library, PluginLibrary::load(subject.path));
  return passed(library.name() + " " + library.version());
}

Result<CheckResult> unknown_factories(const CheckSubject& subject) {
  HONE_ASSIGN(const PluginLibrary library, PluginLibrary::load(subject.path));
  std::vector<std::string> strangers{"", "hone", "hone.nothing/1"};
  for (const std::string& id : known_factories()) {
    strangers.push_back(id + "0");
    strangers.push_back(id + " ");
    strangers.push_back(id.substr(0, id.size() - 1));
    strangers.push_back(id.substr(0, id.size() - 1) + "99");
  }
  for (const std::string& id : strangers) {
    if (library.factory(id)) {
      return invalid_argument(library.file() + ": get_factory(\"" + id +
                              "\"): expected null, found a table");
    }
  }
  return passed();
}

Result<CheckResult> factories(const CheckSubject& subject) {
  HONE_ASSIGN(const PluginLibrary library, PluginLibrary::load(subject.path));
  std::string offered, known;
  for (const std::string& id : known_factories()) known += (known.empty() ? "" : ", ") + id;
  for (const std::string& id : library.factories()) offered += (offered.empty() ? "" : " ") + id;
  if (!offered.empty()) return passed(offered);
  return invalid_argument(library.file() + ": offers none of " + known);
}

Status check_parameter(Fields f) {
  const std::string type = f.choice("type", {"float", "int", "bool", "str", "map"});
  f.text("doc");
  const Value* fallback = f.value_or_null("default");
  HONE_TRY(f.finish_loosely());
  if (fallback == nullptr) return {};
  const bool fits = type == "float"  ? fallback->is_number()
                    : type == "int"  ? fallback->is_int()
                    : type == "bool" ? fallback->is_bool()
                    : type == "map"  ? fallback->is_map()
                                     : fallback->is_string();
  if (fits) return {};
  return invalid_argument(f.place("default") + ": expected a " + type + ", found " +
                          std::string(fallback->type_name()));
}

}  // namespace

const std::vector<Check>& entry_checks() {
  static const std::vector<Check> checks{
      {"loads", "loads quickly, with all symbols bound", loads},
      {"entry", "exports an entry with a compatible ABI, a name and a version", entry},
      {"unknown_factories", "returns null for unknown factory ids", unknown_factories},
      {"factories", "offers a reward, a dataset or a backend", factories},
  };
  return checks;
}

Result<Value> check_description(const Result<Value>& first, const Result<Value>& second) {
  if (!first) return first.error();
  if (!second) return second.error();
  if (!(*first == *second)) {
    return internal_error("describe: expected the same twice, found " + to_json(*first) + " and " +
                          to_json(*second));
  }
  Fields f(*first, "describe");
  f.text("summary");
  if (const Value* parameters = f.map("parameters")) {
    for (const auto& [name, parameter] : parameters->as_map()) {
      f.adopt(check_parameter(f.inside("parameters", *parameters).inside(name, parameter)));
    }
  }
  HONE_TRY(f.finish_loosely());
  return *first;
}

std::string missing_parameters(const Value& description, const Value& config) {
  std::string names;
  const Value* parameters = description.find("parameters");
  if (parameters == nullptr || !parameters->is_map()) return names;
  for (const auto& [name, parameter] : parameters->as_map()) {
    const Value* fallback = parameter.find("default");
    if ((fallback == nullptr || fallback->is_nil()) && config.find(name) == nullptr) {
      names += (names.empty() ? "" : ", ") + name;
    }
  }
  return names;
}

std::string misspelt_parameter(const Value& description) {
  const Value* parameters = description.find("parameters");
  if (parameters == nullptr || !parameters->is_map() || parameters->as_map().empty()) {
    return "no_such_key";
  }
  std::string name = parameters->as_map().front().first + "x";
  while (parameters->find(name) != nullptr) name += "x";
  return name;
}

std::vector<std::string> garbage_configs() {
  return {std::string("\xc1"),
          std::string(),
          std::string("\x81\xa1", 2),
          std::string("\x93\x01\x02\x03"),
          std::string("\xdf\xff\xff\xff\xff"),
          std::string(512, '\x91')};
}

}  // namespace hone
