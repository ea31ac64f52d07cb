// The backend under test and shared parts of the cases: builds in its language, a device with a buffer, and other
// processes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "hone/backend.h"
#include "model/value.hpp"
#include "plugin/backend.hpp"

namespace hone::test {

/// A plugin, as tests name it. What it can do is asked of its table, never told from its name.
struct Tested {
  std::string name;
  std::string architecture;  ///< that is built for
  std::string library;
};
inline std::ostream& operator<<(std::ostream& out, const Tested& one) {
  return out << one.name << " of " << one.library;
}

/// The processor's, CUDA's over the emulated driver and HIP's over the shim; or the one of
/// HONE_TESTED_BACKEND="NAME ARCHITECTURE /path/to/plugin.so". docs/backends.md has the other
/// variables.
std::vector<Tested> tested();
/// Whether HONE_TESTED_BACKEND names one, which may be over a real device.
bool named_by_environment();
inline std::string tested_name(const testing::TestParamInfo<Tested>& one) { return one.param.name; }

/// Loads it, or gives the one that is loaded. Throws where it cannot be.
const Backend& backend_of(const Tested& which);

/// How sources are written for a backend: the processor's way, the way of CUDA and HIP, or the one
/// of the file HONE_TESTED_PRELUDE.
struct Dialect {
  std::string language;  ///< the backend's first
  std::string prelude;   ///< KERNEL, EACH(i, n) and TRAP, in whole lines
  int lines = 0;         ///< of the prelude
  Value options;         ///< of builds, but architecture, seconds and version
};
const Dialect& dialect_of(const Tested& which);

/// The backend of the test that runs: tests of a program follow each other.
const Tested*& current();
inline const Backend& backend() { return backend_of(*current()); }
inline const hone_backend_factory& table() { return *backend().factory(); }

/// What a call left in its error, "" for success.
struct Said {
  std::int32_t code = HONE_OK;
  std::string words;
};
template <typename Call>
Said said(Call&& call) {
  hone_error error{};
  error.struct_size = sizeof error;
  const std::int32_t code = call(&error);
  return {code, code == HONE_OK ? "" : error.message};
}
#define HONE_SAID(call) \
  ::hone::test::said([&](hone_error* error) { return ::hone::test::table().call; })
#define HONE_OKAY(call)                                             \
  do {                                                              \
    const ::hone::test::Said okay_ = HONE_SAID(call);               \
    ASSERT_EQ(okay_.code, HONE_OK) << #call << ": " << okay_.words; \
  } while (false)

inline constexpr const char* kSourceName = "kernel";

/// A build of `text` alone, and of a case's source behind the prelude of its dialect.
Value request(const std::string& text, const std::vector<std::string>& entries,
              double seconds = 60);
Value request_of(const Tested& which, const std::string& text,
                 const std::vector<std::string>& entries, double seconds = 60);
inline std::string in_dialect(const std::string& text) {
  return dialect_of(*current()).prelude + text;
}

/// Builds in a folder of its own, as a builder does.
Result<Value> try_build(const Backend& with, const Value& asked);
Value built(const Value& asked);

inline std::string text_of(const Value& map, const char* key) {
  const Value* found = map.find(key);
  return found != nullptr && found->is_string() ? found->as_string() : "";
}
inline bool flag_of(const Value& map, const char* key) {
  const Value* found = map.find(key);
  return found != nullptr && *found == Value(true);
}

/// Bytes as a descriptor that can be loaded, which the caller closes.
int file_of(const std::string& bytes);

/// The bits of a scalar argument.
template <typename T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

class OnBackend : public testing::TestWithParam<Tested> {
 protected:
  void SetUp() override { current() = &GetParam(); }
};

/// A device, a buffer, and artifacts; all given back at the end.
class OnDevice : public OnBackend {
 protected:
  static constexpr std::uint64_t kBytes = 8 << 20;

  void SetUp() override;
  void TearDown() override;

  /// Builds `text` as it is and loads it; null, and a failure, where that fails.
  hone_artifact* load_plain(const std::string& text, const std::vector<std::string>& entries);
  /// The same of a case's source.
  hone_artifact* load(const std::string& text, const std::vector<std::string>& entries) {
    return load_plain(in_dialect(text), entries);
  }
  /// Takes the bytes of an artifact; null where they are refused.
  hone_artifact* load_bytes(const std::string& bytes, Said* got);
  void unload(hone_artifact* artifact);
  hone_kernel* kernel(hone_artifact* artifact, const char* entry,
                      const std::vector<std::uint32_t>& kinds);
  static Said get_kernel(hone_artifact* artifact, const char* entry,
                         const std::vector<std::uint32_t>& kinds);
  /// Borrows the values.
  static hone_launch shape(const std::vector<std::uint64_t>& values, unsigned grid = 1,
                           unsigned block = 32);
  Said launch(hone_kernel* kernel, const hone_launch& shape) {
    return HONE_SAID(launch(kernel, buffer_, &shape, error));
  }
  Said wait() { return HONE_SAID(wait(device_, error)); }
  template <typename T>
  std::vector<T> read(std::uint64_t at, std::size_t count, hone_buffer* from = nullptr) {
    std::vector<T> data(count);
    hone_buffer* const buffer = from != nullptr ? from : buffer_;
    const Said got = HONE_SAID(read_buffer(buffer, at, data.data(), count * sizeof(T), error));
    EXPECT_EQ(got.code, HONE_OK) << got.words;
    return data;
  }
  template <typename T>
  void write(std::uint64_t at, const std::vector<T>& data, hone_buffer* to = nullptr) {
    hone_buffer* const buffer = to != nullptr ? to : buffer_;
    const Said got =
        HONE_SAID(write_buffer(buffer, at, data.data(), data.size() * sizeof(T), error));
    EXPECT_EQ(got.code, HONE_OK) << got.words;
  }
  hone_buffer* another_buffer(std::uint64_t bytes = 4096);
  /// Facts of the device: its own limits, and whether it starts blocks of threads at all.
  Value facts() const;
  bool starts_blocks() const;
  std::int64_t limit(const char* name) const;

  hone_device* device_ = nullptr;
  hone_buffer* buffer_ = nullptr;
  bool host_code_ = false;  ///< what the last build said of its artifact
  std::vector<hone_artifact*> artifacts_;
  std::vector<hone_buffer*> buffers_;
};

}  // namespace hone::test
