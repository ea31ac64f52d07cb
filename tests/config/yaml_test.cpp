// parse_yaml: values, line numbers, and every mistake with its line.
#include "config/yaml.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace hone {
namespace {

Value value_of(std::string_view text) {
  auto parsed = parse_yaml(text, "t.yaml");
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return parsed ? parsed->value : Value();
}

std::string mistake_in(std::string_view text, const YamlLimits& limits = {}) {
  auto parsed = parse_yaml(text, "t.yaml", limits);
  EXPECT_FALSE(parsed);
  return parsed ? "" : parsed.error().message;
}

TEST(Yaml, Scalars_FollowTheCoreSchema) {
  EXPECT_EQ(value_of("[null, ~, true, False]"), Value::array({nullptr, nullptr, true, false}));
  EXPECT_EQ(value_of("[1, -2, +3, 0x1f, 0o17, 007]"), Value::array({1, -2, 3, 31, 15, 7}));
  EXPECT_EQ(value_of("[1.5, -.5, 2., 1e3, 2.4e-7]"),
            Value::array({1.5, -0.5, 2.0, 1000.0, 2.4e-7}));
  const Value texts = value_of("[yes, on, 1_000, 1.2.3, '7', \"true\", 0xg, e5]");
  for (const Value& item : texts.as_array()) {
    EXPECT_TRUE(item.is_string()) << to_json(item);
  }
  EXPECT_EQ(value_of("-9223372036854775808"), Value(std::int64_t{-9223372036854775807} - 1));
  EXPECT_TRUE(std::isinf(value_of(".inf").as_double()));
  EXPECT_LT(value_of("-.inf").as_double(), 0);
  EXPECT_TRUE(std::isnan(value_of(".nan").as_double()));
}

TEST(Yaml, BlocksAndFlows_AreReadInTheOrderOfKeys) {
  EXPECT_EQ(value_of("b: {x: [1, {y: 2}]}\na: |\n  one\n  two\n1: z\n"),
            Value::map({{"b", Value::map({{"x", Value::array({1, Value::map({{"y", 2}})})}})},
                        {"a", "one\ntwo\n"},
                        {"1", "z"}}));
  EXPECT_TRUE(value_of("").is_nil());
  EXPECT_TRUE(value_of("# only a comment\n").is_nil());
}

TEST(Yaml, EveryMember_HasItsLine) {
  auto parsed = parse_yaml("# c\na: 1\nb:\n  - x\n  - {k/l: 2}\n", "t.yaml");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->lines.at("/a"), 2);
  EXPECT_EQ(parsed->lines.at("/b"), 3);
  EXPECT_EQ(parsed->lines.at("/b/0"), 4);
  EXPECT_EQ(parsed->lines.at("/b/1/k~1l"), 5);
  EXPECT_EQ(parsed->to_value().find("lines")->find("/a")->as_int(), 2);
}

TEST(Yaml, TagsAndAnchors_AreRefused) {
  EXPECT_EQ(mistake_in("a: &x 1"),
            "t.yaml:1: anchors (&name) are not allowed; write the value out");
  EXPECT_EQ(mistake_in("a: 1\nb: *x"), "t.yaml:2: the referenced anchor is not defined");
  EXPECT_EQ(mistake_in("a: 1\nb: !!int 2"),
            "t.yaml:2: tag tag:yaml.org,2002:int is not allowed; use plain data");
  EXPECT_EQ(mistake_in("a: 1\n<<: {b: 2}"), "t.yaml:2: merge keys (<<) are not allowed");
  EXPECT_EQ(mistake_in("a: 1\nb: 2\na: 3"), "t.yaml:3: key 'a' occurs twice, first in line 1");
  EXPECT_EQ(mistake_in("? [1]\n: 2"), "t.yaml:1: expected a key of text, found an array");
  EXPECT_EQ(mistake_in("a: 1\n---\nb: 2\n"),
            "t.yaml:3: found a second document; expected one per file");
  EXPECT_EQ(mistake_in("a: 99999999999999999999"),
            "t.yaml:1: integer 99999999999999999999 does not fit into 64 bits");
  EXPECT_EQ(mistake_in("a: 1e999"), "t.yaml:1: number 1e999 is out of range");
  EXPECT_EQ(mistake_in("a: 1\nb: [1, 2\nc: 3\n").substr(0, 9), "t.yaml:3:");
}

TEST(Yaml, TabIndentation_IsReported) {
  const std::string named = "found a tab in the indentation; indent YAML with spaces";
  EXPECT_EQ(mistake_in("a:\n\tb: 1\n"), "t.yaml:2: " + named);
  EXPECT_EQ(mistake_in("a:\n  b: 1\n \tc: 2\n"), "t.yaml:3: " + named);
  EXPECT_EQ(value_of("a: 1\t\n").find("a")->as_int(), 1);
}

TEST(Yaml, BillionLaughs_IsRefusedAtTheFirstAnchor) {
  std::string bomb = "a: &a [x, x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    const char before = static_cast<char>(c - 1);
    bomb += std::string(1, c) + ": &" + c + " [*" + before + ", *" + before + "]\n";
  }
  EXPECT_EQ(mistake_in(bomb), "t.yaml:1: anchors (&name) are not allowed; write the value out");
}

TEST(Yaml, InvalidUtf8_IsRefused) {
  EXPECT_EQ(mistake_in(std::string("a: 1\nb: \0", 9)),
            "t.yaml:2: a byte that is not valid UTF-8 text");
  EXPECT_EQ(mistake_in("a: \xff"), "t.yaml:1: a byte that is not valid UTF-8 text");
  EXPECT_EQ(mistake_in("a: \xc3"), "t.yaml:1: a byte that is not valid UTF-8 text");
  EXPECT_EQ(value_of("a: \xc3\xa9").find("a")->as_string(), "\xc3\xa9");
}

TEST(Yaml, DocumentBeyondALimit_IsRefused) {
  EXPECT_EQ(mistake_in("a: [1, 2, 3]", {.values_max = 4}), "t.yaml:1: more than 4 values");
  EXPECT_EQ(mistake_in("[[[1]]]", {.depth_max = 2}), "t.yaml:1: nested deeper than 2");
  EXPECT_EQ(mistake_in("aaaa: bbbb", {.bytes_max = 4}), "t.yaml: 10 bytes; the limit is 4");
  EXPECT_EQ(mistake_in(std::string(40, '[') + std::string(40, ']')),
            "t.yaml:1: nested deeper than 32");
  EXPECT_EQ(mistake_in(std::string(100'000, '[')).substr(0, 9), "t.yaml:1:");
}

/// Found by fuzzing: yaml-cpp turns the escape of a no-break space into a byte that is no UTF-8.
TEST(Yaml, EscapeOfInvalidUtf8_IsRefused) {
  const auto document = parse_yaml("a: 1\nb: \"x\\_y\"\n", "t.yaml");
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().message, "t.yaml:2: an escape sequence that is not valid UTF-8");
  EXPECT_FALSE(parse_yaml("a: \xed\xa0\x80", "t.yaml")) << "half a surrogate is no text";
}

/// Found while fuzzing: 4 MiB of text made 500 GB of pointers.
TEST(Yaml, ManyValuesBelowALongKey_AreRefused) {
  std::string text = "? " + std::string(1u << 20, 'k') + "\n: [";
  for (int i = 0; i < 200'000; ++i) text += "1, ";
  const auto document = parse_yaml(text + "]\n", "t.yaml");
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().message, "t.yaml:2: too many values below long keys");
}

/// Found while fuzzing: every key was compared with every other. It took minutes; a test that does
/// not end in time says so.
TEST(Yaml, HundredThousandKeys_DuplicateIsFound) {
  std::string text;
  for (int i = 0; i < 130'000; ++i) text += "k" + std::to_string(i) + ": 1\n";
  ASSERT_TRUE(parse_yaml(text, "t.yaml"));
  const auto twice = parse_yaml(text + "k7: 2\n", "t.yaml");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "t.yaml:130001: key 'k7' occurs twice, first in line 8");
}

}  // namespace
}  // namespace hone
