// What tests of the gpu plugins share: the plugin over the emulated driver, builds, and memory of a
// device.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "hone/backend.h"
#include "model/value.hpp"
#include "plugin/backend.hpp"

namespace hone::test {

/// A plugin under test: the shipped source, compiled with other names of libraries; or, where the
/// environment names one, a plugin over a real device.
struct Vendor {
  std::string name;  ///< and its language
  std::string library;
  std::string compiler;
  std::string architecture;  ///< that a test builds for
  bool real = false;
  std::string compiler_path = {};  ///< of another than the backend finds by itself
};

/// The emulated ones, or the one of HONE_TESTED_BACKEND="hip gfx942 /path/hip.so" and perhaps
/// HONE_TESTED_COMPILER="/usr/bin/clang++-19" (scripts/hip-validate).
inline std::vector<Vendor> vendors() {
  const char* real = std::getenv("HONE_TESTED_BACKEND");
  if (real == nullptr) {
    return {{"cuda", HONE_EMULATED_BACKENDS "/backend_cuda_emulated.so", "NVRTC", "sm_90a"},
            {"hip", HONE_EMULATED_BACKENDS "/backend_hip_emulated.so", "hiprtc", "gfx900"}};
  }
  Vendor vendor;
  std::istringstream words(real);
  words >> vendor.name >> vendor.architecture >> std::ws;
  std::getline(words, vendor.library);
  vendor.compiler = vendor.name == "hip" ? "hiprtc" : "NVRTC";
  vendor.real = true;
  const char* compiler = std::getenv("HONE_TESTED_COMPILER");
  vendor.compiler_path = compiler != nullptr ? compiler : "";
  return {vendor};
}

/// The one of the test that runs: tests of a program follow each other.
inline const Vendor*& vendor() {
  static const Vendor* current = nullptr;
  return current;
}
inline const Backend& backend() {
  static std::map<std::string, std::unique_ptr<Backend>> loaded;
  std::unique_ptr<Backend>& mine = loaded[vendor()->name];
  if (mine == nullptr) {
    auto backend = Backend::load(vendor()->library);
    if (!backend) throw std::runtime_error(backend.error().message);
    mine = std::move(backend).value();
  }
  return *mine;
}
inline const hone_backend_factory& table() { return *backend().factory(); }

inline std::string source_name() { return vendor()->name == "hip" ? "kernel.hip" : "kernel.cu"; }

class OnVendor : public testing::TestWithParam<Vendor> {
 protected:
  void SetUp() override { vendor() = &GetParam(); }
};
inline std::string vendor_name(const testing::TestParamInfo<Vendor>& one) { return one.param.name; }

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
#define HONE_OKAY(call)                                                                    \
  do {                                                                                     \
    const ::hone::test::Said okay_ =                                                       \
        ::hone::test::said([&](hone_error* error) { return ::hone::test::table().call; }); \
    ASSERT_EQ(okay_.code, HONE_OK) << #call << ": " << okay_.words;                        \
  } while (false)

inline Value request(const std::string& text, const std::vector<std::string>& entries,
                     double seconds = 60) {
  Value names = Value::array();
  for (const std::string& entry : entries) names.push(entry);
  Value options = Value::map({{"architecture", vendor()->architecture}, {"seconds", seconds}});
  if (!vendor()->compiler_path.empty()) options.set("compiler", vendor()->compiler_path);
  return Value::map(
      {{"sources", Value::array({Value::map({{"name", source_name()}, {"text", text}})})},
       {"language", vendor()->name},
       {"entries", std::move(names)},
       {"options", std::move(options)}});
}

inline Value built(const Value& asked) {
  auto result = backend().build(asked);
  if (!result) {
    ADD_FAILURE() << result.error().message;
    return Value::map();
  }
  return std::move(result).value();
}

inline std::string text_of(const Value& map, const char* key) {
  const Value* found = map.find(key);
  return found != nullptr && found->is_string() ? found->as_string() : "";
}

/// The artifact as a descriptor, which the caller closes.
inline int artifact_fd(const Value& result) {
  const std::string& bytes = result.find("artifact")->as_bytes();
  const int fd = memfd_create("artifact", MFD_CLOEXEC);
  EXPECT_EQ(write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  return fd;
}

/// A device, a buffer, and an artifact of one source; all given back at the end.
class OnDevice : public OnVendor {
 protected:
  static constexpr std::uint64_t kBytes = 8 << 20;

  void SetUp() override {
    OnVendor::SetUp();
    HONE_OKAY(open_device(backend().host(), 0, &device_, error));
    HONE_OKAY(create_buffer(device_, kBytes, &buffer_, error));
  }
  void TearDown() override {
    for (hone_artifact* artifact : artifacts_) table().unload(artifact);
    table().release_buffer(buffer_);
    table().close_device(device_);
  }

  void load(const std::string& text, const std::vector<std::string>& entries) {
    const Value result = built(request(text, entries));
    ASSERT_EQ(text_of(result, "diagnostics"), "");
    const int fd = artifact_fd(result);
    hone_artifact* artifact = nullptr;
    HONE_OKAY(load(device_, fd, &artifact, error));
    close(fd);
    artifacts_.push_back(artifact);
  }
  hone_kernel* kernel(const char* entry, const std::vector<std::uint32_t>& kinds) {
    hone_kernel* found = nullptr;
    const Said got = said([&](hone_error* error) {
      return table().get_kernel(artifacts_.back(), entry, kinds.data(),
                                static_cast<std::uint32_t>(kinds.size()), &found, error);
    });
    EXPECT_EQ(got.code, HONE_OK) << got.words;
    return found;
  }
  /// Borrows the values.
  static hone_launch shape(const std::vector<std::uint64_t>& values, unsigned grid = 1,
                           unsigned block = 32) {
    hone_launch launch{};
    launch.struct_size = sizeof launch;
    launch.count = static_cast<std::uint32_t>(values.size());
    launch.values = values.data();
    for (int i = 0; i < 3; ++i) launch.grid[i] = launch.block[i] = 1;
    launch.grid[0] = grid;
    launch.block[0] = block;
    return launch;
  }
  Said launch(hone_kernel* kernel, const hone_launch& shape) {
    return said([&](hone_error* error) { return table().launch(kernel, buffer_, &shape, error); });
  }
  Said wait() {
    return said([&](hone_error* error) { return table().wait(device_, error); });
  }
  template <typename T>
  std::vector<T> read(std::uint64_t at, std::size_t count) {
    std::vector<T> data(count);
    const Said got = said([&](hone_error* error) {
      return table().read_buffer(buffer_, at, data.data(), count * sizeof(T), error);
    });
    EXPECT_EQ(got.code, HONE_OK) << got.words;
    return data;
  }

  hone_device* device_ = nullptr;
  hone_buffer* buffer_ = nullptr;
  std::vector<hone_artifact*> artifacts_;
};

}  // namespace hone::test
