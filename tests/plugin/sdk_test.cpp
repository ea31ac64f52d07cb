// The header-only layer for plugin authors: it encodes like the host, and its errors name the found and expected
// value.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <stdexcept>

#include "hone/plugin.hpp"
#include "model/value.hpp"

namespace hone {
namespace {

namespace sdk = hone::plugin;

std::string failure(const std::function<void()>& fn) {
  try {
    fn();
  } catch (const sdk::Failure& failure) {
    return failure.what();
  }
  return "no failure";
}

Value random_value(std::mt19937_64& random, int depth) {
  switch (random() % (depth > 4 ? 6 : 8)) {
    case 0:
      return Value();
    case 1:
      return Value(random() % 2 == 0);
    case 2:
      return Value(static_cast<std::int64_t>(random() >> (random() % 64)));
    case 3:
      return Value(-static_cast<std::int64_t>(random() >> (1 + random() % 63)));
    case 4:
      return Value(static_cast<double>(random()) / 3.0);
    case 5:
      return Value(std::string(random() % 300, 'x'));
    case 6: {
      Value list = Value::array();
      for (std::uint64_t i = random() % 20; i > 0; --i) list.push(random_value(random, depth + 1));
      return list;
    }
    default: {
      Value map = Value::map();
      for (std::uint64_t i = random() % 20; i > 0; --i) {
        map.set("k" + std::to_string(i), random_value(random, depth + 1));
      }
      return map;
    }
  }
}

TEST(SdkMessagePack, Encoding_EqualsTheHosts) {
  const std::uint64_t seed = std::random_device()();
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200; ++i) {
    const std::string bytes = to_msgpack(random_value(random, 0));
    ASSERT_EQ(sdk::to_msgpack(sdk::from_msgpack(std::string_view(bytes))), bytes)
        << "seed " << seed;
  }
}

TEST(SdkMessagePack, ExtremeValues_RoundTrip) {
  for (const std::int64_t v :
       {std::int64_t{-33}, std::int64_t{-32}, std::int64_t{127}, std::int64_t{128},
        std::int64_t{-129}, std::int64_t{65536}, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(sdk::to_msgpack(sdk::Value(v)), to_msgpack(Value(v))) << v;
    EXPECT_EQ(sdk::from_msgpack(std::string_view(to_msgpack(Value(v)))).as_int(), v);
  }
  for (const std::size_t size : {31u, 32u, 255u, 256u, 65535u, 65536u}) {
    const std::string text(size, 'a');
    EXPECT_EQ(sdk::to_msgpack(sdk::Value(text)), to_msgpack(Value(text))) << size;
    EXPECT_EQ(sdk::to_msgpack(sdk::Value::bytes(text)), to_msgpack(Value::bytes(text))) << size;
  }
}

TEST(SdkMessagePack, TrailingBytes_AreRefused) {
  const auto why = [](std::string_view bytes) {
    return failure([&] { sdk::from_msgpack(bytes); });
  };
  EXPECT_EQ(why(""), "messagepack: cut off at byte 0");
  EXPECT_EQ(why("\xc1"), "messagepack: broken at byte 0");
  EXPECT_EQ(why("\x01\x02"), "messagepack: 1 bytes after the value");
  EXPECT_EQ(why("\xdd\xff\xff\xff\xff"), "messagepack: cut off at byte 5");
  EXPECT_EQ(why("\xdf\x7f\xff\xff\xff\xa1x"), "messagepack: cut off at byte 7");
  EXPECT_EQ(why("\x81\x01\x02"), "messagepack: map key: expected a string, found int");
  EXPECT_EQ(why("\x82\xa1"
                "a\x01\xa1"
                "a\x02"),
            "messagepack: duplicate key 'a'");
  EXPECT_EQ(why("\xd4\x01\x02"), "messagepack: an extension type at byte 0");
  EXPECT_EQ(why("\xcf\xff\xff\xff\xff\xff\xff\xff\xff"), "messagepack: an integer beyond int64");
  EXPECT_EQ(why(std::string(64, '\x91')), "messagepack: nested deeper than 32");
}

TEST(SdkFailure, NoException_PassesAGuard) {
  hone_error error{sizeof(hone_error), 0, {}};
  EXPECT_EQ(sdk::guard(&error, [] { sdk::fail(HONE_NOT_FOUND, "no such thing"); }), HONE_NOT_FOUND);
  EXPECT_STREQ(error.message, "no such thing");
  EXPECT_EQ(error.code, HONE_NOT_FOUND);
  EXPECT_EQ(sdk::guard(&error, [] { throw std::bad_alloc(); }), HONE_RESOURCE_EXHAUSTED);
  EXPECT_EQ(sdk::guard(&error, [] { throw std::logic_error("a bug"); }), HONE_INTERNAL);
  EXPECT_STREQ(error.message, "a bug");
  EXPECT_EQ(sdk::guard(&error, [] { throw 7; }), HONE_INTERNAL);
  EXPECT_EQ(sdk::guard(nullptr, [] { throw 7; }), HONE_INTERNAL);
  EXPECT_EQ(sdk::guard(&error, [] {}), HONE_OK);
}

TEST(SdkFailure, LongMessage_IsCutBetweenCharacters) {
  hone_error error{sizeof(hone_error), 0, {}};
  std::string text(502, 'a');
  sdk::set_error(&error, HONE_INTERNAL, text + "\xc3\xa9");
  EXPECT_EQ(std::string(error.message), text);
  hone_error small{8 + 4, 0, {}};
  small.message[4] = 'z';
  sdk::set_error(&small, HONE_INTERNAL, "abcdef");
  EXPECT_STREQ(small.message, "abc");
  EXPECT_EQ(small.message[4], 'z');
}

TEST(SdkReader, Mistake_NamesPlaceFoundAndExpected) {
  const sdk::Value map = sdk::Value::map({{"count", "three"}, {"kind", "som"}, {"ratio", 3}});
  sdk::Reader reader(map, "request");
  EXPECT_EQ(failure([&] { reader.integer("count", 0, 9); }),
            "request: count: expected an integer, found string");
  EXPECT_EQ(failure([&] {
              reader.choice("kind", {"sum", "forward"});
            }),
            "request: kind: unknown value 'som'; did you mean 'sum'?");
  EXPECT_EQ(failure([&] { reader.number("ratio", 0, 1); }),
            "request: ratio: expected 0 to 1, found 3");
  EXPECT_EQ(failure([&] { reader.text("name"); }), "request: name: missing");
  EXPECT_EQ(reader.integer_or("absent", 4, 0, 9), 4);
  EXPECT_EQ(failure([&] { sdk::Reader(map, "request").finish(); }),
            "request: unknown key 'count'; valid: none");
}

TEST(SdkReader, MistakeInADocument_ErrorNamesTheLine) {
  const sdk::Document document{
      "task.yaml",
      sdk::Value::map({{"limits", sdk::Value::map({{"threads", 0}, {"memroy", 1}})}}),
      {{"", 1}, {"/limits", 4}, {"/limits/threads", 5}, {"/limits/memroy", 6}}};
  sdk::Reader reader(document);
  sdk::Reader limits = reader.inside("limits");
  EXPECT_EQ(failure([&] { limits.integer("threads", 1, 8); }),
            "task.yaml:5: threads: expected 1 to 8, found 0");
  EXPECT_EQ(limits.integer_or("memory", 64, 1, 100), 64);
  EXPECT_EQ(failure([&] { limits.finish(); }),
            "task.yaml:6: unknown key 'memroy'; did you mean 'memory'?");
  const auto swap = sdk::Value::map({{"swap", 1}});
  sdk::Reader other(swap, "request");
  for (int i = 0; i < 2; ++i) other.integer_or("threads", 1, 1, 8);
  EXPECT_EQ(failure([&] { other.finish(); }), "request: unknown key 'swap'; valid: threads");
  EXPECT_EQ(failure([&] { limits.text("reason"); }), "task.yaml:4: reason: missing");
}

TEST(SdkConfig, Config_IsCheckedAgainstItsParameters) {
  const sdk::Parameters parameters{sdk::number_parameter("gamma", 0.4, 0, 1, ""),
                                   sdk::integer_parameter("turns", 3, 1, 9, ""),
                                   sdk::choice_parameter("kind", "sum", {"sum", "forward"}, ""),
                                   sdk::text_parameter("path", nullptr, "")};
  const auto config = [&](const sdk::Value& map) { return sdk::Config(map, parameters); };
  const sdk::Config defaults = config(sdk::Value::map({{"path", "x"}}));
  EXPECT_EQ(defaults.number("gamma"), 0.4);
  EXPECT_EQ(defaults.integer("turns"), 3);
  EXPECT_EQ(defaults.text("kind"), "sum");
  EXPECT_EQ(failure([&] { config(sdk::Value::map()); }), "config: path: missing");
  EXPECT_EQ(failure([&] {
              config(sdk::Value::map({{"path", "x"}, {"turns", 2.5}}));
            }),
            "config: turns: expected an integer, found float");
  EXPECT_EQ(failure([&] {
              config(sdk::Value::map({{"path", "x"}, {"turns", 10}}));
            }),
            "config: turns: expected 1 to 9, found 10");
  EXPECT_EQ(failure([&] { config(sdk::Value::array()); }), "config: expected a map, found array");
}

}  // namespace
}  // namespace hone
