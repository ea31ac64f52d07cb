// Messages with descriptors, and shared regions that the other process can neither write nor resize.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "base/files.hpp"
#include "channel/control.hpp"
#include "channel/stream.hpp"

namespace hone {
namespace {

constexpr double kSoon = 5;

TEST(Stream, LargeMessage_ArrivesWithItsDescriptors) {
  auto ends = stream_pair();
  ASSERT_TRUE(ends);
  auto file = memory_file("test", "inside");
  ASSERT_TRUE(file);
  const std::string large(3 << 20, 'x');
  std::thread sender(
      [&] { EXPECT_TRUE(send_message(ends->first.get(), large, {file->get()}, kSoon)); });
  auto message = receive_message(ends->second.get(), 4 << 20, kSoon);
  sender.join();
  ASSERT_TRUE(message) << message.error().message;
  EXPECT_EQ(message->bytes, large);
  ASSERT_EQ(message->fds.size(), 1u);
  char text[8] = {};
  EXPECT_EQ(pread(message->fds[0].get(), text, sizeof text, 0), 6);
  EXPECT_STREQ(text, "inside");
}

TEST(Stream, TooLargeBrokenOrLateMessage_IsRefused) {
  auto ends = stream_pair();
  ASSERT_TRUE(ends);
  ASSERT_TRUE(send_message(ends->first.get(), "twelve bytes", {}, kSoon));
  EXPECT_EQ(receive_message(ends->second.get(), 11, kSoon).error().message,
            "message: 12 bytes, at most 11 allowed");
  auto others = stream_pair();
  ASSERT_TRUE(others);
  EXPECT_EQ(receive_message(others->second.get(), 100, 0.01).error().code, Code::kDeadlineExceeded);
  ASSERT_EQ(send(others->first.get(), "sixteen bytes!!!", 16, 0), 16);
  EXPECT_EQ(receive_message(others->second.get(), 100, kSoon).error().message,
            "message: broken prefix");
  others->first.reset();
  EXPECT_EQ(receive_message(others->second.get(), 100, kSoon).error().message,
            "message: the other side has closed");
}

TEST(Region, OtherProcess_CannotResizeOrWriteIt) {
  auto fd = shared_region("test", kOrdersBytes);
  ASSERT_TRUE(fd);
  auto own = map_region(fd->get(), kOrdersBytes, true);
  ASSERT_TRUE(own);
  ASSERT_TRUE(forbid_further_writers(fd->get()));
  EXPECT_EQ(ftruncate(fd->get(), 1), -1);
  EXPECT_FALSE(map_region(fd->get(), kOrdersBytes, true));
  EXPECT_EQ(pwrite(fd->get(), "x", 1, 0), -1);
  auto other = map_region(fd->get(), kOrdersBytes, false);
  ASSERT_TRUE(other);
  EXPECT_EQ(mprotect(*other, kOrdersBytes, PROT_READ | PROT_WRITE), -1);
  std::memcpy(*own, "order", 6);
  EXPECT_STREQ(static_cast<const char*>(*other), "order");
  munmap(*own, kOrdersBytes);
  munmap(*other, kOrdersBytes);
}

TEST(Futex, Wake_EndsTheWaitOfAnotherThread) {
  std::atomic<std::uint32_t> word{0};
  std::thread waker([&] {
    word = 1;
    futex_wake(word);
  });
  while (word == 0) futex_wait(word, 0, 0.1);
  waker.join();
  EXPECT_EQ(word.load(), 1u);
}

}  // namespace
}  // namespace hone
