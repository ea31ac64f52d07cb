// Choices: index, map and text name the same choice, and an error names the valid values.
#include "autotune/space.hpp"

#include <gtest/gtest.h>

namespace hone::autotune {
namespace {

TEST(Space, Indices_AndChoicesCorrespond) {
  ASSERT_EQ(space_size(), 648);
  for (std::int64_t i = 0; i < space_size(); ++i) {
    const Choice choice = *Choice::from_index(i);
    EXPECT_EQ(choice.index(), i);
    EXPECT_EQ(*Choice::from_value(choice.value()), choice);
    EXPECT_EQ(*Choice::from_text("Answer: ```json\n" + to_json(choice.value()) + "\n```"), choice);
  }
  EXPECT_EQ(Choice::from_index(-1).error().message, "index: found -1, expected 0 to 647");
  EXPECT_EQ(Choice::from_index(648).error().message, "index: found 648, expected 0 to 647");
}

TEST(Space, LastKnob_VariesFastest) {
  EXPECT_EQ(Choice::from_index(0)->text(),
            "tile_m=16 tile_n=16 tile_k=16 unroll=1 vector=1 layout=rows");
  EXPECT_EQ(Choice::from_index(1)->text(),
            "tile_m=16 tile_n=16 tile_k=16 unroll=1 vector=1 layout=packed");
  EXPECT_EQ(Choice::from_index(647)->text(),
            "tile_m=256 tile_n=256 tile_k=256 unroll=8 vector=16 layout=packed");
}

TEST(Space, InvalidChoice_ErrorNamesTheMistake) {
  Value value = Choice::from_index(5)->value();
  value.set("unroll", 3);
  EXPECT_EQ(Choice::from_value(value).error().message,
            "choice: unroll: found 3, expected one of 1, 4, 8");
  value.set("unroll", "4");
  EXPECT_EQ(Choice::from_value(value).error().message,
            "choice: unroll: found 4, expected one of 1, 4, 8");
  value.set("unroll", 4).set("depth", 1);
  EXPECT_NE(Choice::from_value(value).error().message.find("'depth'"), std::string::npos);
  EXPECT_NE(Choice::from_value(Value::map()).error().message.find("tile_m"), std::string::npos);
}

TEST(Space, TextWithoutAnObject_HasNoChoice) {
  for (const char* text : {"", "tile_m = 64", "} {", "{"}) {
    EXPECT_EQ(Choice::from_text(text).error().code, Code::kNotFound) << text;
  }
  EXPECT_EQ(Choice::from_text("{tile_m}").error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace hone::autotune
