// Reads and checks tasks, and makes the views for backends and clients.
#include "model/task.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "model/fields.hpp"

namespace hone {
namespace {

constexpr std::string_view kRoles[] = {"in", "out", "inout"};
constexpr double kBig = 1e300;
constexpr std::size_t kArgumentsMax = 16;

bool is_identifier(std::string_view name) {
  if (name.empty() || name.size() > 64) return false;
  if (std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
}

std::string read_identifier(Fields& f, std::string_view key) {
  std::string name = f.text(key);
  if (!name.empty() && !is_identifier(name)) f.mistake(key, "'" + name + "' is not a C identifier");
  return name;
}

DType read_dtype(Fields& f, std::string_view fallback) {
  const std::string name = f.choice_or("dtype", std::string(fallback), dtype_names());
  return parse_dtype(name).ok() ? parse_dtype(name).value() : DType::kF32;
}

/// Expressions may be written as integers.
std::string expression_text(Fields& f, std::string_view key, const Value& value) {
  if (value.is_int()) return std::to_string(value.as_int());
  if (value.is_string()) return value.as_string();
  f.mistake(key, "expected an expression, found " + std::string(value.type_name()));
  return "1";
}

Result<Tensor> read_tensor(Fields f) {
  Tensor t;
  t.name = read_identifier(f, "name");
  const std::string role = f.choice("role", {"in", "out", "inout"});
  t.role = role == "out" ? Role::kOut : role == "inout" ? Role::kInOut : Role::kIn;
  t.dtype = read_dtype(f, "f32");
  if (const Value* shape = f.array("shape")) {
    for (const Value& axis : shape->as_array())
      t.shape.push_back(expression_text(f, "shape", axis));
    if (t.shape.empty() || t.shape.size() > 8) f.mistake("shape", "expected 1 to 8 axes");
  }
  t.may_change = f.flag_or("may_change", false);
  if (t.may_change && t.role != Role::kIn)
    f.mistake("may_change", "found on a tensor of role " + role + ", expected role in");
  HONE_TRY(f.finish());
  return t;
}

Result<Scalar> read_scalar(Fields f) {
  Scalar s;
  s.name = read_identifier(f, "name");
  s.dtype = read_dtype(f, "i64");
  if (!dtype_is_scalar(s.dtype)) {
    f.mistake("dtype", "a scalar cannot have " + std::string(dtype_name(s.dtype)));
  }
  if (const Value* range = f.array_or_null("range")) {
    const Value::Array& bounds = range->as_array();
    if (bounds.size() != 2 || !bounds[0].is_number() || !bounds[1].is_number()) {
      f.mistake("range", "expected [low, high]");
    } else {
      s.low = bounds[0].as_double();
      s.high = bounds[1].as_double();
      if (!(s.low < s.high)) f.mistake("range", "low must be below high");
    }
    if (f.has("value")) f.mistake("value", "a scalar has a value or a range, not both");
  } else if (const Value* value = f.value("value")) {
    s.value = expression_text(f, "value", *value);
    if (dtype_is_float(s.dtype))
      f.mistake("dtype", "an expression is an integer; give a range for a float");
  }
  HONE_TRY(f.finish());
  return s;
}

Result<Generator> read_generator(Fields f) {
  Generator g;
  g.kind =
      f.choice("kind", {"normal", "uniform", "integers", "constant", "cancel", "scaled", "ties",
                        "sparse", "ramp", "offsets", kByReference, kVariedByReference});
  g.a = f.number_or("a", 0, -kBig, kBig);
  g.b = f.number_or("b", 1, -kBig, kBig);
  HONE_TRY(f.finish());
  return g;
}

Result<Family> read_family(Fields f, const std::vector<Tensor>& tensors) {
  Family family;
  family.name = read_identifier(f, "name");
  if (const Value* fallback = f.map_or_null("fill")) {
    HONE_ASSIGN(family.fallback, read_generator(f.inside("fill", *fallback)));
  }
  if (const Value* named = f.map_or_null("tensors")) {
    for (const auto& [name, generator] : named->as_map()) {
      if (std::none_of(tensors.begin(), tensors.end(),
                       [&n = name](const Tensor& t) { return t.name == n; })) {
        f.mistake("tensors", "no tensor is called '" + name + "'");
      }
      HONE_ASSIGN(family.tensors[name],
                  read_generator(f.inside("tensors", *named).inside(name, generator)));
    }
  }
  HONE_TRY(f.finish());
  return family;
}

Result<Dims> read_dims(Fields f, const std::vector<std::string>& names) {
  Dims dims;
  for (const std::string& name : names) dims[name] = f.integer(name, 0, std::int64_t{1} << 32);
  HONE_TRY(f.finish());
  return dims;
}

Result<HiddenShape> read_hidden(Fields f, const std::vector<std::string>& names) {
  HiddenShape hidden;
  for (const std::string& name : names) {
    const Value* value = f.value(name);
    if (value == nullptr) break;
    if (value->is_int()) {
      hidden.ranges[name] = {value->as_int(), value->as_int()};
    } else if (value->is_array() && value->as_array().size() == 2 &&
               value->as_array()[0].is_int() && value->as_array()[1].is_int() &&
               value->as_array()[0].as_int() <= value->as_array()[1].as_int()) {
      hidden.ranges[name] = {value->as_array()[0].as_int(), value->as_array()[1].as_int()};
    } else {
      f.mistake(name, "expected an integer or [low, high] with low ≤ high");
    }
  }
  HONE_TRY(f.finish());
  return hidden;
}

Result<Tolerance> read_tolerance(Fields f) {
  Tolerance t;
  t.rtol = f.number_or("rtol", 0, 0, 1);
  t.atol = f.number_or("atol", 0, 0, kBig);
  t.rms = f.number_or("rms", 0, 0, 1);
  t.rms_per_row = f.choice_or("rms_over", "tensor", {"tensor", "row"}) == "row";
  t.norm = f.number_or("norm", 0, 0, 1);
  t.from_reference = f.flag_or("from_reference", false);
  if (t.rms_per_row && t.from_reference)
    f.mistake("rms_over", "expected tensor, where the tolerance is from the reference");
  t.reason = f.text("reason");
  HONE_TRY(f.finish());
  return t;
}

Result<Source> read_source(Fields f) {
  Source s;
  s.name = f.text("name");
  s.text = f.text("text");
  HONE_TRY(f.finish());
  return s;
}

/// Reads every element of a list of maps with `read`.
template <typename T, typename Read>
Status read_list(Fields& f, std::string_view key, std::vector<T>& out, Read read) {
  const Value* list = f.array_or_null(key);
  if (list == nullptr) return {};
  for (std::size_t i = 0; i < list->as_array().size(); ++i) {
    HONE_ASSIGN(T item, read(f.inside(key, *list).inside(std::to_string(i), list->as_array()[i])));
    out.push_back(std::move(item));
  }
  return {};
}

Status read_shown(Fields& f, const std::vector<std::string>& dims, std::vector<Dims>& shown) {
  HONE_TRY(read_list(f, "shown", shown, [&](Fields g) { return read_dims(std::move(g), dims); }));
  if (shown.empty()) f.mistake("shown", "expected at least one shape");
  return {};
}

Status read_list_of_hidden(Fields& f, const std::vector<std::string>& dims,
                           std::vector<HiddenShape>& hidden) {
  return read_list(f, "hidden", hidden, [&](Fields g) { return read_hidden(std::move(g), dims); });
}

std::int64_t read_alignment(Fields& f) {
  const std::int64_t alignment = f.integer_or("alignment", 0, 0, 64);
  if ((alignment & (alignment - 1)) != 0) f.mistake("alignment", "expected a power of two");
  return alignment;
}

Result<BackendSources> read_backend(Fields f, const std::vector<std::string>& dims) {
  BackendSources b;
  b.languages = f.texts_or("languages", {});
  if (b.languages.empty()) f.mistake("languages", "expected at least one");
  if (const Value* source = f.map("reference")) {
    HONE_ASSIGN(b.reference, read_source(f.inside("reference", *source)));
  }
  if (const Value* source = f.map("baseline")) {
    HONE_ASSIGN(b.baseline, read_source(f.inside("baseline", *source)));
  }
  f.adopt(read_list(f, "support", b.support, read_source));
  if (f.has("shown")) f.adopt(read_shown(f, dims, b.shown.emplace()));
  if (f.has("hidden")) f.adopt(read_list_of_hidden(f, dims, b.hidden.emplace()));
  if (const Value* timed = f.map_or_null("timed")) {
    HONE_ASSIGN(b.timed, read_dims(f.inside("timed", *timed), dims));
  }
  if (const Value* tolerance = f.map_or_null("tolerance")) {
    HONE_ASSIGN(b.tolerance, read_tolerance(f.inside("tolerance", *tolerance)));
  }
  if (f.has("alignment")) b.alignment = read_alignment(f);
  HONE_TRY(f.finish());
  return b;
}

Status read_shapes(Fields f, Task& task) {
  f.adopt(read_shown(f, task.dims, task.shown));
  f.adopt(read_list_of_hidden(f, task.dims, task.hidden));
  if (const Value* timed = f.map("timed")) {
    HONE_ASSIGN(task.timed, read_dims(f.inside("timed", *timed), task.dims));
  }
  return f.finish();
}

void read_limits(Fields& f, Task& task) {
  task.alignment = read_alignment(f);
  task.threads = static_cast<int>(f.integer_or("threads", 1, 1, 256));
  task.memory_mb = f.integer_or("memory_mb", 256, 1, 1 << 20);
  task.run_seconds = f.number_or("run_seconds", 10, 0.001, 3600);
  task.slowdown_max = f.number_or("slowdown_max", 300, 0, 1e9);
  // The baseline itself must not be over its limit.
  if (task.slowdown_max > 0 && task.slowdown_max < 2)
    f.mistake("slowdown_max", "expected 0 or at least 2");
  task.cache_warm = f.choice_or("cache", "cold", {"cold", "warm"}) == "warm";
  task.own_kernels = f.choice_or("own_kernels", "optional", {"optional", "expected", "required"});
  task.precision = f.text_or("precision", "", 200);
  if (f.has("flops")) {
    if (const Value* flops = f.value("flops")) task.flops = expression_text(f, "flops", *flops);
  }
}

/// Of the generators by the reference, those that fill the inputs of a family.
std::set<std::string> reference_kinds(const Task& task, const Family& family) {
  std::set<std::string> kinds;
  for (const Tensor& tensor : task.tensors) {
    const Generator& generator = generator_for(family, tensor.name);
    if (tensor.role != Role::kOut && fills_by_reference(generator)) kinds.insert(generator.kind);
  }
  return kinds;
}

using Place = std::pair<std::string, Dims>;

/// Each shape with its place in messages. A hidden shape is checked at its smallest and largest sizes.
void add_places(const std::string& at, const std::optional<Dims>& timed,
                const std::vector<Dims>& shown, const std::vector<HiddenShape>& hidden,
                std::vector<Place>& places) {
  if (timed) places.emplace_back(at + "timed", *timed);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    places.emplace_back(at + "shown/" + std::to_string(i), shown[i]);
  }
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    Dims low, high;
    for (const auto& [dim, range] : hidden[i].ranges) {
      low[dim] = range.first;
      high[dim] = range.second;
    }
    places.emplace_back(at + "hidden/" + std::to_string(i), low);
    places.emplace_back(at + "hidden/" + std::to_string(i), high);
  }
}

/// Names are unique, `arguments` names each tensor and scalar once, and every expression evaluates
/// for every shape.
Status check_consistent(Fields& f, Task& task) {
  std::vector<std::string> names;
  for (const Tensor& t : task.tensors) names.push_back(t.name);
  for (const Scalar& s : task.scalars) names.push_back(s.name);
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size()) {
    f.mistake("tensors", "two tensors or scalars have the same name");
  }
  if (task.arguments.empty()) task.arguments = names;
  if (!std::is_permutation(names.begin(), names.end(), task.arguments.begin(),
                           task.arguments.end())) {
    f.mistake("arguments", "expected each tensor and scalar exactly once");
  }
  for (const Family& family : task.families) {
    if (reference_kinds(task, family).size() > 1)
      f.mistake("families", "family " + family.name + ": expected one of reference and varied");
  }
  if (names.size() > kArgumentsMax) {
    f.mistake("arguments", "found " + std::to_string(names.size()) + ", at most 16 allowed");
  }
  if (std::none_of(task.tensors.begin(), task.tensors.end(),
                   [](const Tensor& t) { return t.role != Role::kIn; })) {
    f.mistake("tensors", "expected at least one with role out or inout");
  }
  HONE_TRY(f.finish());

  std::vector<Place> shapes;
  add_places("shapes/", task.timed, task.shown, task.hidden, shapes);
  for (const auto& [name, b] : task.backends) {
    add_places("backends/" + name + "/", b.timed, b.shown.value_or(std::vector<Dims>()),
               b.hidden.value_or(std::vector<HiddenShape>()), shapes);
  }
  for (const auto& [where, dims] : shapes) {
    for (const Tensor& t : task.tensors) {
      if (auto count = element_count(t, dims); !count) {
        f.mistake(where, "tensor " + t.name + ": " + count.error().message);
      }
    }
    for (const Scalar& s : task.scalars) {
      if (s.value.empty()) continue;
      if (auto value = evaluate_expression(s.value, dims); !value) {
        f.mistake(where, "scalar " + s.name + ": " + value.error().message);
      }
    }
    if (task.flops.empty()) continue;
    const auto flops = evaluate_expression(task.flops, dims);
    if (!flops) {
      f.mistake(where, "flops: " + flops.error().message);
    } else if (*flops < 0) {
      f.mistake(where, "flops: found " + std::to_string(*flops) + ", expected at least 0");
    }
  }
  return f.finish();
}

Value dims_value(const Dims& dims) {
  Value map = Value::map();
  for (const auto& [name, extent] : dims) map.set(name, extent);
  return map;
}

Value generator_value(const Generator& g) {
  return Value::map({{"kind", g.kind}, {"a", g.a}, {"b", g.b}});
}

Value tensors_value(const Task& task) {
  Value tensors = Value::array();
  for (const Tensor& t : task.tensors) {
    Value tensor = Value::map({{"name", t.name},
                               {"role", kRoles[static_cast<int>(t.role)]},
                               {"dtype", dtype_name(t.dtype)},
                               {"shape", texts_value(t.shape)}});
    if (t.may_change) tensor.set("may_change", true);
    tensors.push(std::move(tensor));
  }
  return tensors;
}

Value scalars_value(const Task& task) {
  Value scalars = Value::array();
  for (const Scalar& s : task.scalars) {
    Value scalar = Value::map({{"name", s.name}, {"dtype", dtype_name(s.dtype)}});
    if (s.value.empty()) {
      scalar.set("range", Value::array({s.low, s.high}));
    } else {
      scalar.set("value", s.value);
    }
    scalars.push(std::move(scalar));
  }
  return scalars;
}

Value tolerance_value(const Tolerance& t) {
  Value map = Value::map({{"rtol", t.rtol},
                          {"atol", t.atol},
                          {"rms", t.rms},
                          {"rms_over", t.rms_per_row ? "row" : "tensor"},
                          {"reason", t.reason}});
  if (t.norm > 0) map.set("norm", t.norm);
  if (t.from_reference) map.set("from_reference", true);
  return map;
}

/// What names and describes the task. Clients see it, too.
Value description_value(const Task& task) {
  return Value::map({{"dataset", task.dataset},
                     {"id", task.id},
                     {"title", task.title},
                     {"description", task.description},
                     {"split", task.split},
                     {"tags", texts_value(task.tags)}});
}

/// The rules that clients see, too.
void set_rules(Value& value, const Task& task) {
  value.set("tolerance", tolerance_value(task.tolerance))
      .set("alignment", task.alignment)
      .set("threads", task.threads)
      .set("memory_mb", task.memory_mb)
      .set("run_seconds", task.run_seconds)
      .set("slowdown_max", task.slowdown_max)
      .set("cache", task.cache_warm ? "warm" : "cold")
      .set("own_kernels", task.own_kernels)
      .set("precision", task.precision);
}

Value shown_value(const std::vector<Dims>& list) {
  Value shown = Value::array();
  for (const Dims& dims : list) shown.push(dims_value(dims));
  return shown;
}

Value hidden_value(const std::vector<HiddenShape>& list) {
  Value hidden = Value::array();
  for (const HiddenShape& shape : list) {
    Value ranges = Value::map();
    for (const auto& [dim, range] : shape.ranges) {
      ranges.set(dim, Value::array({range.first, range.second}));
    }
    hidden.push(std::move(ranges));
  }
  return hidden;
}

Value source_value(const Source& s) { return Value::map({{"name", s.name}, {"text", s.text}}); }

Value backend_value(const BackendSources& b) {
  Value value = Value::map({{"languages", texts_value(b.languages)},
                            {"reference", source_value(b.reference)},
                            {"baseline", source_value(b.baseline)}});
  if (!b.support.empty()) {
    Value support = Value::array();
    for (const Source& file : b.support) support.push(source_value(file));
    value.set("support", std::move(support));
  }
  if (b.shown) value.set("shown", shown_value(*b.shown));
  if (b.hidden) value.set("hidden", hidden_value(*b.hidden));
  if (b.timed) value.set("timed", dims_value(*b.timed));
  if (b.tolerance) value.set("tolerance", tolerance_value(*b.tolerance));
  if (b.alignment) value.set("alignment", *b.alignment);
  return value;
}

}  // namespace

Result<Task> task_from_value(const Value& value) {
  Fields f(value, "task");
  Task task;
  task.dataset = f.text_or("dataset", "");
  task.id = f.text("id", 128);
  task.title = f.text("title");
  task.description = f.text("description");
  task.split = f.text_or("split", "train");
  task.tags = f.texts_or("tags", {});
  task.entry = read_identifier(f, "entry");
  task.dims = f.texts_or("dims", {});
  f.adopt(read_list(f, "tensors", task.tensors, read_tensor));
  f.adopt(read_list(f, "scalars", task.scalars, read_scalar));
  task.arguments = f.texts_or("arguments", {});
  f.adopt(read_list(f, "families", task.families,
                    [&](Fields g) { return read_family(std::move(g), task.tensors); }));
  if (task.families.empty()) task.families.push_back({"normal", {}, {}});
  if (const Value* shapes = f.map("shapes"))
    f.adopt(read_shapes(f.inside("shapes", *shapes), task));
  if (const Value* tolerance = f.map("tolerance")) {
    HONE_ASSIGN(task.tolerance, read_tolerance(f.inside("tolerance", *tolerance)));
  }
  read_limits(f, task);
  if (const Value* backends = f.map("backends")) {
    for (const auto& [name, sources] : backends->as_map()) {
      HONE_ASSIGN(task.backends[name],
                  read_backend(f.inside("backends", *backends).inside(name, sources), task.dims));
    }
  }
  HONE_TRY(f.finish());
  HONE_TRY(check_consistent(f, task));
  return task;
}

Value task_to_value(const Task& task) {
  Value families = Value::array();
  for (const Family& family : task.families) {
    Value named = Value::map();
    for (const auto& [name, g] : family.tensors) named.set(name, generator_value(g));
    families.push(Value::map({{"name", family.name},
                              {"fill", generator_value(family.fallback)},
                              {"tensors", std::move(named)}}));
  }
  Value backends = Value::map();
  for (const auto& [name, b] : task.backends) {
    backends.set(name, backend_value(b));
  }
  Value value = description_value(task);
  value.set("entry", task.entry)
      .set("dims", texts_value(task.dims))
      .set("tensors", tensors_value(task))
      .set("scalars", scalars_value(task))
      .set("arguments", texts_value(task.arguments))
      .set("families", std::move(families))
      .set("shapes", Value::map({{"shown", shown_value(task.shown)},
                                 {"hidden", hidden_value(task.hidden)},
                                 {"timed", dims_value(task.timed)}}));
  set_rules(value, task);
  value.set("backends", std::move(backends));
  if (!task.flops.empty()) value.set("flops", task.flops);
  return value;
}

const Generator& generator_for(const Family& family, const std::string& tensor) {
  const auto named = family.tensors.find(tensor);
  return named != family.tensors.end() ? named->second : family.fallback;
}

bool fills_by_reference(const Generator& generator) {
  return generator.kind == kByReference || generator.kind == kVariedByReference;
}

std::string reference_form(const Task& task, const Family& family) {
  const std::set<std::string> kinds = reference_kinds(task, family);
  if (kinds.empty()) return "";
  return kinds.count(kByReference) != 0 ? "inputs" : "varied";
}

std::set<std::string> reference_forms(const Task& task) {
  std::set<std::string> forms;
  for (const Family& family : task.families) forms.insert(reference_form(task, family));
  forms.erase("");
  return forms;
}

Result<Task> task_for_backend(const Task& task, std::string_view backend) {
  const auto found = task.backends.find(backend);
  if (found == task.backends.end()) {
    std::string has;
    for (const auto& [name, sources] : task.backends) has += (has.empty() ? "" : ", ") + name;
    return invalid_argument("task " + task.id + ": no sources for backend '" +
                            std::string(backend.substr(0, 64)) + "'; it has: " + has);
  }
  Task seen = task;
  seen.backends.clear();
  BackendSources& own = seen.backends[found->first] = found->second;
  const auto replace = [](auto& theirs, auto& ours) {
    if (ours) theirs = *std::exchange(ours, std::nullopt);
  };
  replace(seen.shown, own.shown);
  replace(seen.hidden, own.hidden);
  replace(seen.timed, own.timed);
  replace(seen.tolerance, own.tolerance);
  replace(seen.alignment, own.alignment);
  return seen;
}

Value task_for_client(const Task& whole, std::string_view backend) {
  const auto seen = task_for_backend(whole, backend);
  const Task& task = seen ? *seen : whole;
  const std::vector<std::string> languages =
      seen ? task.backends.begin()->second.languages : std::vector<std::string>();
  const std::string language = languages.empty() ? "c++" : languages.front();
  Value value = description_value(task);
  value.set("backend", backend)
      .set("languages", texts_value(languages))
      .set("entry", task.entry)
      .set("signature", signature_of(task, language))
      .set("tensors", tensors_value(task))
      .set("scalars", scalars_value(task))
      .set("arguments", texts_value(task.arguments))
      .set("shapes",
           Value::map({{"shown", shown_value(task.shown)}, {"timed", dims_value(task.timed)}}));
  set_rules(value, task);
  return value;
}

std::string signature_of(const Task& task, std::string_view language) {
  if (language == "python") return "class " + task.entry + "(torch.nn.Module)";
  const bool on_host = language == "c++" || language == "c";
  std::string parameters;
  for (const std::string& name : task.arguments) {
    if (!parameters.empty()) parameters += ", ";
    for (const Tensor& t : task.tensors) {
      if (t.name != name) continue;
      if (t.role == Role::kIn && !t.may_change) parameters += "const ";
      parameters += std::string(dtype_c_name(t.dtype)) + "* " + t.name;
    }
    for (const Scalar& s : task.scalars) {
      if (s.name == name) parameters += std::string(dtype_c_name(s.dtype)) + " " + s.name;
    }
  }
  return "extern \"C\" " + std::string(on_host ? "" : "__global__ ") + "void " + task.entry + "(" +
         parameters + ")";
}

Result<std::vector<std::int64_t>> extents(const Tensor& tensor, const Dims& dims) {
  std::vector<std::int64_t> result;
  for (const std::string& axis : tensor.shape) {
    HONE_ASSIGN(const std::int64_t extent, evaluate_expression(axis, dims));
    result.push_back(extent);
  }
  return result;
}

double least_bytes(const Task& task) {
  double bytes = 0;
  for (const Tensor& tensor : task.tensors) {
    const auto count = element_count(tensor, task.timed);
    if (count) bytes += static_cast<double>(*count) * static_cast<double>(dtype_size(tensor.dtype));
  }
  return bytes;
}

double flops_of_call(const Task& task) {
  if (task.flops.empty()) return 0;
  const auto flops = evaluate_expression(task.flops, task.timed);
  return flops ? static_cast<double>(*flops) : 0;
}

Result<std::int64_t> element_count(const Tensor& tensor, const Dims& dims) {
  constexpr std::int64_t kCountMax = std::int64_t{1} << 32;
  HONE_ASSIGN(const std::vector<std::int64_t> axes, extents(tensor, dims));
  std::int64_t count = 1;
  for (const std::int64_t axis : axes) {
    if (axis < 1 || axis > kCountMax || count > kCountMax / axis) {
      return invalid_argument("an axis of " + std::to_string(axis) +
                              " elements; expected at least 1 and at most 2^32 in all");
    }
    count *= axis;
  }
  return count;
}

}  // namespace hone
