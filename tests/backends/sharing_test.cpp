// Arenas: memory that processes share by descriptor, and pages that are inaccessible to one process.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "backends/tested.hpp"

namespace hone::test {
namespace {

constexpr char kGiven[] = "HONE_TESTED_ARENA";  // the descriptor, for another process

class BackendSharing : public OnDevice {
 protected:
  int exported() {
    std::int32_t fd = -1;
    const Said got = HONE_SAID(export_buffer(buffer_, &fd, error));
    EXPECT_EQ(got.code, HONE_OK) << got.words;
    return fd;
  }
  hone_buffer* imported(int fd, std::uint64_t bytes = kBytes) {
    hone_buffer* buffer = nullptr;
    const Said got = HONE_SAID(import_buffer(device_, fd, bytes, &buffer, error));
    EXPECT_EQ(got.code, HONE_OK) << got.words;
    if (buffer != nullptr) buffers_.push_back(buffer);
    return buffer;
  }
  void expect_no_import(int fd, std::uint64_t bytes) {
    hone_buffer* none = nullptr;
    const Said got = HONE_SAID(import_buffer(device_, fd, bytes, &none, error));
    EXPECT_NE(got.code, HONE_OK) << fd;
    EXPECT_EQ(none, nullptr);
    if (none != nullptr) buffers_.push_back(none);
  }
  /// The other process' part: what the first wrote is there, and its answer is left. Exits with 0.
  [[noreturn]] void answer() {
    const char* given = std::getenv(kGiven);
    hone_buffer* arena = imported(std::atoi(given != nullptr ? given : "-1"));
    const bool seen = arena != nullptr && read<int>(4096, 3, arena) == std::vector<int>{1, 2, 3};
    if (seen) write<int>(kBytes - 12, {4, 5, 6}, arena);
    std::_Exit(seen && !HasFailure() ? 0 : 1);
  }
};

TEST_P(BackendSharing, ImportedDescriptor_IsTheSameMemory) {
  const int fd = exported();
  EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  hone_buffer* other = imported(fd);
  ASSERT_NE(other, nullptr);
  close(fd);  // borrowed
  write<int>(4096, {1, 2, 3}, other);
  EXPECT_EQ(read<int>(4096, 3), (std::vector<int>{1, 2, 3}));
  write<int>(kBytes - 4, {9});
  EXPECT_EQ(read<int>(kBytes - 4, 1, other), std::vector<int>{9});
  EXPECT_NE(table().buffer_address(other), table().buffer_address(buffer_));
}

TEST_P(BackendSharing, ExportedBuffer_IsSharedWithAnotherProcess) {
  write<int>(4096, {1, 2, 3});
  const int fd = exported();
  const int given = fcntl(fd, F_DUPFD, 100);  // which a started process keeps
  close(fd);
  setenv(kGiven, std::to_string(given).c_str(), 0);  // the other process has it already
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(answer(), testing::ExitedWithCode(0), "");
  unsetenv(kGiven);
  close(given);
  EXPECT_EQ(read<int>(kBytes - 12, 3), (std::vector<int>{4, 5, 6}));
}

TEST_P(BackendSharing, SharedMemory_OutlivesItsFirstBuffer) {
  write<int>(0, {7, 8, 9});
  const int fd = exported();
  hone_buffer* other = imported(fd);
  ASSERT_NE(other, nullptr);
  table().release_buffer(buffer_);
  buffer_ = nullptr;
  EXPECT_EQ(read<int>(0, 3, other), (std::vector<int>{7, 8, 9}));
  hone_buffer* third = imported(fd);
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(read<int>(0, 3, third), (std::vector<int>{7, 8, 9}));
  close(fd);
}

TEST_P(BackendSharing, Resize_IsRefused) {
  write<int>(kBytes - 4, {3});
  const int fd = exported();
  EXPECT_NE(ftruncate(fd, 4096), 0);
  EXPECT_NE(ftruncate(fd, 2 * kBytes), 0);
  EXPECT_EQ(read<int>(kBytes - 4, 1), std::vector<int>{3});
  close(fd);
}

TEST_P(BackendSharing, ImportBeyondTheSize_IsRefused) {
  const int fd = exported();
  expect_no_import(fd, 4 * kBytes);
  hone_buffer* whole = imported(fd);
  close(fd);
  EXPECT_NE(whole, nullptr);
}

TEST_P(BackendSharing, OtherDescriptor_IsRefused) {
  const int null_device = open("/dev/null", O_RDWR | O_CLOEXEC);
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  for (const int fd : {-1, null_device, ends[0]}) expect_no_import(fd, kBytes);
  for (const int fd : {null_device, ends[0], ends[1]}) close(fd);
  write<int>(0, {1});
  EXPECT_EQ(read<int>(0, 1), std::vector<int>{1});
}

TEST_P(BackendSharing, GuardPages_AreInaccessible) {
  if (table().guard_buffer == nullptr) GTEST_SKIP() << "guard_buffer is null: no page is closed";
  EXPECT_EQ(HONE_SAID(guard_buffer(buffer_, kBytes, 4096, 1, error)).code, HONE_INVALID_ARGUMENT);
  write<char>(4095, {1, 2});
  const int fd = exported();
  hone_buffer* other = imported(fd);
  ASSERT_NE(other, nullptr);
  close(fd);
  HONE_OKAY(guard_buffer(buffer_, 4096, 4096, 1, error));
  auto* at = static_cast<volatile char*>(table().map_buffer(buffer_));
  if (at != nullptr) {
    EXPECT_EQ(at[4095], 1);
    EXPECT_DEATH(at[4096] = 3, "");
    EXPECT_DEATH(at[8191] = 3, "");
    at[8192] = 5;
  }
  // This mapping alone is closed; the memory is as it was.
  EXPECT_EQ(read<char>(4096, 1, other), std::vector<char>{2});
  HONE_OKAY(guard_buffer(buffer_, 4096, 4096, 0, error));
  EXPECT_EQ(read<char>(4095, 2), (std::vector<char>{1, 2}));
}

INSTANTIATE_TEST_SUITE_P(Backends, BackendSharing, testing::ValuesIn(tested()), tested_name);

}  // namespace
}  // namespace hone::test
