// Checks the structure and the expressions here, where the lines of the file are known. The host checks the
// sizes of tensors.
#include "task_file.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>
#include <vector>

#include "hone/plugin/expression.hpp"
#include "hone/plugin/reader.hpp"

namespace hone::tasks {
namespace {

using plugin::Document;
using plugin::Extents;
using plugin::Reader;
using plugin::Value;
using Names = std::vector<std::string>;

constexpr std::int64_t kExtentMax = std::int64_t{1} << 32;
constexpr std::uintmax_t kFileBytesMax = 1u << 20;

const Names& dtypes() {
  static const Names kAll{"f32", "f64", "i8", "u8", "i32", "u32", "i64", "f16", "bf16"};
  return kAll;
}
const Names& kinds() {
  static const Names kAll{"normal", "uniform", "integers", "constant", "cancel",
                          "scaled", "ties",    "sparse",   "ramp",     "offsets"};
  return kAll;
}

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A C identifier.
std::string identifier(Reader& r, std::string_view key) {
  std::string name = r.text(key);
  const bool starts = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
  const bool fits = std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
  if (!starts || !fits || name.size() > 64) {
    r.mistake(key, "expected a C identifier of at most 64 characters, found '" +
                       name.substr(0, 80) + "'");
  }
  return name;
}

/// Reads an integer, or an expression that has a value for each shape. Returns the smallest value.
std::int64_t expression(const Reader& r, std::string_view key, const Value& value,
                        const std::vector<Extents>& shapes) {
  if (value.is_int()) return value.as_int();
  if (!value.is_string()) {
    r.mistake(key, "expected an integer or an expression of the dims, found " +
                       std::string(value.type_name()));
  }
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const Extents& shape : shapes) {
    try {
      least = std::min(least, plugin::evaluate_expression(value.as_string(), shape));
    } catch (const plugin::Failure& failure) {
      r.mistake(key, failure.what());
    }
  }
  return least;
}

/// Calls `read(item reader)` for each member of a list of maps.
template <typename Read>
void each(Reader& r, const std::string& key, bool required, Read read) {
  if (!required && r.value_or_null(key) == nullptr) return;
  const Value::Array& items = r.array(key);
  if (required && items.empty()) r.mistake(key, "expected at least one");
  for (std::size_t i = 0; i < items.size(); ++i) {
    Reader item = r.item(key + "/" + std::to_string(i), items[i]);
    read(item);
    item.finish();
  }
}

void check_tensor(Reader& r, const std::vector<Extents>& shapes, Names& names) {
  names.push_back(identifier(r, "name"));
  const std::string role = r.choice("role", {"in", "out", "inout"});
  r.choice_or("dtype", "f32", dtypes());
  const Value::Array& shape = r.array("shape");
  if (shape.empty() || shape.size() > 8) {
    r.mistake("shape", "expected 1 to 8 axes, found " + std::to_string(shape.size()));
  }
  for (const Value& axis : shape) expression(r, "shape", axis, shapes);
  if (r.flag_or("may_change", false) && role != "in")
    r.mistake("may_change", "found on a tensor of role " + role + ", expected role in");
}

void check_scalar(Reader& r, const std::vector<Extents>& shapes, Names& names) {
  names.push_back(identifier(r, "name"));
  const std::string dtype = r.choice_or("dtype", "i64", dtypes());
  if (dtype == "f16" || dtype == "bf16") {
    r.mistake("dtype", "expected a type that is passed by value, found " + dtype);
  }
  const bool ranged = r.value_or_null("range") != nullptr;
  const Value* value = r.value_or_null("value");
  if (ranged == (value != nullptr)) {
    r.mistake(ranged ? "value" : "range", "expected either a value or a range, found " +
                                              std::string(ranged ? "both" : "neither"));
  }
  if (value != nullptr) {
    expression(r, "value", *value, shapes);
    if (dtype == "f32" || dtype == "f64") {
      r.mistake("dtype", "expected an integer's for a value; a float is drawn from a range");
    }
    return;
  }
  const Value::Array& range = r.array("range");
  if (range.size() != 2 || !range[0].is_number() || !range[1].is_number() ||
      !(range[0].as_double() < range[1].as_double())) {
    r.mistake("range", "expected [low, high] with low below high");
  }
}

void check_generator(Reader r) {
  r.choice("kind", kinds());
  r.number_or("a", 0);
  r.number_or("b", 1);
  r.finish();
}

void check_family(Reader& r, const Names& tensors) {
  identifier(r, "name");
  if (r.value_or_null("fill") != nullptr) check_generator(r.inside("fill"));
  if (r.value_or_null("tensors") == nullptr) return;
  Reader named = r.inside("tensors");
  for (const auto& [name, generator] : r.map("tensors")) {
    if (!contains(tensors, name)) {
      named.mistake(name, plugin::unknown_name("tensor", name, tensors));
    }
    check_generator(named.inside(name));
  }
}

/// One shape: an extent per dim or, with `ranges`, also [low, high]. Adds the smallest and the largest shape
/// to `shapes`.
void check_dims(Reader& r, const Names& dims, bool ranges, std::vector<Extents>& shapes) {
  Extents least, most;
  for (const std::string& dim : dims) {
    const Value& extent = r.value(dim);
    if (extent.is_int()) {
      least[dim] = most[dim] = r.integer(dim, 0, kExtentMax);
      continue;
    }
    const bool is_range = ranges && extent.is_array() && extent.as_array().size() == 2 &&
                          extent.as_array()[0].is_int() && extent.as_array()[1].is_int();
    if (!is_range) {
      r.mistake(dim,
                std::string(ranges ? "expected an integer or [low, high]" : "expected an integer") +
                    ", found " + std::string(extent.type_name()));
    }
    const std::int64_t low = extent.as_array()[0].as_int(), high = extent.as_array()[1].as_int();
    if (low < 0 || low > high || high > kExtentMax) {
      r.mistake(dim, "expected 0 ≤ low ≤ high ≤ 2^32, found [" + std::to_string(low) + ", " +
                         std::to_string(high) + "]");
    }
    least[dim] = low;
    most[dim] = high;
  }
  shapes.push_back(std::move(least));
  shapes.push_back(std::move(most));
}

void check_timed(Reader r, const Names& dims, std::vector<Extents>& shapes) {
  check_dims(r, dims, false, shapes);
  r.finish();
}

std::vector<Extents> check_shapes(Reader r, const Names& dims) {
  std::vector<Extents> shapes;
  each(r, "shown", true, [&](Reader& shape) { check_dims(shape, dims, false, shapes); });
  each(r, "hidden", false, [&](Reader& shape) { check_dims(shape, dims, true, shapes); });
  check_timed(r.inside("timed"), dims, shapes);
  r.finish();
  return shapes;
}

void check_tolerance(Reader r) {
  r.number_or("rtol", 0, 0, 1);
  r.number_or("atol", 0, 0);
  r.number_or("rms", 0, 0, 1);
  r.choice_or("rms_over", "tensor", {"tensor", "row"});
  if (r.text("reason").empty()) r.mistake("reason", "expected a sentence, found nothing");
  r.finish();
}

void check_alignment(Reader& r) {
  const std::int64_t alignment = r.integer_or("alignment", 0, 0, 64);
  if ((alignment & (alignment - 1)) != 0) {
    r.mistake("alignment", "expected a power of two, found " + std::to_string(alignment));
  }
}

void check_limits(Reader& r, const std::vector<Extents>& shapes) {
  check_alignment(r);
  r.integer_or("threads", 1, 1, 256);
  r.integer_or("memory_mb", 256, 1, 1 << 20);
  r.number_or("run_seconds", 10, 0.001, 3600);
  if (const double most = r.number_or("slowdown_max", 300, 0, 1e9); most > 0 && most < 2)
    r.mistake("slowdown_max", "expected 0 or at least 2");
  r.choice_or("cache", "cold", {"cold", "warm"});
  if (const Value* flops = r.value_or_null("flops")) {
    const std::int64_t least = expression(r, "flops", *flops, shapes);
    if (least < 0)
      r.mistake("flops", "expected at least 0 for each shape, found " + std::to_string(least));
  }
}

/// The arguments, when given, are the names of all tensors and scalars, each once.
void check_arguments(Reader& r, const Names& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::count(names.begin(), names.end(), names[i]) > 1) {
      r.mistake("tensors", "two tensors or scalars are called '" + names[i] + "'");
    }
  }
  const Names arguments = r.texts_or("arguments", names);
  for (const std::string& name : arguments) {
    if (!contains(names, name))
      r.mistake("arguments", plugin::unknown_name("argument", name, names));
  }
  for (const std::string& name : names) {
    const auto count = std::count(arguments.begin(), arguments.end(), name);
    if (count != 1) {
      r.mistake("arguments",
                "expected '" + name + "' once, found it " + std::to_string(count) + " times");
    }
  }
}

/// The source that `key` names, as {"name", "text"}.
Value source(Reader& r, std::string_view key, const std::filesystem::path& folder) {
  const std::string name = r.text(key);
  if (name.empty() || name.find('/') != std::string::npos || name[0] == '.') {
    r.mistake(key, "expected the name of a file in the task's folder, found '" + name + "'");
  }
  const std::string place = r.place(key) + ": " + std::string(key);
  return Value::map({{"name", name}, {"text", read_text(folder / name, place)}});
}

/// What a backend may have otherwise than the task, checked as the task's own is.
void check_own(Reader& r, const Names& dims) {
  std::vector<Extents> shapes;
  if (r.value_or_null("shown") != nullptr) {
    each(r, "shown", true, [&](Reader& shape) { check_dims(shape, dims, false, shapes); });
  }
  each(r, "hidden", false, [&](Reader& shape) { check_dims(shape, dims, true, shapes); });
  if (r.value_or_null("timed") != nullptr) check_timed(r.inside("timed"), dims, shapes);
  if (r.value_or_null("tolerance") != nullptr) check_tolerance(r.inside("tolerance"));
  check_alignment(r);
}

Value languages(Reader& r) {
  Value list = Value::array();
  for (const std::string& language : r.texts_or("languages", {})) list.push(language);
  if (list.as_array().empty()) r.mistake("languages", "expected at least one language, found none");
  return list;
}

/// One backend's member of `task`; `before`: the backends that stand above it.
Value backend(Reader r, const std::filesystem::path& folder, const Names& dims,
              const Value& before) {
  Value list = languages(r);
  Value result = Value::map({});
  if (r.value_or_null("like") != nullptr) {
    const std::string other = r.text("like");
    const Value* found = before.find(other);
    if (found == nullptr) {
      Names names;
      for (const auto& [name, ignored] : before.as_map()) names.push_back(name);
      r.mistake("like", plugin::unknown_name("backend above", other, names));
    }
    result = *found;
  } else {
    result.set("reference", source(r, "reference", folder));
    result.set("baseline", source(r, "baseline", folder));
    check_own(r, dims);
    for (const char* key : {"shown", "hidden", "timed", "tolerance", "alignment"}) {
      if (const Value* own = r.value_or_null(key)) result.set(key, *own);
    }
  }
  r.finish();
  result.set("languages", std::move(list));
  return result;
}

/// Everything but the backends, whose sources replace their names.
void check_members(Reader& r) {
  if (r.text("title").empty()) r.mistake("title", "expected a title, found nothing");
  r.text("description");
  r.texts_or("tags", {});
  identifier(r, "entry");
  const Names dims = r.texts_or("dims", {});
  const std::vector<Extents> shapes = check_shapes(r.inside("shapes"), dims);
  Names tensors;
  each(r, "tensors", true, [&](Reader& tensor) { check_tensor(tensor, shapes, tensors); });
  Names names = tensors;
  each(r, "scalars", false, [&](Reader& scalar) { check_scalar(scalar, shapes, names); });
  check_arguments(r, names);
  each(r, "families", false, [&](Reader& family) { check_family(family, tensors); });
  check_tolerance(r.inside("tolerance"));
  check_limits(r, shapes);
}

}  // namespace

std::string read_text(const std::filesystem::path& path, const std::string& place) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) {
    plugin::invalid_argument(place + ": expected the file " + path.string() + ", found none (" +
                             error.message() + ")");
  }
  if (size > kFileBytesMax) {
    plugin::invalid_argument(place + ": " + path.string() + ": expected at most 1 MiB, found " +
                             std::to_string(size) + " bytes");
  }
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) plugin::invalid_argument(place + ": cannot read " + path.string());
  std::string found = text.str();
  if (found.starts_with("\xff\xfe") || found.starts_with("\xfe\xff")) {
    plugin::invalid_argument(
        place + ": " + path.string() +
        ": found UTF-16 text, expected UTF-8; convert it with: iconv -f UTF-16 "
        "-t UTF-8");
  }
  if (found.starts_with("\xef\xbb\xbf")) found.erase(0, 3);  // a byte-order mark
  return found;
}

bool is_id(std::string_view text) {
  if (text.empty() || text.size() > 64 || text[0] == '_' || text[0] == '-') return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

Value read_task(const plugin::Host& host, const std::filesystem::path& folder) {
  const std::string file = (folder / "task.yaml").string();
  const Document document = host.parse_yaml(read_text(file, folder.string()), file);
  Reader r(document);
  const std::string id = r.text_or("id", folder.filename().string());
  if (!is_id(id)) {
    r.mistake("id", "expected 1 to 64 of a-z, 0-9, '_' and '-', found '" + id.substr(0, 80) + "'");
  }
  const std::string split = r.text_or("split", "train");
  if (!is_id(split)) r.mistake("split", "expected a name such as train, test or held_out");
  check_members(r);

  Reader backends = r.inside("backends");
  Value inlined = Value::map();
  for (const auto& [name, ignored] : r.map("backends")) {
    inlined.set(name, backend(backends.inside(name), folder, r.texts_or("dims", {}), inlined));
  }
  if (inlined.as_map().empty()) r.mistake("backends", "expected at least one, found none");
  r.finish();

  Value task = document.value;
  task.set("id", id);
  task.set("split", split);
  task.set("backends", std::move(inlined));
  return task;
}

}  // namespace hone::tasks
