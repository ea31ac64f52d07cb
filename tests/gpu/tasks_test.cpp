// The tasks' device code over the emulated driver: data made by the harness is what the processor makes, and reference
// and baseline of every task are right at its first shape.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "../../plugins/backends/gpu/headers.hpp"
#include "base/files.hpp"
#include "datasets/open_tasks.hpp"
#include "gpu/emulated.hpp"
#include "judge/compare.hpp"
#include "judge/fill.hpp"
#include "judge/layout.hpp"
#include "model/plan.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;
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

TEST(Harness, FillsAsTheProcessorDoes) {
  const std::string source = read_file(HONE_SOURCE_DIR "/core/judge/harness/harness.cu").value();
  Built built;
  const CUmodule module = loaded(source, {"hone_fill"}, built);
  ASSERT_NE(module, nullptr);
  CUfunction fill = nullptr;
  HONE_CU(cuModuleGetFunction(&fill, module, built.lowered[0].c_str()));
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
      std::uint64_t item[12] = {out.at, kCount, dtype, number, 0, 0, kSeed, 0, 3, 2, 0, 0};
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

std::vector<std::string> device_tasks() {
  std::vector<std::string> ids;
  for (const fs::directory_entry& entry : fs::directory_iterator(shipped_tasks())) {
    if (fs::exists(entry.path() / "reference.cu")) ids.push_back(entry.path().filename().string());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

class OnADevice : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto dataset = open_tasks(shipped_tasks());
    ASSERT_TRUE(dataset.ok()) << dataset.error().message;
    task_ = task_for_backend(*(*dataset)->get(GetParam()), "cuda").value();
    dims_ = task_.shown.front();
    for (const Tensor& t : task_.tensors) {
      const auto count = static_cast<std::uint64_t>(element_count(t, dims_).value());
      std::vector<char> content(count * 8);
      if (t.role != Role::kOut) {
        const Family& family = task_.families.front();
        const auto own = family.tensors.find(t.name);
        fill_tensor(content.data(), t.dtype, count,
                    own == family.tensors.end() ? family.fallback : own->second,
                    derive_seed(kSeed, t.name));
      }
      inputs_.push_back(content);
    }
  }

  /// The bits of a scalar argument.
  std::uint64_t scalar(const Scalar& s) const {
    if (!s.value.empty()) {
      return static_cast<std::uint64_t>(evaluate_expression(s.value, dims_).value());
    }
    const auto drawn = static_cast<float>((s.low + s.high) / 2);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &drawn, sizeof bits);
    return bits;
  }

  /// Runs one plan and gives the content of all outputs, by tensor.
  std::map<std::size_t, std::vector<char>> outputs(const Source& source, const std::string& form,
                                                   bool first_form, bool exact) const {
    std::map<std::size_t, std::vector<char>> result;
    const auto plan = parse_plan(source.text, task_, task_.entry, form, first_form);
    EXPECT_TRUE(plan.ok());
    const auto kernels = plan_kernels(task_, {&*plan}).value();
    const auto ready = ready_plan(task_, *plan, kernels, dims_, PlanLimits());
    EXPECT_TRUE(ready.ok());
    std::vector<std::string> names;
    for (const PlanKernel& kernel : kernels) names.push_back(kernel.name);
    Built built;
    const CUmodule module = loaded(source.text, names, built);
    if (module == nullptr) return result;

    std::vector<DeviceMemory> tensors, scratch;
    for (const std::vector<char>& content : inputs_) {
      tensors.push_back(memory(content.size(), content.data()));
    }
    for (const std::uint64_t bytes : ready->scratch_bytes) scratch.push_back(memory(bytes));
    for (const ReadyLaunch& one : ready->launches) {
      CUfunction function = nullptr;
      EXPECT_EQ(cuModuleGetFunction(&function, module, built.lowered[one.kernel].c_str()),
                CUDA_SUCCESS);
      start(function, one, tensors, scratch);
    }
    EXPECT_EQ(error_name(cuCtxSynchronize()), "CUDA_SUCCESS");
    for (std::size_t t = 0; t < task_.tensors.size(); ++t) {
      if (task_.tensors[t].role == Role::kIn) continue;
      const auto count = static_cast<std::size_t>(element_count(task_.tensors[t], dims_).value());
      result[t].resize(count * dtype_size(form_dtype(task_.tensors[t], exact)));
      EXPECT_EQ(cuMemcpyDtoH_v2(result[t].data(), tensors[t].at, result[t].size()), CUDA_SUCCESS);
    }
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    return result;
  }

  void start(CUfunction function, const ReadyLaunch& one, const std::vector<DeviceMemory>& tensors,
             const std::vector<DeviceMemory>& scratch) const {
    std::vector<std::uint64_t> values;
    for (const ReadyArgument& argument : one.arguments) {
      if (argument.slot < 0) {
        const auto at = static_cast<std::size_t>(std::max(argument.scratch, 0));
        values.push_back(argument.scratch < 0 ? argument.value : scratch[at].at);
        continue;
      }
      const std::string& name = task_.arguments[static_cast<std::size_t>(argument.slot)];
      for (std::size_t t = 0; t < task_.tensors.size(); ++t) {
        if (task_.tensors[t].name == name) values.push_back(tensors[t].at);
      }
      for (const Scalar& s : task_.scalars) {
        if (s.name == name) values.push_back(scalar(s));
      }
    }
    ASSERT_EQ(values.size(), one.arguments.size());
    std::vector<void*> places;
    for (std::uint64_t& value : values) places.push_back(&value);
    CUlaunchConfig config{};
    config.gridDimX = one.grid[0];
    config.gridDimY = std::max(one.grid[1], 1u);
    config.gridDimZ = std::max(one.grid[2], 1u);
    config.blockDimX = one.block[0];
    config.blockDimY = std::max(one.block[1], 1u);
    config.blockDimZ = std::max(one.block[2], 1u);
    config.sharedMemBytes = one.shared_bytes;
    EXPECT_EQ(error_name(cuLaunchKernelEx(&config, function, places.data(), nullptr)),
              "CUDA_SUCCESS");
  }

  /// The largest error of all outputs, as a share of the tolerance.
  double worst(const std::map<std::size_t, std::vector<char>>& got,
               const std::map<std::size_t, std::vector<char>>& exact) const {
    double share = 0;
    for (const auto& [t, expected] : exact) {
      const Tensor& tensor = task_.tensors[t];
      const auto found = got.find(t);
      if (found == got.end()) return HUGE_VAL;
      share = std::max(
          share,
          error_share(found->second.data(), expected.data(), tensor.dtype,
                      static_cast<std::uint64_t>(element_count(tensor, dims_).value()),
                      static_cast<std::uint64_t>(extents(tensor, dims_)->back()), task_.tolerance));
    }
    return share;
  }

  Task task_;
  Dims dims_;
  std::vector<std::vector<char>> inputs_;
};

TEST_P(OnADevice, ReferenceAndBaselineAreRight) {
  const BackendSources& sources = task_.backends.at("cuda");
  const auto exact = outputs(sources.reference, "exact", false, true);
  ASSERT_FALSE(exact.empty());
  EXPECT_LE(worst(outputs(sources.reference, "reference", true, false), exact), 0.6);
  EXPECT_LE(worst(outputs(sources.baseline, "", true, false), exact), 1);
}

INSTANTIATE_TEST_SUITE_P(Tasks, OnADevice, testing::ValuesIn(device_tasks()),
                         [](const testing::TestParamInfo<std::string>& one) { return one.param; });

}  // namespace
}  // namespace hone
