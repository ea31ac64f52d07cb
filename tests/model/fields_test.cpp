// Strict reading of maps: every mistake names its place, what was found and what is allowed.
#include "model/fields.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone {
namespace {

TEST(Fields, Members_AreRead) {
  const Value map = Value::map({{"turn", 2}, {"name", "x"}, {"share", 0.5}, {"on", true}});
  Fields f(map, "step");
  EXPECT_EQ(f.integer("turn", 0, 10), 2);
  EXPECT_EQ(f.text("name"), "x");
  EXPECT_EQ(f.number("share", 0, 1), 0.5);
  EXPECT_TRUE(f.flag("on"));
  EXPECT_EQ(f.integer_or("absent", 7, 0, 10), 7);
  EXPECT_TRUE(f.finish());
}

TEST(Fields, InvalidMap_ErrorNamesTheFieldAndTheMistake) {
  const Value map = Value::map({{"turn", 20}, {"name", 1}, {"kind", "sun"}, {"trun", 1}});
  const auto first = [&](auto read) {
    Fields f(map, "step");
    read(f);
    return f.finish().error().message;
  };
  EXPECT_EQ(first([](Fields& f) { f.integer("turn", 0, 10); }),
            "step: turn: found 20, expected 0 to 10");
  EXPECT_EQ(first([](Fields& f) { f.text("name"); }), "step: name: expected text, found int");
  EXPECT_EQ(first([](Fields& f) {
              f.choice("kind", {"sum", "forward"});
            }),
            "step: kind: unknown value 'sun'; did you mean 'sum'?");
  const Value bare = Value::map();
  Fields none(bare, "step");
  none.flag("off");
  EXPECT_EQ(none.finish().error().message, "step: off: missing");
  EXPECT_EQ(first([](Fields& f) {
              f.integer("turn", 0, 100);
              f.value("name");
              f.value("kind");
            }),
            "step: unknown key 'trun'; did you mean 'turn'?");
  EXPECT_EQ(Fields(Value(3), "step").finish().error().message, "step: expected a map, found int");
}

TEST(Fields, NumberThatIsNotFinite_IsRefusedWithItsName) {
  constexpr double kMost = std::numeric_limits<double>::max();
  const auto said = [](double number, double low, double high) {
    const Value map = Value::map({{"stop_speedup", number}});
    Fields f(map, "options");
    f.number("stop_speedup", low, high);
    return f.finish().error().message;
  };
  EXPECT_EQ(said(std::nan(""), 0, kMost),
            "options: stop_speedup: found nan, expected a finite number of at least 0");
  EXPECT_EQ(said(std::numeric_limits<double>::infinity(), -kMost, kMost),
            "options: stop_speedup: found inf, expected a finite number");
  EXPECT_EQ(said(1e300, 0, 2.5), "options: stop_speedup: found 1e+300, expected 0 to 2.5");
  EXPECT_EQ(said(1e-9, 0.5, 2), "options: stop_speedup: found 1e-09, expected 0.5 to 2");
}

TEST(Fields, UnknownKey_IsReportedBeforeAMissingMember) {
  const Value map = Value::map({{"trun", 1}, {"name", 3}});
  Fields misspelt(map, "step");
  misspelt.integer("turn", 0, 10);
  misspelt.value("name");
  EXPECT_EQ(misspelt.finish().error().message, "step: unknown key 'trun'; did you mean 'turn'?");
  Fields wrong(map, "step");
  wrong.text("name");
  wrong.integer("turn", 0, 10);
  EXPECT_EQ(wrong.finish().error().message, "step: name: expected text, found int");
}

TEST(Fields, PlaceFunction_NamesFileAndLine) {
  const Value map = Value::map({{"limits", Value::map({{"threads", "two"}})}});
  Fields f(map, "task",
           [](std::string_view pointer) { return "task.yaml:" + std::to_string(pointer.size()); });
  Fields inner = f.inside("limits", *f.map("limits"));
  inner.integer("threads", 1, 8);
  EXPECT_EQ(inner.finish().error().message,
            "task.yaml:15: threads: expected an integer, found string");
}

}  // namespace
}  // namespace hone
