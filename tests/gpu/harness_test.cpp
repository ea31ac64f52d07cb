// The judge's device code on the emulated driver: it generates the same data as the processor.
#include <cstring>

#include "../../plugins/backends/gpu/headers.hpp"
#include "base/files.hpp"
#include "gpu/emulated.hpp"
#include "judge/fill.hpp"
#include "places.hpp"

namespace hone {
namespace {

constexpr std::uint64_t kSeed = 20261121;

CUmodule loaded(const std::string& source, const std::vector<std::string>& kernels, Built& built) {
  CUcontext context = nullptr;
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  std::vector<std::pair<const char*, const char*>> headers;
  for (const hone_gpu::Header& one : hone_gpu::headers_in_memory()) {
    headers.emplace_back(one.name, one.text);
  }
  built = build(source.c_str(), kernels, {"--gpu-architecture=sm_90"}, "task.cu", headers);
  EXPECT_EQ(built.result, NVRTC_SUCCESS) << built.log;
  CUmodule module = nullptr;
  if (built.result == NVRTC_SUCCESS) {
    EXPECT_EQ(error_name(cuModuleLoadData(&module, built.cubin.data())), "CUDA_SUCCESS");
  }
  return module;
}

/// Device memory with `bytes` of room and, where it is given, a content.
DeviceMemory memory(std::size_t bytes, const void* content = nullptr) {
  DeviceMemory made;
  EXPECT_EQ(made.make((bytes / kUnit + 1) * kUnit), CUDA_SUCCESS);
  if (content != nullptr) {
    EXPECT_EQ(cuMemcpyHtoD_v2(made.at, content, bytes), CUDA_SUCCESS);
  }
  return made;
}

/// A kernel of the judge's device code; null: it was not built.
CUfunction harness_kernel(const std::string& name) {
  const std::string source =
      read_file(test::source_dir() / "core/judge/harness/harness.cu").value();
  Built built;
  const CUmodule module = loaded(source, {name}, built);
  CUfunction kernel = nullptr;
  if (module != nullptr) {
    EXPECT_EQ(cuModuleGetFunction(&kernel, module, built.lowered[0].c_str()), CUDA_SUCCESS);
  }
  return kernel;
}

TEST(Harness, FillKernel_EqualsTheProcessorsFill) {
  const CUfunction fill = harness_kernel("hone_fill");
  ASSERT_NE(fill, nullptr);
  // The places of harness.cu; kinds whose parameters are derived from seeds are the workbench's.
  const std::pair<const char*, std::uint64_t> kinds[] = {
      {"normal", 0}, {"uniform", 1}, {"integers", 2}, {"constant", 3},
      {"cancel", 4}, {"ramp", 8},    {"offsets", 9}};
  constexpr std::uint64_t kCount = 1001;
  const DeviceMemory out = memory(kCount * 8);
  for (const auto& [kind, number] : kinds) {
    for (std::uint64_t dtype = 0; dtype < dtype_names().size(); ++dtype) {
      const auto type = static_cast<DType>(dtype);
      const Generator g{kind, 3, 4};
      std::uint64_t item[13] = {out.at, kCount, dtype, number, 0, 0, kSeed, 0, 3, 2, 0, 0, 0};
      std::memcpy(&item[4], &g.a, sizeof g.a);
      std::memcpy(&item[5], &g.b, sizeof g.b);
      const DeviceMemory table = memory(sizeof item, item);
      HONE_CU(launch(fill, shape(2, 64), table.at));
      HONE_CU(cuCtxSynchronize());
      std::vector<char> got(kCount * dtype_size(type)), expected(got.size());
      HONE_CU(cuMemcpyDtoH_v2(got.data(), out.at, got.size()));
      fill_tensor(expected.data(), type, kCount, g, kSeed);
      EXPECT_EQ(got, expected) << kind << " " << dtype_name(type);
    }
  }
}

std::uint64_t word_of(double value) {
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  return word;
}

/// Values of about 1, and their copy on the device.
struct Values {
  explicit Values(std::uint64_t count) : host(count), device(memory(count * sizeof(float))) {
    fill_tensor(host.data(), DType::kF32, count, {"uniform", 0.5, 2}, kSeed);
    EXPECT_EQ(cuMemcpyHtoD_v2(device.at, host.data(), count * sizeof(float)), CUDA_SUCCESS);
  }
  std::vector<float> host;
  DeviceMemory device;
};

constexpr std::uint64_t kF32 = 0, kOfRms = 7, kLargest = 11;

TEST(Harness, SquaresOfEachStretch_AreAddedUp) {
  const CUfunction rms = harness_kernel("hone_rms");
  ASSERT_NE(rms, nullptr);
  constexpr std::uint64_t kCount = 70'001;
  const Values values(kCount);
  for (const std::uint64_t step : {7ull, 1000ull, 1024ull, 5000ull, 70'001ull}) {
    const std::uint64_t stretches = (kCount + step - 1) / step;
    std::vector<double> got(stretches, 0), expected(stretches, 0);
    for (std::uint64_t i = 0; i < kCount; ++i)
      expected[i / step] += double{values.host[i]} * double{values.host[i]};
    const DeviceMemory sums = memory(stretches * sizeof(double), got.data());
    std::uint64_t item[13] = {values.device.at, values.device.at, kF32, kCount, step};
    item[kOfRms] = word_of(1);
    item[kLargest] = word_of(1e300);
    const DeviceMemory table = memory(sizeof item, item);
    HONE_CU(launch(rms, shape(2, 64), table.at, sums.at));
    HONE_CU(cuCtxSynchronize());
    HONE_CU(cuMemcpyDtoH_v2(got.data(), sums.at, stretches * sizeof(double)));
    for (std::uint64_t stretch = 0; stretch < stretches; ++stretch)
      ASSERT_NEAR(got[stretch], expected[stretch], 1e-9 * expected[stretch]) << step;
  }
}

/// The results of hone_compare for one item.
std::vector<std::uint64_t> compared(CUfunction compare, const std::uint64_t (&item)[13],
                                    const DeviceMemory& sums) {
  const DeviceMemory table = memory(sizeof item, item);
  std::vector<std::uint64_t> results(4, 0);
  const std::size_t bytes = results.size() * sizeof results[0];
  const DeviceMemory results_at = memory(bytes, results.data());
  EXPECT_EQ(launch(compare, shape(2, 64), table.at, sums.at, results_at.at), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH_v2(results.data(), results_at.at, bytes), CUDA_SUCCESS);
  return results;
}

/// The tolerance is a fifth of the RMS of each row, or of the RMS of the whole tensor.
TEST(Harness, ElementsOutsideTheTolerance_AreCounted) {
  const CUfunction compare = harness_kernel("hone_compare");
  ASSERT_NE(compare, nullptr);
  constexpr std::uint64_t kRow = 1500, kRows = 3, kCount = kRow * kRows;
  const Values expected(kCount);
  std::vector<float> changed = expected.host;
  changed[3] += 100;          // in the first row
  changed[kRow + 5] += 0.3f;  // outside of a fifth of the RMS of its row, which is given as 1
  changed[kRow + 6] += 1e-4f;
  const DeviceMemory got = memory(kCount * sizeof(float), changed.data());
  for (const std::uint64_t step : {kRow, kCount}) {
    std::vector<double> sums(kRows, step == kRow ? 1.0 * kRow : 9.0 * kCount);
    const DeviceMemory sums_at = memory(sums.size() * sizeof(double), sums.data());
    std::uint64_t item[13] = {got.at, expected.device.at, kF32, kCount, step};
    item[kOfRms] = word_of(0.2);
    const std::vector<std::uint64_t> results = compared(compare, item, sums_at);
    EXPECT_EQ(results[0], step == kRow ? 2u : 1u);           // the RMS of the whole is given as 3
    EXPECT_EQ(static_cast<std::uint32_t>(~results[2]), 3u);  // the worst
  }
}

/// Numbers of elements that fill whole 16-byte chunks and others, and offsets with and without 16-byte alignment.
constexpr std::uint64_t kCounts[] = {1, 15, 64, 1000, 4099};
constexpr std::uint64_t kOffsets[] = {0, 8};

TEST(Harness, ChangedElementsOfEveryType_AreCounted) {
  const CUfunction compare = harness_kernel("hone_compare");
  ASSERT_NE(compare, nullptr);
  const DeviceMemory sums = memory(sizeof(double));
  for (std::uint64_t dtype = 0; dtype < dtype_names().size(); ++dtype) {
    const auto type = static_cast<DType>(dtype);
    const std::uint64_t size = dtype_size(type);
    for (const std::uint64_t count : kCounts) {
      std::vector<char> expected(count * size);
      fill_tensor(expected.data(), type, count, {"integers", 0, 100}, kSeed);
      std::vector<char> changed = expected;
      std::uint64_t wanted = 0;
      for (std::uint64_t i = 0; i < count; ++i) {
        if (i % 7 != 3 && i + 1 != count) continue;
        fill_tensor(changed.data() + i * size, type, 1, {"constant", 101, 0}, kSeed);
        ++wanted;
      }
      for (const std::uint64_t offset : kOffsets) {
        const DeviceMemory got = memory(offset + expected.size());
        const DeviceMemory right = memory(expected.size(), expected.data());
        HONE_CU(cuMemcpyHtoD_v2(got.at + offset, changed.data(), changed.size()));
        std::uint64_t item[13] = {got.at + offset, right.at, dtype, count, count};
        item[5] = word_of(0.5);
        item[12] = dtype;
        const std::vector<std::uint64_t> results = compared(compare, item, sums);
        EXPECT_EQ(results[0], wanted) << dtype_name(type) << " " << count << " at " << offset;
        const std::uint64_t first = static_cast<std::uint32_t>(~results[2]);
        EXPECT_TRUE(first % 7 == 3 || first + 1 == count) << first;
      }
    }
  }
}

TEST(Harness, LoadedInputs_EqualTheirMastersAndEachChangedByteIsFound) {
  const CUfunction load = harness_kernel("hone_load"), inspect = harness_kernel("hone_inspect");
  ASSERT_NE(load, nullptr);
  ASSERT_NE(inspect, nullptr);
  constexpr std::uint64_t kBegin = 64, kCanaries = 48;
  for (const std::uint64_t bytes : kCounts) {
    std::vector<char> master(bytes);
    fill_tensor(master.data(), DType::kU8, bytes, {"integers", 0, 255}, kSeed);
    for (const std::uint64_t offset : kOffsets) {
      const std::uint64_t payload = kBegin + kCanaries + offset, end = payload + bytes + kCanaries;
      const DeviceMemory from = memory(bytes, master.data()), arena = memory(end);
      std::uint64_t item[13] = {arena.at, kBegin, payload, bytes, end, from.at, 0, 1, kSeed};
      const DeviceMemory table = memory(sizeof item, item);
      HONE_CU(launch(load, shape(2, 64), table.at));
      HONE_CU(cuCtxSynchronize());
      std::vector<char> loaded(bytes);
      HONE_CU(cuMemcpyDtoH_v2(loaded.data(), arena.at + payload, bytes));
      EXPECT_EQ(loaded, master) << bytes << " at " << offset;
      // Changes nothing, then the first byte, the last byte, and the canary before and after the input.
      const std::uint64_t nowhere = 0;
      for (const std::uint64_t at :
           {nowhere, payload, payload + bytes - 1, payload - 1, payload + bytes}) {
        char kept = 0;
        if (at != nowhere) {
          HONE_CU(cuMemcpyDtoH_v2(&kept, arena.at + at, 1));
          const char other = static_cast<char>(kept ^ 1);
          HONE_CU(cuMemcpyHtoD_v2(arena.at + at, &other, 1));
        }
        std::uint32_t found[2] = {0, 0};
        const DeviceMemory found_at = memory(sizeof found, found);
        HONE_CU(launch(inspect, shape(2, 64), table.at, found_at.at));
        HONE_CU(cuCtxSynchronize());
        HONE_CU(cuMemcpyDtoH_v2(found, found_at.at, sizeof found));
        const bool inside = at >= payload && at < payload + bytes;
        EXPECT_EQ(found[0], at != nowhere && !inside ? 1u : 0u) << bytes << " at " << at;
        EXPECT_EQ(found[1], inside ? 1u : 0u) << bytes << " at " << at;
        if (at != nowhere) {
          HONE_CU(cuMemcpyHtoD_v2(arena.at + at, &kept, 1));
        }
      }
    }
  }
}

}  // namespace
}  // namespace hone
