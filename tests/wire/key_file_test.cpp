// Key files: what is read, what is refused and why, and that no message repeats what stood there.
#include "wire/key_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace hone::wire {
namespace {

constexpr const char* kPublic = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";
constexpr const char* kSecret = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs";

class KeyFile : public testing::Test {
 protected:
  KeyFile() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hone-key-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~KeyFile() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return (folder_ / "trainer.key").string(); }
  std::string with(const std::string& text, unsigned mode = 0600) {
    std::filesystem::remove(path());
    std::ofstream(path()) << text;
    ::chmod(path().c_str(), mode);
    const auto read = read_key_file(path());
    if (read) return "read";
    EXPECT_EQ(read.error().message.find(kSecret), std::string::npos);
    EXPECT_EQ(read.error().message.rfind("key file " + path(), 0), 0u) << read.error().message;
    return read.error().message.substr(9 + path().size());
  }

  std::filesystem::path folder_;
};

TEST_F(KeyFile, WrittenFile_IsReadableByItsOwnerOnly) {
  ASSERT_TRUE(write_key_file(path(), "a comment", {kPublic, kSecret, kPublic}).ok());
  const auto read = read_key_file(path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->public_key, kPublic);
  EXPECT_EQ(read->secret_key, kSecret);
  EXPECT_EQ(read->server_key, kPublic);
  struct stat info {};
  ASSERT_EQ(::stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777u, 0600u);
  EXPECT_EQ(write_key_file(path(), "again", {kPublic, kSecret}).error().message,
            "key file " + path() + " exists; remove it first, or choose another file");
}

TEST_F(KeyFile, ReadableByOthers_IsRefused) {
  const std::string text = std::string("public: ") + kPublic + "\nsecret: " + kSecret + "\n";
  EXPECT_EQ(with(text), "read");
  EXPECT_EQ(with(text, 0400), "read");
  for (const unsigned mode : {0604u, 0644u, 0444u, 0620u, 0660u, 0650u, 0602u, 0641u, 0777u}) {
    EXPECT_NE(with(text, mode).find("other users can read the secret"), std::string::npos) << mode;
  }
}

TEST_F(KeyFile, ReadableByAGroupOfThisProcess_IsRead) {
  const std::string text = std::string("public: ") + kPublic + "\nsecret: " + kSecret + "\n";
  EXPECT_EQ(with(text, 0440), "read");
  EXPECT_EQ(with(text, 0640), "read");
  struct stat info {};
  ASSERT_EQ(::stat(path().c_str(), &info), 0);
  info.st_gid = 4'000'000'000;  // a group without members
  const Status refused = check_secret_file("key file", info);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.rfind("key file: found mode 0640 of group 4000000000", 0), 0u);
}

TEST_F(KeyFile, WithAByteOrderMark_IsRead) {
  const std::string text = std::string("public: ") + kPublic + "\nsecret: " + kSecret + "\n";
  EXPECT_EQ(with("\xef\xbb\xbf" + text), "read");
  EXPECT_EQ(with("\xef\xbb\xbf# a comment\r\n" + text), "read");
  EXPECT_NE(with("\xff\xfep\0u\0b\0").find("found UTF-16 text, expected UTF-8"), std::string::npos);
}

TEST_F(KeyFile, Mistakes_NameTheLine) {
  const std::string pub = std::string("public: ") + kPublic + "\n";
  EXPECT_EQ(with("# nothing\n"), ": the line 'public: …' is missing");
  EXPECT_EQ(with(pub),
            ": the line 'secret: …' is missing; give the private key file, not the public one");
  EXPECT_EQ(with(pub + "secret: abc\n"),
            ":2: secret: found 3 characters, expected 40 Z85 characters");
  EXPECT_EQ(with(pub + "secret: " + std::string(40, '~') + "\n"),
            ":2: secret: found a character that is not Z85, expected 40 Z85 characters");
  EXPECT_EQ(with(pub + "secret: " + std::string(40, '#') + "\n"),
            ":2: secret: found a character that is not Z85, expected 40 Z85 characters");
  EXPECT_EQ(with("\n# x\n" + pub + pub), ":4: duplicate line 'public'");
  EXPECT_EQ(with(pub + kSecret + "\n"),
            ":2: expected a line 'public: …', 'secret: …' or 'server: …'");
  EXPECT_EQ(with(pub + "sekret: " + kSecret + "\n"),
            ":2: expected a line 'public: …', 'secret: …' or 'server: …'");
  EXPECT_EQ(with(std::string(5000, '#')), ": more than 4096 bytes, so it is not a key file");
  EXPECT_EQ(with(pub + "secret: " + kSecret + "\r\n"), "read");
}

TEST_F(KeyFile, MissingOrSpecialFile_IsRefused) {
  EXPECT_EQ(read_key_file(path()).error().message,
            "key file " + path() + ": no such file or directory");
  EXPECT_EQ(read_key_file(path()).error().code, Code::kNotFound);
  EXPECT_EQ(read_key_file(folder_.string()).error().message,
            "key file " + folder_.string() + ": not a regular file");
}

TEST_F(KeyFile, PublicKey_IsGivenAsFileOrText) {
  EXPECT_EQ(*read_public_key(kPublic), kPublic);
  ASSERT_TRUE(write_public_file(path(), "server", kPublic).ok());
  EXPECT_EQ(*read_public_key(path()), kPublic);
  ASSERT_TRUE(write_public_file(path(), "server", kSecret).ok());  // replaced
  EXPECT_EQ(*read_public_key(path()), kSecret);
  EXPECT_EQ(read_public_key("server.pub").error().message,
            "key file server.pub: no such file or directory");
}

TEST(Key, Key_IsFortyZ85Characters) {
  EXPECT_TRUE(is_key(kPublic));
  EXPECT_TRUE(is_key(std::string(40, '0')));
  EXPECT_FALSE(is_key(std::string(39, '0')));
  EXPECT_FALSE(is_key(std::string(41, '0')));
  EXPECT_FALSE(is_key(std::string(40, '#')));  // over 2^32 - 1
  EXPECT_FALSE(is_key(std::string(39, '0') + "\""));
}

}  // namespace
}  // namespace hone::wire
