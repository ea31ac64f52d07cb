// MessagePack and JSON: round trips, and the reasons for which untrusted input is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "model/value.hpp"
#include "model/verdict.hpp"

namespace hone {
namespace {

std::string refusal(std::string_view bytes, CodecLimits limits = {}) {
  auto value = from_msgpack(bytes, limits);
  return value ? "accepted" : value.error().message;
}

TEST(MessagePack, Value_RoundTrips) {
  const Value value = Value::map({{"nil", nullptr},
                                  {"bool", true},
                                  {"small", 7},
                                  {"large", std::numeric_limits<std::int64_t>::max()},
                                  {"negative", std::numeric_limits<std::int64_t>::min()},
                                  {"float", 0.1},
                                  {"text", "häß\0lich"},
                                  {"bytes", Value::bytes(std::string("\0\xff", 2))},
                                  {"list", Value::array({1, "two", Value::map()})}});
  auto back = from_msgpack(to_msgpack(value));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, value);
}

TEST(MessagePack, WholeFloat_StaysAFloat) {
  EXPECT_EQ(to_msgpack(Value(1.0)), std::string("\xcb\x3f\xf0\0\0\0\0\0\0", 9));
  for (const double whole : {0.0, -0.0, 1.0, -3.0, 60.0, 1e15, 1e300}) {
    auto back = from_msgpack(to_msgpack(Value(whole)));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->type_name(), "float") << whole;
    EXPECT_EQ(*back, Value(whole));
    EXPECT_EQ(std::signbit(back->as_double()), std::signbit(whole));
  }
  EXPECT_EQ(to_msgpack(Value(1)), "\x01");
}

TEST(MessagePack, SmallInputWithHugeLengths_IsRefused) {
  // Five bytes that announce 2^28 elements; msgpack-c alone would allocate gigabytes.
  EXPECT_EQ(refusal(std::string("\xdd\x10\x00\x00\x00", 5)),
            "messagepack: array of 268435456 items, at most 65536 allowed");
  EXPECT_EQ(refusal(std::string(40, '\x91') + "\xc0"), "messagepack: nested deeper than 32");
  CodecLimits few;
  few.values_max = 100;
  EXPECT_EQ(refusal(to_msgpack(Value(Value::Array(200))), few),
            "messagepack: more than 100 values");
  EXPECT_EQ(refusal(std::string("\xdb\x7f\xff\xff\xff", 5)), "messagepack: cut off at byte 5");
}

TEST(MessagePack, IntegerOutOfRange_ErrorNamesTheField) {
  // {"options": {"a": 1, "seed": 2**63}}
  const std::string bytes =
      std::string("\x81\xa7options\x82\xa1") + "a\x01\xa4" + "seed\xcf\x80" + std::string(7, '\0');
  EXPECT_EQ(refusal(bytes), "messagepack: options/seed: integer beyond int64: 9223372036854775808");
}

TEST(MessagePack, UnsupportedTypes_AreRefused) {
  EXPECT_EQ(refusal(std::string("\xd4\x01\x02", 3)), "messagepack: an extension type");
  EXPECT_EQ(refusal(std::string("\x81\x01\x02", 3)),
            "messagepack: map key: expected a string, found int");
  EXPECT_EQ(refusal(std::string("\x82\xa1k\x01\xa1k\x02", 7)), "messagepack: duplicate key 'k'");
  EXPECT_EQ(refusal(std::string("\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 9)),
            "messagepack: integer beyond int64: 18446744073709551615");
  EXPECT_EQ(refusal(std::string("\x01\x02", 2)), "messagepack: 1 bytes after the value");
  EXPECT_EQ(refusal(""), "messagepack: cut off at byte 0");
}

TEST(MessagePack, LargeMaps_HaveEachKeyOnce) {
  Value map = Value::map();
  for (int i = 0; i < 100; ++i) map.as_map().emplace_back("k" + std::to_string(i % 99), i);
  EXPECT_EQ(refusal(to_msgpack(map)), "messagepack: a key twice");
}

TEST(MessagePack, RandomBytes_NeverCrash) {
  std::mt19937 random(20261121);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(random() % 64, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    static_cast<void>(from_msgpack(bytes).ok());
  }
}

TEST(Json, Value_RoundTripsWithinTheLimits) {
  const Value value = Value::map({{"a", Value::array({1, 2.5, "x", nullptr, true})}});
  EXPECT_EQ(to_json(value), R"({"a":[1,2.5,"x",null,true]})");
  EXPECT_EQ(*from_json(to_json(value)), value);
  EXPECT_EQ(to_json(Value(std::nan(""))), "null");
  EXPECT_EQ(to_json(Value::bytes("hone")), R"({"$bytes":"aG9uZQ=="})");
  EXPECT_FALSE(from_json("{"));
  EXPECT_EQ(*from_json(R"(["[{,\"\\"])"), Value::array({"[{,\"\\"}));
  EXPECT_EQ(from_json(std::string(100'000, '[')).error().message, "json: nested deeper than 32");
  std::string list = "[1";
  for (int i = 0; i < 65536; ++i) list += ",1";
  EXPECT_EQ(from_json(list + "]").error().message, "json: a list of more than 65536 items");
  EXPECT_EQ(from_json("[[1,1],[1,1]]", {.values_max = 6}).error().message,
            "json: more than 6 values");
}

TEST(Json, NumberOutOfRange_ErrorNamesTheField) {
  const auto said = [](const char* text) { return from_json(text).error().message; };
  EXPECT_EQ(said(R"({"task": "a", "seed": 9223372036854775808})"),
            "json: seed: integer beyond int64: '9223372036854775808'");
  EXPECT_EQ(said(R"({"options": {"turns": [1, -9223372036854775809]}})"),
            "json: options/turns: integer beyond int64: '-9223372036854775809'");
  EXPECT_TRUE(
      said(R"({"options": {"stop_speedup": 1e999}})").starts_with("json: options/stop_speedup: "));
  EXPECT_EQ(said(R"([{"a": 1}, 9223372036854775808])"),
            "json: integer beyond int64: '9223372036854775808'");
}

TEST(Json, HalfOfASurrogatePair_BecomesAReplacementCharacter) {
  const auto read = [](const std::string& text) {
    return from_json("\"" + text + "\"")->as_string();
  };
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(read(R"(a\ud83db)"), "a" + bad + "b");
  EXPECT_EQ(read(R"(\uDE00\uD83D)"), bad + bad);
  EXPECT_EQ(read(R"(\ud83d\ud83d\ude00)"), bad + "\xf0\x9f\x98\x80");
  EXPECT_EQ(read(R"(\ud83d\n)"), bad + "\n");
  EXPECT_EQ(read(R"(\\ud83d)"), R"(\ud83d)");
  EXPECT_EQ(read(R"(\u00e9)"), "\xc3\xa9");
  for (const char* text : {R"(["\ud83"])", R"(["\ud8zz"])", R"(["\u"])", R"([\ud83d])"})
    EXPECT_FALSE(from_json(text)) << text;
}

/// Found by fuzzing: they became floats, and so other numbers.
TEST(Json, IntegerOutOfRange_IsRefused) {
  EXPECT_EQ(*from_json("9223372036854775807"), Value(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(*from_json("-9223372036854775808"), Value(std::numeric_limits<std::int64_t>::min()));
  for (const char* text : {"9223372036854775808", "18446744073709551616", "-9223372036854775809"}) {
    EXPECT_EQ(from_json("[" + std::string(text) + "]").error().message,
              "json: integer beyond int64: '" + std::string(text) + "'");
  }
  EXPECT_EQ(*from_json("1e30"), Value(1e30));
  EXPECT_EQ(*from_json("18446744073709551616.0"), Value(18446744073709551616.0));
  const auto long_one = from_json(std::string(100'000, '9'));
  ASSERT_FALSE(long_one);
  EXPECT_LT(long_one.error().message.size(), 300u) << "a refusal repeated megabytes";
}

/// Found by fuzzing: an object with that number of keys took seconds in both directions.
TEST(Json, ManyKeys_TakeLinearTime) {
  std::string text = "{";
  for (int i = 0; i < 65536; ++i) {
    text += (i == 0 ? "\"" : ",\"") + std::string(32, 'k') + std::to_string(i) + "\":0";
  }
  text += "}";
  for (int times = 0; times < 5; ++times) {
    const auto value = from_json(text);
    ASSERT_TRUE(value) << value.error().message;
    ASSERT_EQ(value->as_map().size(), 65536u);
    EXPECT_EQ(to_json(*value), text);
  }
}

TEST(Json, DuplicateKey_IsRefused) {
  EXPECT_EQ(from_json(R"({"a":1,"b":{"c":1,"d":2,"c":3}})").error().message,
            "json: duplicate key 'c'");
  EXPECT_TRUE(from_json(R"({"a":{"a":1},"b":[{"a":1},{"a":2}]})"));
  const std::string key(100'000, 'k');
  const auto twice = from_json("{\"" + key + "\":1,\"" + key + "\":2}");
  ASSERT_FALSE(twice);
  EXPECT_LT(twice.error().message.size(), 200u);
}

TEST(Verdict, Value_RoundTrips) {
  Verdict verdict;
  verdict.outcome = Outcome::kWrong;
  verdict.reason = "output y is wrong";
  verdict.mismatch = Mismatch{"y", "n=3", "normal", {1, 2}, 1.5, std::nullopt, 1e-6, 3, 9, 1};
  verdict.speedup = Speedup{1.5, 1.4, 1.6, 10, 15, 7, 4, {"noisy"}, 21.5};
  verdict.stage_ms["build"] = 12.5;
  verdict.caught = "second_look";
  verdict.second_look = "disagreed";
  verdict.findings = {"A call takes 10 µs.", "The loop at line 3 is not vectorized."};
  verdict.configurations = {{"matmul", "n: 4", "BLOCK: 64, num_warps: 4", 2, 5}};
  auto back = verdict_from_value(verdict_to_value(verdict));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(verdict_to_value(*back), verdict_to_value(verdict));
  EXPECT_EQ(back->findings, verdict.findings);
  ASSERT_EQ(back->configurations.size(), 1u);
  EXPECT_EQ(back->configurations[0].parameters, "BLOCK: 64, num_warps: 4");
  EXPECT_EQ(back->configurations[0].number, 2);
  EXPECT_EQ(verdict_from_value(Value::map({{"outcome", "great"}})).error().message,
            "no outcome is called 'great'");
}

/// Found by fuzzing: a refusal repeated a key of megabytes.
TEST(MessagePack, LongDuplicateKey_IsShortenedInTheError) {
  const std::string key = "\xdb" + std::string("\x00\x01\x00\x00", 4) + std::string(65536, 'k');
  const auto value = from_msgpack("\x82" + key + "\x01" + key + "\x02");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().message.substr(0, 28), "messagepack: duplicate key '");
  EXPECT_LT(value.error().message.size(), 200u);
}

}  // namespace
}  // namespace hone
