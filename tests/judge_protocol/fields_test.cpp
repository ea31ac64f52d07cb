// Every message of the judge protocol and every field of it. A new one is covered once it is in its struct.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "judge_protocol/sample.hpp"
#include "model/value.hpp"

namespace hone {
namespace {

/// Reads the bytes as a message of the variant and writes it again.
template <typename Variant>
Result<std::string> read_and_write(const std::string& bytes);
template <>
Result<std::string> read_and_write<HostRequest>(const std::string& bytes) {
  HONE_ASSIGN(const HostRequest read, read_request(bytes));
  return write_message(read);
}
template <>
Result<std::string> read_and_write<HostAnswer>(const std::string& bytes) {
  HONE_ASSIGN(const HostAnswer read, read_answer(bytes));
  return write_message(read);
}
template <>
Result<std::string> read_and_write<JudgeReply>(const std::string& bytes) {
  HONE_ASSIGN(const JudgeMessage read, read_judge_message(bytes));
  return write_message(std::get<JudgeReply>(read));
}
template <>
Result<std::string> read_and_write<JudgeCall>(const std::string& bytes) {
  HONE_ASSIGN(const JudgeMessage read, read_judge_message(bytes));
  return write_message(std::get<JudgeCall>(read));
}

template <typename Variant>
class Messages : public testing::Test {};
using Variants = testing::Types<HostRequest, HostAnswer, JudgeReply, JudgeCall>;
TYPED_TEST_SUITE(Messages, Variants);

/// The map that has the last key of a path.
Value* map_of(Value& message, const std::vector<std::string>& path) {
  Value* at = &message;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    for (auto& [key, value] : at->as_map()) {
      if (key == path[i]) {
        at = &value;
        break;
      }
    }
  }
  return at;
}

/// The error of a sample whose map has been changed by `change`; empty if it is read all the same.
template <typename Variant, typename Message>
std::string error_after(const Message& sample, const std::function<void(Value&)>& change) {
  Value map = from_msgpack(write_message(Variant(sample))).value();
  change(map);
  const auto read = read_and_write<Variant>(to_msgpack(map));
  return read ? "" : read.error().message;
}

template <typename Variant>
void expect_error_for_each_field(
    const std::function<bool(const FieldOfMessage&)>& applies,
    const std::function<void(Value& map, const FieldOfMessage&)>& change) {
  for_each_sample<Variant>([&](const auto& sample) {
    using Message = std::decay_t<decltype(sample)>;
    for (const FieldOfMessage& field : fields_of<Message>()) {
      if (!applies(field)) continue;
      const std::string error = error_after<Variant>(
          sample, [&](Value& map) { change(*map_of(map, field.path), field); });
      EXPECT_NE(error.find(field.path.back() + ": "), std::string::npos)
          << Message::kName << ": " << field.path.back() << ": " << error;
    }
  });
}

void erase(Value& map, const std::string& key) {
  auto& entries = map.as_map();
  entries.erase(std::find_if(entries.begin(), entries.end(),
                             [&](const Value::Entry& entry) { return entry.first == key; }));
}

TYPED_TEST(Messages, Sample_ArrivesAsItWasSent) {
  for_each_sample<TypeParam>([](const auto& sample) {
    const std::string sent = write_message(TypeParam(sample));
    const auto arrived = read_and_write<TypeParam>(sent);
    ASSERT_TRUE(arrived) << arrived.error().message;
    EXPECT_EQ(*arrived, sent) << sample.kName;
  });
}

TYPED_TEST(Messages, MissingField_IsNamed) {
  expect_error_for_each_field<TypeParam>(
      [](const FieldOfMessage& field) { return !field.optional; },
      [](Value& map, const FieldOfMessage& field) { erase(map, field.path.back()); });
}

TYPED_TEST(Messages, MissingOptionalField_IsAccepted) {
  for_each_sample<TypeParam>([](const auto& sample) {
    for (const FieldOfMessage& field : fields_of<std::decay_t<decltype(sample)>>()) {
      if (!field.optional) continue;
      EXPECT_EQ(
          error_after<TypeParam>(
              sample, [&](Value& map) { erase(*map_of(map, field.path), field.path.back()); }),
          "");
    }
  });
}

TYPED_TEST(Messages, MistypedField_IsNamed) {
  for (const Value& wrong : {Value("text"), Value(7), Value()}) {
    expect_error_for_each_field<TypeParam>(
        [&](const FieldOfMessage& field) {
          const bool is_number = !field.is_text && !field.has_fields;
          return wrong.is_nil() || (wrong.is_int() ? !is_number : !field.is_text);
        },
        [&](Value& map, const FieldOfMessage& field) { map.set(field.path.back(), wrong); });
  }
}

TYPED_TEST(Messages, NumberOutOfRange_IsNamed) {
  const auto applies = [](const FieldOfMessage& field) { return field.range.has_value(); };
  const auto set = [](Value& map, const FieldOfMessage& field, double number) {
    const bool is_int = map.find(field.path.back())->is_int();
    map.set(field.path.back(), is_int ? Value(static_cast<std::int64_t>(number)) : Value(number));
  };
  expect_error_for_each_field<TypeParam>(applies, [&](Value& map, const FieldOfMessage& field) {
    set(map, field, field.range->first - 1);
  });
  expect_error_for_each_field<TypeParam>(applies, [&](Value& map, const FieldOfMessage& field) {
    set(map, field, field.range->second + 1);
  });
}

TYPED_TEST(Messages, UnknownEnumName_IsReportedWithTheExpectedOnes) {
  for_each_sample<TypeParam>([](const auto& sample) {
    for (const FieldOfMessage& field : fields_of<std::decay_t<decltype(sample)>>()) {
      if (!field.is_enum) continue;
      const std::string error = error_after<TypeParam>(sample, [&](Value& map) {
        map_of(map, field.path)->set(field.path.back(), "no such name");
      });
      EXPECT_NE(error.find(field.path.back() + ": found 'no such name', expected one of "),
                std::string::npos)
          << error;
    }
  });
}

TYPED_TEST(Messages, UnknownField_IsNamed) {
  for_each_sample<TypeParam>([](const auto& sample) {
    using Message = std::decay_t<decltype(sample)>;
    std::vector<std::vector<std::string>> maps = {{"surplus"}};
    for (const FieldOfMessage& field : fields_of<Message>()) {
      if (!field.has_fields) continue;
      maps.push_back(field.path);
      maps.back().emplace_back("surplus");
    }
    for (const auto& path : maps) {
      const std::string error =
          error_after<TypeParam>(sample, [&](Value& map) { map_of(map, path)->set("surplus", 1); });
      EXPECT_NE(error.find("'surplus'"), std::string::npos) << Message::kName << ": " << error;
    }
  });
}

TEST(JudgeProtocol, UnknownKind_IsAnError) {
  const auto unknown = read_request(to_msgpack(Value::map({{"request", "jugde"}})));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "found the request 'jugde', which is unknown");
  const auto other = read_request(write_message(HostAnswer(ShareAnswer{})));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "found {\"answer\":\"share\"}, expected a map with 'request'");
}

TEST(JudgeProtocol, PlansWithoutAnEntry_AreAnError) {
  JudgeRequest request;
  Sampler sampler;
  JudgeRequest::fields(request, sampler);
  request.plans.erase(Form::kEntry);
  const auto read = read_request(write_message(HostRequest(request)));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "judge: plans: entry: missing");
}

}  // namespace
}  // namespace hone
