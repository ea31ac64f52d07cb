// Journals that are cut off, changed, unreadable or not there.
#include <gmock/gmock.h>

#include "base/files.hpp"
#include "journal/journal_fixture.hpp"

namespace hone::test {
namespace {

using testing::HasSubstr;

class DamageTest : public JournalTest {
 protected:
  /// A small journal whose log has been folded into it.
  void make() {
    auto journal = opened();
    for (std::uint64_t id = 1; id <= 3; ++id) {
      ASSERT_TRUE(add(*journal, episode_record(id)));
      ASSERT_TRUE(add(*journal, turn_record(id, 1)));
    }
  }
};

/// Whatever is done to the file: either it is refused, or what is read of it is sound.
TEST_F(DamageTest, CutOffAtEveryPlace) {
  make();
  const std::string whole = *read_file(path_);
  std::size_t refused = 0;
  for (std::size_t length = 0; length < whole.size(); length += 97) {
    ASSERT_TRUE(write_file(path_, std::string_view(whole).substr(0, length)));
    const auto reader = JournalReader::open(path_);
    if (!reader) {
      ++refused;
      continue;
    }
    const auto wrong = (*reader)->check();
    EXPECT_TRUE(!wrong || !wrong->empty()) << "cut at " << length << " and called sound";
    ++refused;
  }
  EXPECT_GT(refused, 100u);
}

TEST_F(DamageTest, ABitThatFlipsInWhatIsStoredByHashIsFound) {
  make();
  std::string bytes = *read_file(path_);
  const std::size_t at = bytes.find("code 2/1");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'C';
  ASSERT_TRUE(write_file(path_, bytes));
  const auto wrong = (*JournalReader::open(path_))->check();
  ASSERT_TRUE(wrong) << wrong.error().message;
  EXPECT_THAT(*wrong,
              testing::ElementsAre("episode 0000000000000002, turn 1 is not what was stored",
                                   HasSubstr("blob")));
}

TEST_F(DamageTest, ADamagedPageIsRefusedOrSaid) {
  make();
  std::string bytes = *read_file(path_);
  for (std::size_t i = 4096; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  ASSERT_TRUE(write_file(path_, bytes));
  const auto journal = open();
  const auto wrong =
      journal ? (*journal)->reader().check() : Result<std::vector<std::string>>(journal.error());
  EXPECT_TRUE(!wrong || !wrong->empty());
}

TEST_F(DamageTest, AFileOfAnotherKindIsRefused) {
  ASSERT_TRUE(write_file(path_, std::string(8192, 'x')));
  const auto journal = open();
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message, HasSubstr("found a file of another kind"));
}

TEST_F(DamageTest, WhereThereIsNoneAReaderSaysSo) {
  const auto reader = JournalReader::open(path_);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, Code::kNotFound);
}

TEST_F(DamageTest, AFolderThatIsNoneIsAnError) {
  ASSERT_TRUE(write_file(folder_ / "file", "x"));
  path_ = folder_ / "file" / "journal.db";
  const auto journal = open();
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message, HasSubstr(path_.string()));
}

}  // namespace
}  // namespace hone::test
