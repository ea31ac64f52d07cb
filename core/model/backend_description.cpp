// Reads and checks the description of a backend.
#include "model/backend_description.hpp"

#include <algorithm>
#include <cctype>

#include "model/fields.hpp"

namespace hone {
namespace {

constexpr double kExact = 9007199254740992.0;  // integers up to 2^53 are exact as double
constexpr std::size_t kNameMax = 64, kSuffixMax = 16;

bool is_parameter_name(std::string_view name) {
  if (name.empty() || name.size() > kNameMax || name[0] < 'a' || name[0] > 'z') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// ".cu": a file name is made with it.
bool is_suffix(std::string_view suffix) {
  return suffix.size() > 1 && suffix.size() <= kSuffixMax && suffix[0] == '.' &&
         std::all_of(suffix.begin() + 1, suffix.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0; });
}

bool are_texts(const Value& value) {
  return value.is_array() && std::all_of(value.as_array().begin(), value.as_array().end(),
                                         [](const Value& item) { return item.is_string(); });
}

/// "" for a default that the parameter accepts as a value.
std::string default_trouble(const BackendParameter& p) {
  const Value& value = p.fallback;
  const bool is_number = p.type == ParameterType::kInteger || p.type == ParameterType::kNumber;
  const bool fits = p.type == ParameterType::kText      ? value.is_string()
                    : p.type == ParameterType::kInteger ? value.is_int()
                    : p.type == ParameterType::kNumber  ? value.is_number()
                    : p.type == ParameterType::kFlag    ? value.is_bool()
                                                        : are_texts(value);
  if (!fits) return "expected a value of type " + std::string(enum_name(p.type));
  if (is_number && (value.as_double() < p.low || value.as_double() > p.high))
    return "expected a value within range";
  if (!p.choices.empty() &&
      std::find(p.choices.begin(), p.choices.end(), value.as_string()) == p.choices.end())
    return "expected one of choices";
  return "";
}

void read_range(Fields& f, BackendParameter& p) {
  p.low = -kExact;
  p.high = kExact;
  const Value* range = f.array_or_null("range");
  if (range == nullptr) return;
  const auto& bounds = range->as_array();
  if (bounds.size() != 2 || !bounds[0].is_number() || !bounds[1].is_number() ||
      bounds[0].as_double() > bounds[1].as_double()) {
    return f.mistake("range", "expected [low, high], found " + to_json(*range));
  }
  p.low = std::max(p.low, bounds[0].as_double());
  p.high = std::min(p.high, bounds[1].as_double());
}

Result<BackendParameter> read_parameter(Fields f, const std::string& name) {
  BackendParameter p;
  p.name = name;
  const auto type =
      find_enum<ParameterType>(f.choice("type", {std::begin(EnumNames<ParameterType>::kNames),
                                                 std::end(EnumNames<ParameterType>::kNames)}));
  p.type = type.value_or(ParameterType::kText);
  p.doc = f.text("doc");
  read_range(f, p);
  p.choices = f.texts_or("choices", {});
  if (!p.choices.empty() && p.type != ParameterType::kText)
    f.mistake("choices", "expected none for type " + std::string(enum_name(p.type)));
  p.path =
      find_enum<PathKind>(f.choice_or("path", "", {"file", "folder"})).value_or(PathKind::kNone);
  const Value* fallback = f.value("default");
  HONE_TRY(f.finish_loosely());
  p.fallback = *fallback;
  if (const std::string trouble = default_trouble(p); !trouble.empty())
    f.mistake("default", trouble + ", found " + to_json(*fallback));
  HONE_TRY(f.finish_loosely());
  return p;
}

Status read_parameters(Fields& f, BackendDescription& d) {
  const Value* parameters = f.map_or_null("parameters");
  if (parameters == nullptr) return {};
  Fields inside = f.inside("parameters", *parameters);
  const std::vector<std::string>& shared = shared_backend_keys();
  for (const auto& [name, about] : parameters->as_map()) {
    if (!is_parameter_name(name)) {
      return invalid_argument(inside.place(name) + ": found name '" + name +
                              "', expected lower-case letters, digits and _, a letter first "
                              "(at most " +
                              std::to_string(kNameMax) + " characters)");
    }
    if (std::find(shared.begin(), shared.end(), name) != shared.end()) {
      return invalid_argument(inside.place(name) + ": hone reads the key '" + name +
                              "'; choose another name");
    }
    if (!about.is_map())
      return invalid_argument(inside.place(name) + ": expected a map, found " +
                              std::string(about.type_name()));
    HONE_ASSIGN(BackendParameter read, read_parameter(inside.inside(name, about), name));
    d.parameters.push_back(std::move(read));
  }
  return {};
}

Status read_suffixes(Fields& f, BackendDescription& d) {
  const Value* suffixes = f.map("suffixes");
  if (suffixes == nullptr) return {};
  Fields inside = f.inside("suffixes", *suffixes);
  for (const std::string& language : d.languages) {
    std::string suffix = inside.text(language, kNameMax);
    HONE_TRY(inside.finish_loosely());
    if (!is_suffix(suffix))
      return invalid_argument(inside.place(language) + ": found '" + suffix +
                              "', expected a suffix like '.cpp'");
    d.suffixes[language] = std::move(suffix);
  }
  return {};
}

Status read_devices(Fields& f, BackendDescription& d) {
  const Value* devices = f.array("devices");
  if (devices == nullptr) return {};
  for (std::size_t i = 0; i < devices->as_array().size(); ++i) {
    Fields device = f.inside("devices", *devices).inside(std::to_string(i), devices->as_array()[i]);
    d.device_numbers.push_back(device.integer("index", 0, 1 << 16));
    device.text("name");
    device.integer("cores", 0, 1 << 20);
    HONE_TRY(device.finish_loosely());
  }
  return {};
}

Status read_sanitizer(Fields& f, BackendDescription& d) {
  const Value* about = f.map_or_null("sanitizer");
  if (about == nullptr) return {};
  Fields inside = f.inside("sanitizer", *about);
  d.sanitizer.parameter = inside.text("parameter");
  d.sanitizer.path = inside.text("program");
  d.sanitizer.help = inside.text("help");
  const Value* runs = inside.array("runs");
  HONE_TRY(inside.finish_loosely());
  for (std::size_t i = 0; i < runs->as_array().size(); ++i) {
    Fields one = inside.inside("runs", *runs).inside(std::to_string(i), runs->as_array()[i]);
    DeviceSanitizer::Run run;
    run.name = one.text("name");
    run.arguments = one.texts_or("arguments", {});
    HONE_TRY(one.finish_loosely());
    d.sanitizer.runs.push_back(std::move(run));
  }
  return {};
}

Status read_counters(Fields& f, BackendDescription& d) {
  const Value* about = f.map_or_null("counters");
  if (about == nullptr) return {};
  Fields inside = f.inside("counters", *about);
  d.counters.parameter = inside.text("parameter");
  d.counters.help = inside.text("help");
  d.counters.libraries = inside.texts_or("libraries", {});
  d.counters.packages = inside.texts_or("packages", {});
  d.counters.symbols = inside.texts_or("symbols", {});
  return inside.finish_loosely();
}

}  // namespace

bool use_named_path(DeviceTool& tool, const Value& options) {
  const std::string named = text_or_empty(member_or_nil(options, tool.parameter));
  if (named.empty() || named == "auto") return false;
  tool.path = named;
  return true;
}

const std::vector<std::string>& shared_backend_keys() {
  static const std::vector<std::string> keys{"devices", "isolation", "module_isolation",
                                             "module_lanes", "modules", "uses", "python", "library",
                                             // options that hone gives a build
                                             "threads", "seconds", "version", "report"};
  return keys;
}

Result<BackendDescription> read_backend_description(const Value& written, std::string name) {
  Fields f(written, "output");
  BackendDescription d;
  d.name = std::move(name);
  d.summary = f.text("summary");
  f.adopt(read_devices(f, d));
  d.languages = f.texts_or("languages", {});
  if (d.languages.empty()) f.mistake("languages", "expected at least one");
  d.withholds = f.choice("withholds", {"freeze", "stream", "copy"});
  d.fingerprint = f.text("fingerprint");
  HONE_TRY(f.finish_loosely());
  HONE_TRY(read_suffixes(f, d));
  HONE_TRY(read_parameters(f, d));
  HONE_TRY(read_sanitizer(f, d));
  HONE_TRY(read_counters(f, d));
  d.device_nodes = f.texts_or("device_nodes", {});
  d.driver_folders = f.texts_or("driver_folders", {});
  d.replays_plans = f.flag_or("replays_plans", false);
  d.reports = f.texts_or("reports", {});
  if (const Value* harness = f.map_or_null("harness")) {
    Fields texts = f.inside("harness", *harness);
    d.harness = texts.text_or("kernels", "");
    d.known_answer = texts.text_or("known_answer", "");
    f.adopt(texts.finish_loosely());
  }
  HONE_TRY(f.finish_loosely());
  return d;
}

}  // namespace hone
