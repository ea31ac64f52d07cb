// Results, files, hashes and names of core/base.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/code_number.hpp"
#include "base/crypto.hpp"
#include "base/files.hpp"
#include "base/memory.hpp"
#include "base/nearest.hpp"
#include "base/readable.hpp"
#include "base/result.hpp"
#include "base/run_delay.hpp"
#include "base/scratch_folder.hpp"

namespace hone {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0)
    return invalid_argument("found " + std::to_string(n) + ", expected an even number");
  return n / 2;
}

Result<int> quarter(int n) {
  HONE_ASSIGN(const int once, half(n));
  return half(once);
}

TEST(ErrorCodeOf, NumberThatIsNoError_IsInternal) {
  EXPECT_EQ(error_code_of(HONE_UNAVAILABLE), Code::kUnavailable);
  EXPECT_EQ(error_code_of(HONE_INTERNAL), Code::kInternal);
  for (const std::int64_t number : {std::int64_t{HONE_OK}, std::int64_t{-1},
                                    std::int64_t{HONE_INTERNAL} + 1, std::int64_t{1} << 32}) {
    EXPECT_EQ(error_code_of(number), Code::kInternal) << number;
  }
}

TEST(Result, Errors_ArePassedOn) {
  EXPECT_EQ(*quarter(8), 2);
  ASSERT_FALSE(quarter(6));
  EXPECT_EQ(quarter(6).error().message, "found 3, expected an even number");
  EXPECT_EQ(quarter(6).error().in("quarter").message, "quarter: found 3, expected an even number");
}

TEST(Result, Codes_HaveTheNamesOfTheProtocol) {
  EXPECT_EQ(code_name(Code::kFailedPrecondition), "failed_precondition");
  EXPECT_TRUE(is_retryable(Code::kUnavailable));
  EXPECT_FALSE(is_retryable(Code::kInvalidArgument));
}

TEST(Crypto, HashesAndRandomNumbers_AreCorrect) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(random_hex(16).size(), 32u);
  EXPECT_NE(random_u64(), random_u64());
  EXPECT_TRUE(equal_secrets("token", "token"));
  EXPECT_FALSE(equal_secrets("token", "tokem"));
  EXPECT_FALSE(equal_secrets("token", "token "));
}

class Files : public testing::Test {
 protected:
  Files() {
    std::string name = (std::filesystem::temp_directory_path() / "hone-files-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Files() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(Files, FailedWrite_KeepsTheOldFile) {
  ASSERT_TRUE(write_file(folder_ / "a", "one"));
  ASSERT_TRUE(write_file(folder_ / "a", "two"));
  EXPECT_EQ(*read_file(folder_ / "a"), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
  EXPECT_FALSE(write_file(folder_ / "none/a", "x"));
}

TEST_F(Files, ScratchFolder_IsRemovedWithItsOwner) {
  std::filesystem::path path;
  {
    auto made = ScratchFolder::make(folder_);
    ASSERT_TRUE(made) << made.error().message;
    path = made->path();
    EXPECT_EQ(path.parent_path(), folder_);
    EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_all);
    const ScratchFolder owner = std::move(*made);
    ASSERT_TRUE(write_file(owner.path() / "a", "one"));
    made = ScratchFolder();  // which owns nothing any more
    EXPECT_TRUE(std::filesystem::exists(path / "a"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(ScratchFolder::make(folder_ / "none"));
}

TEST_F(Files, Version_ReplacedOrChangedFile_Differs) {
  namespace fs = std::filesystem;
  const fs::path file = folder_ / "a file";
  EXPECT_EQ(file_version(file), "");
  ASSERT_TRUE(write_file(file, "one"));
  std::string before = file_version(file);
  EXPECT_EQ(before.find_first_not_of("0123456789."), std::string::npos) << before;
  EXPECT_EQ(file_version(file), before);
  const auto changed = [&] { return std::exchange(before, file_version(file)) != before; };
  fs::resize_file(file, 2);
  EXPECT_TRUE(changed()) << "another size";
  const fs::file_time_type written = fs::last_write_time(file);
  ASSERT_TRUE(write_file(folder_ / "b", "tw"));
  fs::last_write_time(folder_ / "b", written);
  fs::rename(folder_ / "b", file);
  EXPECT_TRUE(changed()) << "another file of the same size and time";
}

TEST_F(Files, SpecialOrTooLargeFile_IsRefused) {
  EXPECT_EQ(read_file(folder_ / "none").error().code, Code::kNotFound);
  EXPECT_EQ(read_file(folder_).error().message, folder_.string() + ": not a regular file");
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_file(folder_ / "pipe").error().message,
            (folder_ / "pipe").string() + ": not a regular file");
  ASSERT_TRUE(write_file(folder_ / "big", std::string(100, 'x')));
  EXPECT_EQ(read_file(folder_ / "big", 99).error().message,
            (folder_ / "big").string() + ": 100 bytes, at most 99 allowed");
}

TEST_F(Files, Text_WithAByteOrderMark_IsReadWithoutIt) {
  const std::filesystem::path file = folder_ / "text";
  const std::string mark = "\xef\xbb\xbf";
  for (const std::string text : {"", "x", "a: 1\r\n", "\xef\xbb", "a\xef\xbb\xbf"}) {
    ASSERT_TRUE(write_file(file, text));
    EXPECT_EQ(*read_text(file), text);
    ASSERT_TRUE(write_file(file, mark + text));
    EXPECT_EQ(*read_text(file), text);
    EXPECT_EQ(*read_file(file), mark + text);
  }
}

TEST_F(Files, Text_OfAnotherEncoding_IsRefusedByItsName) {
  using namespace std::string_literals;
  const std::filesystem::path file = folder_ / "text";
  for (const auto& [bytes, encoding] :
       std::vector<std::pair<std::string, std::string>>{{"\xff\xfe"s, "UTF-16"},
                                                        {"\xff\xfeh\0"s, "UTF-16"},
                                                        {"\xfe\xff\0h"s, "UTF-16"},
                                                        {"\xff\xfe\0\0h\0\0\0"s, "UTF-32"},
                                                        {"\0\0\xfe\xff\0\0\0h"s, "UTF-32"}}) {
    ASSERT_TRUE(write_file(file, bytes));
    const Error error = read_text(file).error();
    EXPECT_EQ(error.code, Code::kInvalidArgument);
    EXPECT_EQ(error.message.rfind(file.string() + ": found " + encoding + " text", 0), 0u)
        << error.message;
  }
}

TEST(MemoryFile, WriteAndTruncate_AreRefused) {
  auto fd = memory_file("test", "artifact");
  ASSERT_TRUE(fd);
  EXPECT_EQ(pwrite(fd->get(), "X", 1, 0), -1);
  EXPECT_EQ(ftruncate(fd->get(), 1), -1);
  char text[16] = {};
  EXPECT_EQ(pread(fd->get(), text, sizeof text, 0), 8);
  EXPECT_STREQ(text, "artifact");
}

TEST(MemoryFile, OfPieces_HasTheirBytesInOrder) {
  auto fd = memory_file("test", std::vector<std::string_view>{"arti", "", "fact"});
  ASSERT_TRUE(fd);
  EXPECT_EQ(pwrite(fd->get(), "X", 1, 0), -1);
  char text[16] = {};
  EXPECT_EQ(pread(fd->get(), text, sizeof text, 0), 8);
  EXPECT_STREQ(text, "artifact");
}

TEST(Readable, Numbers_AreGroupedAndBytesHaveUnits) {
  for (const auto& [number, text] :
       std::vector<std::pair<std::int64_t, std::string>>{{0, "0"},
                                                         {9999, "9999"},
                                                         {10'000, "10,000"},
                                                         {123'456, "123,456"},
                                                         {1'000'000, "1,000,000"},
                                                         {-1'000'000'000, "-1,000,000,000"},
                                                         {-9999, "-9999"}}) {
    EXPECT_EQ(grouped_number(number), text);
  }
  for (const auto& [bytes, text] :
       std::vector<std::pair<std::int64_t, std::string>>{{0, "0"},
                                                         {64, "64"},
                                                         {1000, "1000"},
                                                         {1024, "1 KiB"},
                                                         {64 << 20, "64 MiB"},
                                                         {(1 << 20) + 1, "1,048,577"},
                                                         {1LL << 50, "1 PiB"},
                                                         {8000LL << 50, "8000 PiB"}}) {
    EXPECT_EQ(readable_bytes(bytes), text);
  }
  for (const auto& [number, text] : std::vector<std::pair<double, std::string>>{
           {0.1, "0.1"}, {86400, "86,400"}, {-1e9, "-1,000,000,000"}, {1e300, "1e+300"}}) {
    EXPECT_EQ(readable_number(number), text);
  }
}

TEST(Nearest, Typo_IsFound) {
  const std::vector<std::string> names{"turn", "reward", "episode"};
  EXPECT_EQ(nearest("trun", names), "turn");
  EXPECT_EQ(nearest("banana", names), "");
  EXPECT_EQ(nearest("nope", {"top", "serve"}), "") << "a short name may have one edit";
  EXPECT_EQ(nearest("tpo", {"top", "serve"}), "top") << "exchanged letters are one edit";
  EXPECT_EQ(nearest("prometehsu", {"prometheus"}), "prometheus");
  EXPECT_EQ(unknown_name("key", "rewrad", names), "unknown key 'rewrad'; did you mean 'reward'?");
  EXPECT_EQ(unknown_name("key", "banana", names),
            "unknown key 'banana'; valid: turn, reward, episode");
}

TEST(ProcessMemory, FirstThreadGone_IsReadFromAnother) {
  constexpr std::size_t kBytes = 32u << 20;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    static int end = ready[1];
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          std::vector<char> block(kBytes, 'x');
          // Until the first thread has exited: then it is a zombie, whose memory map is empty.
          while (memory_of(::getpid(), false).resident != 0) ::sched_yield();
          (void)!::write(end, block.data(), 1);
          for (;;) ::pause();
        },
        nullptr);
    ::syscall(SYS_exit, 0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_GE(memory_of(child).resident, static_cast<std::int64_t>(kBytes));
  EXPECT_EQ(memory_of(child, false).resident, 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(memory_of(child).resident, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(RunDelay, OfThisThread_GrowsAtMostAsTimeDoes) {
  const RunDelay delay(static_cast<pid_t>(::syscall(SYS_gettid)));
  const double start = monotonic_s(), before = delay.seconds();
  while (monotonic_s() - start < 0.02) {
  }
  const double waited = delay.seconds() - before;
  EXPECT_GE(waited, 0);
  EXPECT_LE(waited, monotonic_s() - start);
  EXPECT_EQ(RunDelay().seconds(), 0);
}

}  // namespace
}  // namespace hone
