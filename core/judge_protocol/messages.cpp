// One writer and one strict reader for all messages of the judge protocol.
#include "judge_protocol/messages.hpp"

#include <limits>
#include <type_traits>
#include <utility>

#include "model/fields.hpp"

namespace hone {
namespace {

constexpr double kSecondsMax = 1e9;

constexpr std::string_view kind_key(const HostRequest*) { return "request"; }
constexpr std::string_view kind_key(const JudgeReply*) { return "reply"; }
constexpr std::string_view kind_key(const JudgeCall*) { return "call"; }
constexpr std::string_view kind_key(const HostAnswer*) { return "answer"; }

/// Adds each field to a map.
class Writer {
 public:
  explicit Writer(Value& map) : map_(map) {}

  template <typename T>
  void operator()(std::string_view key, const T& field) {
    map_.set(key, value_of(field));
  }
  template <typename T>
  void operator()(std::string_view key, const T& field, double, double) {
    map_.set(key, value_of(field));
  }
  template <typename T>
  void operator()(std::string_view key, const std::optional<T>& field) {
    if (field) map_.set(key, value_of(*field));
  }

 private:
  static Value value_of(bool field) { return field; }
  static Value value_of(int field) { return field; }
  static Value value_of(std::int64_t field) { return field; }
  static Value value_of(std::size_t field) { return field; }
  static Value value_of(double field) { return field; }
  static Value value_of(const std::string& field) { return field; }
  static Value value_of(const Value& field) { return field; }
  static Value value_of(const Task& field) { return task_to_value(field); }
  static Value value_of(const Verdict& field) { return verdict_to_value(field); }
  static Value value_of(const ReferenceError& field) { return reference_error_to_value(field); }
  static Value value_of(const FormPlans& field) {
    Value plans = Value::map();
    for (const auto& [form, plan] : field) plans.set(enum_name(form), plan_to_value(plan));
    return plans;
  }
  static Value value_of(const Defences& field) {
    Value off = Value::array();
    for (const std::string& name : field.off()) off.push(name);
    return off;
  }
  template <typename T>
  static Value value_of(const T& field) {
    if constexpr (std::is_enum_v<T>) {
      return enum_name(field);
    } else {
      Value map = Value::map();
      Writer writer(map);
      T::fields(field, writer);
      return map;
    }
  }

  Value& map_;
};

/// Takes each field from a map. The map's Fields keep the first mistake.
class Reader {
 public:
  explicit Reader(Fields& map) : map_(map) {}

  template <typename T>
  void operator()(std::string_view key, T& field) {
    read(key, field);
  }
  template <typename T>
  void operator()(std::string_view key, T& field, double low, double high) {
    if constexpr (std::is_integral_v<T>) {
      field = static_cast<T>(
          map_.integer(key, static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)));
    } else {
      field = map_.number(key, low, high);
    }
  }

 private:
  void read(std::string_view key, bool& field) { field = map_.flag(key); }
  void read(std::string_view key, std::int64_t& field) {
    constexpr std::numeric_limits<std::int64_t> kAny;
    field = map_.integer(key, kAny.min(), kAny.max());
  }
  void read(std::string_view key, std::size_t& field) {
    field =
        static_cast<std::size_t>(map_.integer(key, 0, std::numeric_limits<std::int64_t>::max()));
  }
  void read(std::string_view key, double& field) { field = map_.number(key, 0, kSecondsMax); }
  void read(std::string_view key, std::string& field) { field = map_.text(key); }
  void read(std::string_view key, Value& field) {
    if (const Value* found = map_.map(key)) field = *found;
  }
  void read(std::string_view key, Task& field) { read_with(key, field, task_from_value); }
  void read(std::string_view key, Verdict& field) { read_with(key, field, verdict_from_value); }
  void read(std::string_view key, ReferenceError& field) {
    read_with(key, field, reference_error_from_value);
  }
  void read(std::string_view key, FormPlans& field) {
    const Value* found = map_.map(key);
    if (found == nullptr) return;
    for (const auto& [name, value] : found->as_map()) {
      const auto form = find_enum<Form>(name);
      if (!form) return map_.mistake(key, unknown_enum<Form>(name));
      keep(key, field[*form], plan_from_value(value));
    }
    if (field.count(Form::kEntry) == 0) map_.mistake(key, "entry: missing");
  }
  void read(std::string_view key, Defences& field) {
    if (map_.array(key) != nullptr) keep(key, field, Defences::without(map_.texts_or(key, {})));
  }
  template <typename T>
  void read(std::string_view key, std::optional<T>& field) {
    if (map_.value_or_null(key) != nullptr || map_.has(key)) read(key, field.emplace());
  }
  template <typename T>
  void read(std::string_view key, T& field) {
    if constexpr (std::is_enum_v<T>) {
      const std::string name = map_.text(key);
      if (const auto found = find_enum<T>(name)) {
        field = *found;
      } else {
        map_.mistake(key, unknown_enum<T>(name));
      }
    } else if (const Value* found = map_.map(key)) {
      Fields inner = map_.inside(key, *found);
      Reader reader(inner);
      T::fields(field, reader);
      map_.adopt(inner.finish());
    }
  }

  template <typename T>
  void read_with(std::string_view key, T& field, Result<T> (*from_value)(const Value&)) {
    if (const Value* found = map_.map(key)) keep(key, field, from_value(*found));
  }
  template <typename T>
  void keep(std::string_view key, T& field, Result<T> read) {
    if (read) {
      field = std::move(read).value();
    } else {
      map_.mistake(key, read.error().message, read.error().code);
    }
  }

  Fields& map_;
};

template <typename Variant>
std::string write_variant(const Variant& message) {
  Value map = Value::map({{std::string(kind_key(&message)), name_of(message)}});
  std::visit(
      [&map](const auto& one) {
        Writer writer(map);
        std::decay_t<decltype(one)>::fields(one, writer);
      },
      message);
  return to_msgpack(map);
}

/// The alternative with this kName, filled from the map.
template <typename Variant, std::size_t index = 0>
Result<Variant> read_as(std::string_view name, const Value& map) {
  const std::string_view key = kind_key(static_cast<const Variant*>(nullptr));
  if constexpr (index == std::variant_size_v<Variant>) {
    return internal_error("found the " + std::string(key) + " '" + std::string(name) +
                          "', which is unknown");
  } else {
    using Message = std::variant_alternative_t<index, Variant>;
    if (Message::kName != name) return read_as<Variant, index + 1>(name, map);
    Message message;
    Fields fields(map, std::string(name));
    static_cast<void>(fields.text(key));
    Reader reader(fields);
    Message::fields(message, reader);
    if (Status read = fields.finish(); !read) return read.error();
    return Variant(std::move(message));
  }
}

template <typename Variant>
Result<Variant> read_variant(const Value& map) {
  const std::string_view key = kind_key(static_cast<const Variant*>(nullptr));
  const Value* name = map.find(key);
  if (name == nullptr || !name->is_string())
    return internal_error("found " + to_json(map).substr(0, 200) + ", expected a map with '" +
                          std::string(key) + "'");
  return read_as<Variant>(name->as_string(), map);
}

}  // namespace

std::string write_message(const HostRequest& request) { return write_variant(request); }
std::string write_message(const JudgeReply& reply) { return write_variant(reply); }
std::string write_message(const JudgeCall& call) { return write_variant(call); }
std::string write_message(const HostAnswer& answer) { return write_variant(answer); }

Result<HostRequest> read_request(std::string_view bytes) {
  HONE_ASSIGN(const Value map, from_msgpack(bytes));
  return read_variant<HostRequest>(map);
}

Result<JudgeMessage> read_judge_message(std::string_view bytes) {
  HONE_ASSIGN(const Value map, from_msgpack(bytes));
  if (map.find(kind_key(static_cast<const JudgeCall*>(nullptr))) != nullptr) {
    HONE_ASSIGN(JudgeCall call, read_variant<JudgeCall>(map));
    return JudgeMessage(call);
  }
  HONE_ASSIGN(JudgeReply reply, read_variant<JudgeReply>(map));
  return JudgeMessage(std::move(reply));
}

Result<HostAnswer> read_answer(std::string_view bytes) {
  HONE_ASSIGN(const Value map, from_msgpack(bytes));
  return read_variant<HostAnswer>(map);
}

}  // namespace hone
