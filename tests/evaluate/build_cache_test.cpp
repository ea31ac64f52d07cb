// Tests of the build cache: its size limit, the order in which it drops entries, and its counters.
#include "evaluate/build_cache.hpp"

#include <gtest/gtest.h>

#include "hone/recorded_plan_writer.hpp"
#include "recorded_plan/sample.hpp"

namespace hone {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::shared_ptr<const Built> built_of(std::size_t bytes) {
  auto built = std::make_shared<Built>();
  built->ok = true;
  built->artifact = std::string(bytes, 'a');
  return built;
}

std::int64_t stat(const BuildCache& cache, const char* name) {
  const Value stats = cache.stats();
  return stats.find(name)->as_int();
}

TEST(BuildCache, HitsAndMisses_AreCounted) {
  BuildCache cache(kMiB);
  const auto built = built_of(1);
  EXPECT_EQ(cache.find("a"), nullptr);
  cache.keep("a", built);
  EXPECT_EQ(cache.find("a"), built);
  EXPECT_EQ(cache.find("a"), built);
  EXPECT_EQ(stat(cache, "hits"), 2);
  EXPECT_EQ(stat(cache, "misses"), 1);
  EXPECT_EQ(stat(cache, "entries"), 1);
}

TEST(BuildCache, OverItsLimit_DropsTheLeastRecentlyUsedEntry) {
  BuildCache cache(3 * kMiB);
  cache.keep("a", built_of(kMiB));
  cache.keep("b", built_of(kMiB));
  EXPECT_NE(cache.find("a"), nullptr);
  cache.keep("c", built_of(kMiB));
  EXPECT_EQ(cache.find("b"), nullptr);
  EXPECT_NE(cache.find("a"), nullptr);
  EXPECT_NE(cache.find("c"), nullptr);
  EXPECT_LE(stat(cache, "bytes"), std::int64_t{3} << 20);
}

TEST(BuildCache, EntryLargerThanTheLimit_StaysUntilTheNext) {
  BuildCache cache(kMiB);
  cache.keep("large", built_of(2 * kMiB));
  EXPECT_NE(cache.find("large"), nullptr);
  cache.keep("next", built_of(1));
  EXPECT_EQ(cache.find("large"), nullptr);
  EXPECT_NE(cache.find("next"), nullptr);
  EXPECT_LT(stat(cache, "bytes"), 8192);
}

/// An entry with a plan whose image has 1 MiB. `step` makes plans with one image differ.
std::shared_ptr<const Built> recorded_with(SharedPieces& images, char image, char step) {
  recorded::Plan plan = test::sample_plan();
  plan.images.push_back({std::string(kMiB, image), "libtorch_cuda.so"});
  plan.setup = {{0, recorded::Write{{2, 0}, std::string(8, step), {}}}};
  auto recorded = std::make_shared<RecordedPlan>();
  recorded->bytes = images.share(recorded::write_plan(plan));
  auto built = std::make_shared<Built>();
  built->ok = true;
  built->plan = std::move(recorded);
  return built;
}

TEST(BuildCache, ImageOfTwoPlans_CountsOnce) {
  SharedPieces images;
  BuildCache cache(100 * kMiB);
  cache.keep("a", recorded_with(images, 'i', 'a'));
  const std::int64_t one = stat(cache, "bytes");
  EXPECT_GT(one, std::int64_t{1} << 20);
  cache.keep("b", recorded_with(images, 'i', 'b'));
  EXPECT_LT(stat(cache, "bytes") - one, 16384);
  cache.keep("c", recorded_with(images, 'j', 'a'));
  EXPECT_GT(stat(cache, "bytes") - one, std::int64_t{1} << 20);
}

TEST(BuildCache, ImageOfADroppedPlan_CountsWhileAnotherPlanHasIt) {
  SharedPieces images;
  BuildCache cache(2 * kMiB + kMiB / 2);
  cache.keep("a", recorded_with(images, 'i', 'a'));
  cache.keep("b", recorded_with(images, 'i', 'b'));
  cache.keep("c", recorded_with(images, 'j', 'c'));
  EXPECT_EQ(stat(cache, "entries"), 3);
  cache.keep("d", built_of(kMiB / 2));  // drops "a", whose image "b" still has, and then "b"
  EXPECT_EQ(cache.find("a"), nullptr);
  EXPECT_EQ(cache.find("b"), nullptr);
  EXPECT_NE(cache.find("c"), nullptr);
  EXPECT_EQ(images.count(), 1u);
  EXPECT_LT(stat(cache, "bytes"), 3 * std::int64_t{kMiB} / 2 + 32768);
}

TEST(BuildCache, SameKeyTwice_KeepsAndCountsTheFirst) {
  BuildCache cache(kMiB);
  const auto first = built_of(1);
  cache.keep("a", first);
  const std::int64_t bytes = stat(cache, "bytes");
  cache.keep("a", built_of(1));
  EXPECT_EQ(cache.find("a"), first);
  EXPECT_EQ(stat(cache, "bytes"), bytes);
}

}  // namespace
}  // namespace hone
