// Facts that a backend reports about itself and about a device, and the release of devices.
#include <cmath>

#include "backends/tested.hpp"

namespace hone::test {
namespace {

class BackendFacts : public OnDevice {
 protected:
  /// What probe() says of the device must be what facts() says of it, once it is open.
  std::string probed_otherwise() const {
    const auto probed = backend().probe();
    if (!probed) return probed.error().message;
    for (const Value& one : probed->find("devices")->as_array()) {
      if (one.find("index") == nullptr || !(*one.find("index") == Value(0))) continue;
      for (const char* key : {"name", "architecture", "driver", "memory_bytes", "limits"}) {
        if (one.find(key) == nullptr || !(*one.find(key) == *facts().find(key))) return key;
      }
      return "";
    }
    return "no device 0";
  }
};

TEST_P(BackendFacts, Describe_IsDeterministic) {
  const auto said = backend().describe(Value::map());
  ASSERT_TRUE(said) << said.error().message;
  for (const char* key : {"summary", "fingerprint"}) EXPECT_NE(text_of(*said, key), "") << key;
  for (const Value& language : said->find("languages")->as_array()) {
    EXPECT_NE(language.as_string(), "");
  }
  const auto again = backend().describe(Value::map());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, *said);
}

TEST_P(BackendFacts, Facts_DescribeTheDevice) {
  const Value facts = this->facts();
  EXPECT_EQ(*facts.find("index"), Value(0));
  EXPECT_NE(text_of(facts, "name"), "");
  EXPECT_EQ(text_of(facts, "architecture"), current()->architecture);
  EXPECT_GT(facts.find("memory_bytes")->as_int(), std::int64_t{1} << 27);
  EXPECT_GT(facts.find("multiprocessors")->as_int(), 0);
  EXPECT_GT(facts.find("bytes_per_second_max")->as_double(), 1e9);
  const Value& limits = *facts.find("limits");
  for (const char* key : {"grid", "block"}) {
    ASSERT_NE(limits.find(key), nullptr) << key;
    ASSERT_EQ(limits.find(key)->as_array().size(), 3u) << key;
    for (const Value& side : limits.find(key)->as_array()) {
      EXPECT_EQ(side.as_int() > 0, starts_blocks()) << key;
    }
  }
  for (const char* key : {"block_threads", "shared_bytes", "cluster"}) {
    ASSERT_NE(limits.find(key), nullptr) << key;
    EXPECT_GE(limits.find(key)->as_int(), 0) << key;
  }
}

TEST_P(BackendFacts, OpenDevice_FactsStayTheSame) {
  Value before = facts();
  before.set("throttled", Value::array());
  another_buffer();
  Value after = facts();
  after.set("throttled", Value::array());
  EXPECT_EQ(after, before);
}

TEST_P(BackendFacts, Facts_EqualTheProbes) {
  // A probe is for a process of its own.
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        const std::string other = probed_otherwise();
        std::fprintf(stderr, "otherwise: '%s'\n", other.c_str());
        std::_Exit(other.empty() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "otherwise: ''");
}

TEST_P(BackendFacts, Facts_BelongToTheRequestedDevice) {
  // Cores of a processor may be any number of devices; else there is no such device.
  constexpr std::uint32_t kIndex = 999;
  hone_device* other = nullptr;
  const Said got = HONE_SAID(open_device(backend().host(), kIndex, &other, error));
  if (got.code != HONE_OK) {
    EXPECT_EQ(got.code, HONE_NOT_FOUND) << got.words;
    EXPECT_THAT(got.words, testing::HasSubstr("999"));
    EXPECT_EQ(other, nullptr);
    return;
  }
  const auto facts = backend().facts(other);
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(*facts->find("index"), Value(static_cast<int>(kIndex)));
  table().close_device(other);
}

TEST_P(BackendFacts, ReopenedDevice_HasTheSameFacts) {
  const Value before = facts();
  hone_device* second = nullptr;
  HONE_OKAY(open_device(backend().host(), 0, &second, error));
  hone_buffer* buffer = nullptr;
  HONE_OKAY(create_buffer(second, 4096, &buffer, error));
  table().release_buffer(buffer);
  table().close_device(second);
  // What the first has is not the second's to close.
  write<int>(0, {1, 2, 3});
  EXPECT_EQ(read<int>(0, 3), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(text_of(facts(), "name"), text_of(before, "name"));
}

TEST_P(BackendFacts, Release_AcceptsNull) {
  table().unload(nullptr);
  table().release_buffer(nullptr);
  table().close_device(nullptr);
  EXPECT_EQ(wait().words, "");
}

TEST_P(BackendFacts, Marks_AreInOrder) {
  ASSERT_EQ(table().mark == nullptr, table().between_marks == nullptr);
  if (table().mark == nullptr) GTEST_SKIP() << "mark is null: the device has no clock of its own";
  double seconds = -1;
  EXPECT_EQ(HONE_SAID(between_marks(device_, &seconds, error)).code, HONE_INVALID_ARGUMENT);
  EXPECT_EQ(HONE_SAID(mark(device_, 2, error)).code, HONE_INVALID_ARGUMENT);
  HONE_OKAY(mark(device_, 0, error));
  HONE_OKAY(copy_buffer(buffer_, kBytes / 2, buffer_, 0, kBytes / 2, error));
  HONE_OKAY(mark(device_, 1, error));
  ASSERT_EQ(wait().words, "");
  HONE_OKAY(between_marks(device_, &seconds, error));
  EXPECT_GE(seconds, 0);
  EXPECT_LT(seconds, 60);
}

TEST_P(BackendFacts, NewBuffer_LowersFreeMemory) {
  if (table().free_memory == nullptr)
    GTEST_SKIP() << "free_memory is null: the device has no memory of its own";
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 28;
  std::uint64_t before = 0, after = 0;
  HONE_OKAY(free_memory(device_, &before, error));
  hone_buffer* buffer = nullptr;
  HONE_OKAY(create_buffer(device_, kLarge, &buffer, error));
  HONE_OKAY(free_memory(device_, &after, error));
  table().release_buffer(buffer);
  EXPECT_LE(after + kLarge / 2, before);
  EXPECT_LE(before, static_cast<std::uint64_t>(facts().find("memory_bytes")->as_int()));
}

INSTANTIATE_TEST_SUITE_P(Backends, BackendFacts, testing::ValuesIn(tested()), tested_name);

}  // namespace
}  // namespace hone::test
