// Visitors over the fields of a message of the judge protocol: sample values, and a list of the fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "judge_protocol/messages.hpp"

namespace hone {

inline Task sample_task() {
  Task task;
  task.id = "sample";
  task.entry = "scale";
  task.tensors = {{"x", Role::kIn, DType::kF32, {"n"}}, {"y", Role::kOut, DType::kF32, {"n"}}};
  task.scalars = {{"n", DType::kI64, "n"}};
  task.arguments = {"x", "y", "n"};
  task.dims = {"n"};
  task.families = {{"normal", {}, {}}};
  task.shown = {{{"n", 1000}}};
  task.timed = {{"n", 1000}};
  return task;
}

/// Gives each field a value that differs from its default.
struct Sampler {
  template <typename T>
  void operator()(std::string_view key, T& field) {
    fill(key, field);
  }
  template <typename T>
  void operator()(std::string_view, T& field, double low, double high) {
    field = static_cast<T>(low + (high - low) / 2);
  }

 private:
  static void fill(std::string_view, bool& field) { field = true; }
  static void fill(std::string_view, std::int64_t& field) { field = 7; }
  static void fill(std::string_view, std::size_t& field) { field = 9; }
  static void fill(std::string_view, double& field) { field = 0.5; }
  static void fill(std::string_view key, std::string& field) { field = "a " + std::string(key); }
  static void fill(std::string_view key, Value& field) { field = Value::map({{"of", key}}); }
  static void fill(std::string_view, Task& field) { field = sample_task(); }
  static void fill(std::string_view, Verdict& field) { field.reason = "a reason"; }
  static void fill(std::string_view, ReferenceError& field) {
    field.outputs = {{{0.1, 0.2, 0.3, 0.4, 0.5}, OutputError{1, 2, 3, 4, 5}}};
    field.in_double = false;
    field.memory_bytes = 4096;
  }
  static void fill(std::string_view, FormPlans& field) {
    field = {{Form::kEntry, host_plan(sample_task(), "scale")},
             {Form::kExact, host_plan(sample_task(), "exact")}};
  }
  static void fill(std::string_view, Defences& field) {
    // Only a test build has a defence that can be switched off.
    if (auto weaker = Defences::without({"freeze"})) field = *weaker;
  }
  template <typename T>
  void fill(std::string_view key, std::optional<T>& field) {
    fill(key, field.emplace());
  }
  template <typename T>
  void fill(std::string_view, T& field) {
    if constexpr (std::is_enum_v<T>) {
      field = static_cast<T>(1);
    } else {
      T::fields(field, *this);
    }
  }
};

struct FieldOfMessage {
  std::vector<std::string> path;
  bool optional = false;
  bool is_text = false, is_enum = false, has_fields = false;
  std::optional<std::pair<double, double>> range = {};
};

/// Lists the fields of a message, and those of structs in it.
class Lister {
 public:
  explicit Lister(std::vector<FieldOfMessage>& found, std::vector<std::string> path = {})
      : found_(found), path_(std::move(path)) {}

  template <typename T>
  void operator()(std::string_view key, T& field) {
    list(key, field, false);
  }
  template <typename T>
  void operator()(std::string_view key, T&, double low, double high) {
    add(key, false).range = {low, high};
  }

 private:
  FieldOfMessage& add(std::string_view key, bool optional) {
    FieldOfMessage one;
    one.path = path_;
    one.path.emplace_back(key);
    one.optional = optional;
    return found_.emplace_back(std::move(one));
  }
  template <typename T>
  void list(std::string_view key, std::optional<T>& field, bool) {
    list(key, field.emplace(), true);
  }
  template <typename T>
  void list(std::string_view key, T& field, bool optional) {
    FieldOfMessage& one = add(key, optional);
    one.is_enum = std::is_enum_v<T>;
    one.is_text = one.is_enum || std::is_same_v<T, std::string>;
    if constexpr (requires(Lister & lister) { T::fields(field, lister); }) {
      one.has_fields = true;
      Lister inner(found_, one.path);
      T::fields(field, inner);
    }
  }

  std::vector<FieldOfMessage>& found_;
  std::vector<std::string> path_;
};

template <typename Message>
std::vector<FieldOfMessage> fields_of() {
  std::vector<FieldOfMessage> found;
  Message message;
  Lister lister(found);
  Message::fields(message, lister);
  return found;
}

/// Calls visit(message) with a sample of each alternative of a variant.
template <typename Variant, typename Visit, std::size_t index = 0>
void for_each_sample(const Visit& visit) {
  if constexpr (index < std::variant_size_v<Variant>) {
    std::variant_alternative_t<index, Variant> message;
    Sampler sampler;
    message.fields(message, sampler);
    visit(message);
    for_each_sample<Variant, Visit, index + 1>(visit);
  }
}

}  // namespace hone
