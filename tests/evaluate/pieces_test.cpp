// Recorded plans in pieces: which pieces plans share, and that the bytes stay the same.
#include "evaluate/pieces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "hone/recorded_plan_reader.hpp"
#include "hone/recorded_plan_writer.hpp"
#include "recorded_plan/sample.hpp"

namespace hone {
namespace {

std::string large_image(char first) {
  std::string image(kSharedPieceBytesMin, 'i');
  image[0] = first;
  return image;
}

/// The sample plan with these images behind its own small one.
std::string plan_with(const std::vector<std::string>& images) {
  recorded::Plan plan = test::sample_plan();
  for (const std::string& image : images) plan.images.push_back({image, "libtorch_cuda.so"});
  return recorded::write_plan(plan);
}

TEST(SharedPieces, LargeImage_IsAPieceAndTheBytesAreTheSame) {
  const std::string file = plan_with({large_image('a'), large_image('b')});
  SharedPieces images;
  const Pieces pieces = images.share(file);
  EXPECT_EQ(pieces.joined(), file);
  EXPECT_EQ(pieces.size(), file.size());
  ASSERT_EQ(pieces.all().size(), 5u);
  EXPECT_EQ(*pieces.all()[1], large_image('a'));
  EXPECT_EQ(*pieces.all()[3], large_image('b'));
  std::string of_views;
  for (const std::string_view view : pieces.views()) of_views += view;
  EXPECT_EQ(of_views, file);
  EXPECT_EQ(recorded::read_plan(pieces.joined()).images.size(), 3u);
}

TEST(SharedPieces, TwoPlansWithOneImage_ShareItsBytes) {
  SharedPieces images;
  const Pieces first = images.share(plan_with({large_image('a'), large_image('b')}));
  const Pieces second = images.share(plan_with({large_image('b')}));
  EXPECT_EQ(second.all()[1], first.all()[3]);
  EXPECT_EQ(images.count(), 2u);
}

TEST(SharedPieces, Image_GoesWithItsLastPlan) {
  SharedPieces images;
  Pieces first = images.share(plan_with({large_image('a')}));
  Pieces second = images.share(plan_with({large_image('a')}));
  first = Pieces();
  EXPECT_EQ(images.count(), 1u);
  second = Pieces();
  EXPECT_EQ(images.count(), 0u);
}

/// Eight bytes that, in place of `block`, change only the highest bit of the hash's state. Inverts how std::hash of
/// libstdc++ mixes a block.
std::uint64_t with_highest_bit_changed(std::uint64_t block) {
  constexpr std::uint64_t kFactor = 0xc6a4a7935bd1e995;
  std::uint64_t inverse = kFactor;
  for (int step = 0; step < 6; ++step) inverse *= 2 - kFactor * inverse;
  const auto mix = [](std::uint64_t value) { return value ^ value >> 47; };
  const std::uint64_t data = (mix(block * kFactor) * kFactor) ^ std::uint64_t{1} << 63;
  return mix(data * inverse) * inverse;
}

/// Different images with one hash: a change of a block is undone by the same change of the next one.
std::string colliding_image(unsigned number) {
  std::string image = large_image('c');
  std::uint64_t block = 0;
  std::memcpy(&block, image.data() + 8, sizeof block);
  const std::uint64_t changed = with_highest_bit_changed(block);
  for (std::size_t bit = 0; bit < 12; ++bit) {
    if ((number >> bit & 1) == 0) continue;
    for (const std::size_t from_end : {2 * bit + 1, 2 * bit + 2})
      std::memcpy(image.data() + image.size() - 8 * from_end, &changed, sizeof changed);
  }
  return image;
}

/// A submission can make many such images, and to compare each with all others would take minutes.
TEST(SharedPieces, ImagesWithOneHash_AreSharedUpToALimit) {
  constexpr unsigned kCount = 40;
  if (std::hash<std::string>()(colliding_image(1)) != std::hash<std::string>()(colliding_image(2)))
    GTEST_SKIP() << "another standard library";
  std::vector<std::string> all;
  for (unsigned i = 0; i < kCount; ++i) all.push_back(colliding_image(i));
  SharedPieces images;
  const std::string file = plan_with(all);
  const Pieces first = images.share(file), second = images.share(file);
  EXPECT_TRUE(first.joined() == file);
  EXPECT_TRUE(second.joined() == file);
  EXPECT_EQ(images.count(), kSharedPiecesOfAHash);
  EXPECT_TRUE(second.all()[1] == first.all()[1]);
  EXPECT_FALSE(second.all()[2 * kCount - 1] == first.all()[2 * kCount - 1]);
  const Pieces other = images.share(plan_with({large_image('o')}));
  EXPECT_TRUE(images.share(plan_with({large_image('o')})).all()[1] == other.all()[1]);
}

TEST(SharedPieces, SmallImages_StayInOnePiece) {
  SharedPieces images;
  const std::string small(kSharedPieceBytesMin - 1, 's');
  EXPECT_EQ(images.share(plan_with({small})).all().size(), 1u);
  EXPECT_EQ(images.count(), 0u);
}

/// Each kind of MessagePack item, as any writer may have chosen it, before a binary value that must be found behind it.
TEST(SharedPieces, BinaryBehindEachKindOfItem_IsFound) {
  const auto zeros = [](std::size_t count) { return std::string(count, '\0'); };
  const std::vector<std::string> items = {
      "\x7f",
      "\xe0",
      "\x81",
      "\x91",
      "\xa3"
      "abc",
      "\xc0",
      "\xc2",
      "\xc3",
      "\xc4\x03"
      "abc",
      std::string("\xc5\x00\x03"
                  "abc",
                  6),
      std::string("\xc6\x00\x00\x00\x03"
                  "abc",
                  8),
      "\xca" + zeros(4),
      "\xcb" + zeros(8),
      "\xcc" + zeros(1),
      "\xcd" + zeros(2),
      "\xce" + zeros(4),
      "\xcf" + zeros(8),
      "\xd0" + zeros(1),
      "\xd1" + zeros(2),
      "\xd2" + zeros(4),
      "\xd3" + zeros(8),
      "\xd9\x03"
      "abc",
      std::string("\xda\x00\x03"
                  "abc",
                  6),
      std::string("\xdb\x00\x00\x00\x03"
                  "abc",
                  8),
      "\xdc" + zeros(2),
      "\xdd" + zeros(4),
      "\xde" + zeros(2),
      "\xdf" + zeros(4),
  };
  const std::string image = large_image('a');
  std::string binary;
  plugin::Packer(binary).bytes(image);
  for (const std::string& item : items) {
    SharedPieces images;
    const std::string file = std::string(recorded::kMagic) + item + binary;
    const Pieces pieces = images.share(file);
    EXPECT_EQ(pieces.joined(), file);
    ASSERT_EQ(pieces.all().size(), 2u) << "tag " << int{static_cast<std::uint8_t>(item[0])};
    EXPECT_EQ(*pieces.all()[1], image);
  }
}

/// Bytes that cannot be read as items are neither changed nor lost.
TEST(SharedPieces, BytesThatAreNoPlan_StayTheSame) {
  SharedPieces images;
  const std::string file = plan_with({large_image('a')});
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, recorded::kMagic.size(),
                                 recorded::kMagic.size() + 1, file.size() / 2, file.size() - 1}) {
    EXPECT_EQ(images.share(file.substr(0, size)).joined(), file.substr(0, size)) << size;
  }
  for (int tag = 0; tag < 256; ++tag) {
    const std::string odd = std::string(recorded::kMagic) + static_cast<char>(tag) + "\xff\xff";
    EXPECT_EQ(images.share(odd).joined(), odd) << tag;
  }
}

}  // namespace
}  // namespace hone
