// Buffers: contents, copies, and refused calls that change nothing.
#include "backends/tested.hpp"

namespace hone::test {
namespace {

using Words = std::vector<std::uint32_t>;

Words counted(std::size_t count, std::uint32_t from = 1) {
  Words words(count);
  for (std::size_t i = 0; i < count; ++i) words[i] = from + static_cast<std::uint32_t>(i);
  return words;
}

class BackendBuffer : public OnDevice {};

TEST_P(BackendBuffer, NewBuffer_ContainsZeros) {
  EXPECT_EQ(read<char>(0, kBytes), std::vector<char>(kBytes, 0));
  // Also where memory was in use before.
  hone_buffer* used = nullptr;
  HONE_OKAY(create_buffer(device_, kBytes, &used, error));
  write(0, std::vector<char>(kBytes, 7), used);
  table().release_buffer(used);
  EXPECT_EQ(read<char>(0, kBytes, another_buffer(kBytes)), std::vector<char>(kBytes, 0));
}

TEST_P(BackendBuffer, WrittenBytes_AreReadBack) {
  for (const std::uint64_t size : {1u, 3u, 64u, 4097u, 100003u}) {
    for (const std::uint64_t at : {std::uint64_t{1}, std::uint64_t{4095}, kBytes - size - 1}) {
      write(at - 1, std::vector<char>(size + 2, 0x55));
      std::vector<char> data(size);
      for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<char>(i * 31 + 7);
      write(at, data);
      ASSERT_EQ(read<char>(at, size), data) << size << " bytes at " << at;
      ASSERT_EQ(read<char>(at - 1, 1), std::vector<char>{0x55});
      ASSERT_EQ(read<char>(at + size, 1), std::vector<char>{0x55});
    }
  }
}

TEST_P(BackendBuffer, TooLargeBuffer_IsRefused) {
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{1} << 60, ~std::uint64_t{4095}}) {
    hone_buffer* none = nullptr;
    const Said got = HONE_SAID(create_buffer(device_, bytes, &none, error));
    EXPECT_NE(got.code, HONE_OK) << bytes;
    EXPECT_NE(got.words, "") << bytes;
    EXPECT_EQ(none, nullptr) << bytes;
  }
  hone_buffer* small = another_buffer();
  write<int>(0, {5}, small);
  EXPECT_EQ(read<int>(0, 1, small), std::vector<int>{5});
}

TEST_P(BackendBuffer, AccessBeyondTheEnd_IsRefused) {
  write(kBytes - 4, Words{77});
  char bytes[128] = {};
  hone_buffer* other = another_buffer();
  const auto refused = [](const Said& got) {
    EXPECT_EQ(got.code, HONE_INVALID_ARGUMENT) << got.words;
    EXPECT_NE(got.words, "");
  };
  struct Stretch {
    std::uint64_t at, size;
  };
  for (const Stretch& one : {Stretch{kBytes, 1}, Stretch{kBytes - 1, 2}, Stretch{kBytes + 4096, 1},
                             Stretch{~0ull, 2}, Stretch{8, ~0ull - 4}}) {
    const std::uint64_t at = one.at, size = one.size;
    SCOPED_TRACE(std::to_string(size) + " bytes at " + std::to_string(at));
    refused(HONE_SAID(write_buffer(buffer_, at, bytes, size, error)));
    refused(HONE_SAID(read_buffer(buffer_, at, bytes, size, error)));
    refused(HONE_SAID(copy_buffer(buffer_, at, other, 0, size, error)));
    refused(HONE_SAID(copy_buffer(other, 0, buffer_, at, size, error)));
    refused(HONE_SAID(read_rows(buffer_, at, size, size, 1, bytes, error)));
  }
  refused(HONE_SAID(read_rows(buffer_, 0, kBytes, 128, 2, bytes, error)));
  refused(HONE_SAID(read_rows(buffer_, 0, ~0ull / 2, 1, 4, bytes, error)));
  refused(HONE_SAID(read_rows(buffer_, 0, 64, 128, 1, bytes, error)));  // rows that overlap
  EXPECT_EQ(wait().words, "");
  EXPECT_EQ(read<std::uint32_t>(kBytes - 4, 1), Words{77});
}

TEST_P(BackendBuffer, CopyWithinAndBetweenBuffers_MovesOnlyTheGivenBytes) {
  const Words data = counted(1 << 16);
  const std::uint64_t bytes = data.size() * 4;
  write(0, data);
  HONE_OKAY(copy_buffer(buffer_, 1 << 20, buffer_, 0, bytes, error));
  hone_buffer* other = another_buffer(1 << 20);
  HONE_OKAY(copy_buffer(other, 12, buffer_, 1 << 20, bytes, error));
  ASSERT_EQ(wait().words, "");
  EXPECT_EQ(read<std::uint32_t>(1 << 20, data.size()), data);
  EXPECT_EQ(read<std::uint32_t>(12, data.size(), other), data);
  EXPECT_EQ(read<std::uint32_t>((1 << 20) + bytes, 1), Words{0});
  EXPECT_EQ(read<std::uint32_t>(8, 1, other), Words{0});
}

TEST_P(BackendBuffer, OverlappingCopy_IsRefused) {
  write(0, counted(1024));
  for (const std::uint64_t to : {0u, 4u, 2048u, 4092u}) {
    EXPECT_EQ(HONE_SAID(copy_buffer(buffer_, to, buffer_, 0, 4096, error)).code,
              HONE_INVALID_ARGUMENT)
        << to;
    EXPECT_EQ(HONE_SAID(copy_buffer(buffer_, 0, buffer_, to, 4096, error)).code,
              HONE_INVALID_ARGUMENT)
        << to;
  }
  EXPECT_EQ(read<std::uint32_t>(0, 1024), counted(1024));
  HONE_OKAY(copy_buffer(buffer_, 4096, buffer_, 0, 4096, error));  // next to it
  EXPECT_EQ(read<std::uint32_t>(4096, 1024), counted(1024));
}

TEST_P(BackendBuffer, StridedRows_AreReadIntoContiguousMemory) {
  write(0, counted(1 << 18));
  void* pinned = nullptr;
  HONE_OKAY(pin_memory(device_, 1 << 16, &pinned, error));
  std::vector<char> plain(1 << 16);
  for (void* into : {pinned, static_cast<void*>(plain.data())}) {
    HONE_OKAY(read_rows(buffer_, 128, 4096, 128, 60, into, error));
    Words rows(60 * 32);
    std::memcpy(rows.data(), into, rows.size() * 4);
    for (std::uint32_t row = 0; row < 60; ++row) {
      for (std::uint32_t i = 0; i < 32; ++i) ASSERT_EQ(rows[row * 32 + i], 33 + row * 1024 + i);
    }
    // Odd ones, the last of which ends with the buffer's data, and rows without a gap.
    HONE_OKAY(read_rows(buffer_, 4, 20, 12, 3, into, error));
    std::memcpy(rows.data(), into, 36);
    rows.resize(9);
    EXPECT_EQ(rows, (Words{2, 3, 4, 7, 8, 9, 12, 13, 14}));
    HONE_OKAY(read_rows(buffer_, (1 << 20) - 4096, 1024, 1024, 4, into, error));
    rows.resize(1024);
    std::memcpy(rows.data(), into, 4096);
    EXPECT_EQ(rows, counted(1024, (1 << 18) - 1023));
  }
}

TEST_P(BackendBuffer, ExactBuffer_HasItsBytesAndCannotBeShared) {
  if (table().create_exact_buffer == nullptr)
    GTEST_SKIP() << "create_exact_buffer is null: the backend has no sanitizer";
  constexpr std::uint64_t kOdd = 1003;
  hone_buffer *one = nullptr, *other = nullptr;
  HONE_OKAY(create_exact_buffer(device_, kOdd, &one, error));
  HONE_OKAY(create_exact_buffer(device_, kOdd, &other, error));
  const std::uint64_t at = table().buffer_address(one), next = table().buffer_address(other);
  EXPECT_GE(at < next ? next - at : at - next, kOdd);
  EXPECT_EQ(read<char>(0, kOdd, one), std::vector<char>(kOdd, 0x5a)) << "no data of earlier owners";
  write(0, std::vector<char>(kOdd, 5), one);
  write(0, std::vector<char>(kOdd, 6), other);
  EXPECT_EQ(read<char>(0, kOdd, one), std::vector<char>(kOdd, 5));
  char byte = 7;
  EXPECT_EQ(HONE_SAID(write_buffer(one, kOdd, &byte, 1, error)).code, HONE_INVALID_ARGUMENT);
  std::int32_t fd = -1;
  EXPECT_EQ(HONE_SAID(export_buffer(one, &fd, error)).code, HONE_INVALID_ARGUMENT);
  hone_buffer* none = nullptr;
  EXPECT_NE(HONE_SAID(create_exact_buffer(device_, 0, &none, error)).code, HONE_OK);
  EXPECT_EQ(none, nullptr);
  table().release_buffer(one);
  table().release_buffer(other);
}

TEST_P(BackendBuffer, ZeroBytes_AreAccepted) {
  char byte = 9;
  HONE_OKAY(write_buffer(buffer_, kBytes, &byte, 0, error));
  HONE_OKAY(read_buffer(buffer_, kBytes, &byte, 0, error));
  HONE_OKAY(copy_buffer(buffer_, 0, buffer_, kBytes, 0, error));
  HONE_OKAY(copy_buffer(buffer_, 0, buffer_, 0, 0, error));
  HONE_OKAY(read_rows(buffer_, 0, 4096, 128, 0, &byte, error));
  HONE_OKAY(read_rows(buffer_, 0, 4096, 0, 3, &byte, error));
  EXPECT_EQ(byte, 9);
  EXPECT_EQ(wait().words, "");
}

TEST_P(BackendBuffer, EachBuffer_HasItsOwnAddress) {
  hone_buffer* other = another_buffer(kBytes);
  const std::uint64_t mine = table().buffer_address(buffer_);
  const std::uint64_t its = table().buffer_address(other);
  EXPECT_NE(mine, 0u);
  EXPECT_NE(its, 0u);
  EXPECT_GE(mine < its ? its - mine : mine - its, kBytes);
  EXPECT_EQ(mine % 4096, 0u);
  EXPECT_EQ(table().buffer_address(buffer_), mine);
}

TEST_P(BackendBuffer, HostMemory_IsMapped) {
  auto* mapped = static_cast<char*>(table().map_buffer(buffer_));
  if (mapped == nullptr) {
    // The device's alone, whichever buffer it is.
    EXPECT_EQ(table().map_buffer(another_buffer()), nullptr);
    return;
  }
  write<char>(4096, {1, 2, 3});
  EXPECT_EQ(std::vector<char>(mapped + 4096, mapped + 4099), (std::vector<char>{1, 2, 3}));
  mapped[kBytes - 1] = 42;
  EXPECT_EQ(read<char>(kBytes - 1, 1), std::vector<char>{42});
}

INSTANTIATE_TEST_SUITE_P(Backends, BackendBuffer, testing::ValuesIn(tested()), tested_name);

}  // namespace
}  // namespace hone::test
