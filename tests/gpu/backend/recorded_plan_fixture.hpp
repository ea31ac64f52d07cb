// Recorded plans of a small source, and a device that runs them.
#pragma once

#include <string>
#include <vector>

#include "gpu/backend/fixture.hpp"
#include "hone/plugin/msgpack.hpp"
#include "hone/recorded_plan_writer.hpp"

namespace hone::test {

using recorded::Copy;
using recorded::Fill;
using recorded::Launch;
using recorded::Memory;
using recorded::MemoryKind;
using recorded::Operator;
using recorded::Plan;
using recorded::Record;
using recorded::Wait;
using recorded::Write;

inline constexpr std::uint64_t kCount = 256;
inline constexpr std::uint64_t kSize = kCount * sizeof(float);

inline constexpr char kPlanSource[] =
    "#if defined(HONE_EMULATED_DEVICE_H)\n"  // where a variable must be exported to be found
    "#define VARIABLE __device__ __attribute__((visibility(\"default\")))\n"
    "#else\n"
    "#define VARIABLE __device__\n"
    "#endif\n"
    "extern \"C\" VARIABLE float factor = 1;\n"
    "extern \"C\" __global__ void add(const float* x, const float* y, float* out) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  out[i] = x[i] + y[i];\n"
    "}\n"
    "extern \"C\" __global__ void scale(const float* x, float* y) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  y[i] = x[i] * factor;\n"
    "}\n"
    "extern \"C\" __global__ void follow(const float* const* table, float* out) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  out[i] = table[0][i] + table[1][i];\n"
    "}\n"
    "struct Map { unsigned long long words[16]; };\n"
    "extern \"C\" __global__ void mapped(const Map map, float* out) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  out[i] = ((const float*)map.words[0])[i] + map.words[1] * 1000 + map.words[2];\n"
    "}\n";
enum KernelIndex : std::uint32_t { kAddKernel, kScaleKernel, kFollowKernel, kMappedKernel };

inline Memory task(std::uint32_t argument, std::uint64_t bytes = kSize) {
  return {MemoryKind::kTask, bytes, argument, 0, "", 0, 0};
}
inline Memory scratch(std::uint32_t last, std::uint64_t bytes = kSize) {
  return {MemoryKind::kPrivate, bytes, 0, 0, "", 0, last};
}
inline Memory factor(std::uint64_t bytes = 4) {
  return {MemoryKind::kGlobal, bytes, 0, 0, "factor", 0, 0};
}

inline Launch launch_of(KernelIndex kernel, const std::vector<std::uint32_t>& memories) {
  Launch launch;
  launch.kernel = kernel;
  launch.grid = {kCount / 64, 1, 1};
  launch.block = {64, 1, 1};
  launch.parameters.assign(8 * memories.size(), '\0');
  for (std::uint32_t i = 0; i < memories.size(); ++i) {
    launch.addresses.push_back({8 * i, {memories[i], 0}});
  }
  return launch;
}

inline std::string bytes_of(float value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

inline std::vector<float> numbers(float from) {
  std::vector<float> all(kCount);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = from + static_cast<float>(i);
  return all;
}

class GpuRecordedPlan : public OnDevice {
 protected:
  /// A plan of the source above without steps.
  Plan plan() {
    Plan made;
    made.architecture = text_of(facts(), "architecture");
    const Value result = built(request(kPlanSource, {"add", "scale", "follow", "mapped"}));
    EXPECT_EQ(text_of(result, "diagnostics"), "");
    const plugin::Value artifact =
        plugin::from_msgpack(std::string_view(result.find("artifact")->as_bytes()));
    made.images = {{artifact.at("image").as_bytes(), ""}};
    for (const char* name : {"add", "scale", "follow", "mapped"}) {
      made.kernels.push_back({0, artifact.at("entries").at(name).as_string(), 0, -1, false});
    }
    return made;
  }
  hone_kernel* entry(const Plan& made, std::uint32_t arguments) {
    Said got;
    hone_artifact* artifact = load_bytes(recorded::write_plan(made), &got);
    EXPECT_EQ(got.words, "");
    return kernel(artifact, "call", std::vector<std::uint32_t>(arguments, HONE_ARGUMENT_BUFFER));
  }
  Said refusal(const Plan& made) {
    Said got;
    load_bytes(recorded::write_plan(made), &got);
    return got;
  }
  void call(hone_kernel* kernel, const std::vector<std::uint64_t>& offsets) {
    ASSERT_NE(kernel, nullptr);
    ASSERT_EQ(launch(kernel, shape(offsets)).words, "");
    ASSERT_EQ(wait().words, "");
  }
  std::uint64_t free_memory() {
    std::uint64_t bytes = 0;
    EXPECT_EQ(HONE_SAID(free_memory(device_, &bytes, error)).words, "");
    return bytes;
  }
};

/// out = table[0] + table[1] = 7 + x * factor: the setup sets the factor to 3, a write makes the table of addresses,
/// and the second half of `out` gets copies and fills.
inline Plan every_step(Plan made) {
  made.memories = {task(0), task(2), scratch(6), scratch(6), scratch(6, 16), factor()};
  made.setup = {{0, Write{{5, 0}, bytes_of(3), {}}}};
  made.run = {{0, launch_of(kScaleKernel, {0, 2})},
              {0, Fill{{3, 0}, 4, static_cast<std::uint32_t>(bits_of(7.0f)), kCount, 1, 0}},
              {0, Write{{4, 0}, std::string(16, '\0'), {{0, {2, 0}}, {8, {3, 0}}}}},
              {0, launch_of(kFollowKernel, {4, 1})},
              {0, Copy{{1, 512}, {1, 0}, 16, 2, 64, 32}},
              {0, Fill{{1, 1016}, 2, 0, 1, 2, 4}},
              {0, Copy{{1, 1000}, {0, 0}, 4, 1, 0, 0}},
              {0, Fill{{1, 896}, 4, static_cast<std::uint32_t>(bits_of(9.0f)), 1, 2, 8}}};
  return made;
}

}  // namespace hone::test
