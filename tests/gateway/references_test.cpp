// The folder of references: one file each, only accessible by its user.
#include "gateway/references.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/crypto.hpp"
#include "base/files.hpp"
#include "base/scratch_folder.hpp"

namespace hone {
namespace {

TEST(References, Reference_IsAFileNamedByItsHash) {
  const auto folder = ScratchFolder::make();
  ASSERT_TRUE(folder.ok());
  const auto references = References::open(folder->path());
  ASSERT_TRUE(references.ok()) << references.error().message;
  const auto id = (*references)->put("class A: pass", "A");
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(*(*references)->put("class A: pass", "A"), *id);
  EXPECT_NE(*(*references)->put("class A: pass", ""), *id);
  const auto text = read_file(folder->path() / (*id + ".json"));
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, R"({"source":"class A: pass","entry":"A"})");
  EXPECT_EQ(sha256_hex(*text), *id);
}

TEST(References, RefusedReference_IsRememberedWithoutAFile) {
  const auto folder = ScratchFolder::make();
  ASSERT_TRUE(folder.ok());
  const auto references = References::open(folder->path());
  ASSERT_TRUE(references.ok()) << references.error().message;
  const auto long_one = (*references)->put(std::string(4 << 20, '#'), "");
  ASSERT_FALSE(long_one.ok());
  EXPECT_NE(long_one.error().message.find("longer than 256 KB"), std::string::npos);
  const auto id = (*references)->put("class A(", "");
  ASSERT_TRUE(id.ok());
  (*references)->refuse(*id, invalid_argument("no task"));
  EXPECT_TRUE(std::filesystem::is_empty(folder->path()));
  EXPECT_EQ((*references)->put("class A(", "").error().message,
            "no task (known from an earlier request)");
  (*references)->refuse(*id, unavailable("too slow"));
  EXPECT_EQ((*references)->put("class A(", "").error().code, Code::kUnavailable);
  (*references)->refuse(*id, invalid_argument("no task"), 0);
  EXPECT_TRUE((*references)->put("class A(", "").ok());  // it may be asked again
}

TEST(References, ExistingFiles_AreKept) {
  const auto folder = ScratchFolder::make();
  ASSERT_TRUE(folder.ok());
  const auto id = (*References::open(folder->path()))->put("class A: pass", "");
  const auto later = References::open(folder->path());
  ASSERT_TRUE((*later)->put("class A: pass", "").ok());
  (*later)->refuse(*id, invalid_argument("torch is not there today"));
  EXPECT_FALSE(std::filesystem::is_empty(folder->path()));
}

TEST(References, FolderWritableByOthers_IsRefused) {
  const auto folder = ScratchFolder::make();
  ASSERT_TRUE(folder.ok());
  ASSERT_EQ(chmod(folder->path().c_str(), 0777), 0);
  const auto open = References::open(folder->path());
  ASSERT_FALSE(open.ok());
  EXPECT_NE(open.error().message.find("other users may write to it"), std::string::npos);
  EXPECT_EQ(References::open(folder->path() / "none").error().code, Code::kFailedPrecondition);
}

}  // namespace
}  // namespace hone
