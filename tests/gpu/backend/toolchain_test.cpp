// The shipped plugins with the vendors' compilers, if these are installed. No test needs a device.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "model/value.hpp"
#include "places.hpp"
#include "plugin/backend.hpp"
#include "plugin/fixtures.hpp"

namespace hone::test {
namespace {

using testing::HasSubstr;

constexpr char kSource[] =
    "#include <cstdint>\n"
    "extern \"C\" __global__ void add(const float* x, float* y, std::int64_t n) {\n"
    "  std::int64_t i = blockIdx.x * std::int64_t{256} + threadIdx.x;\n"
    "  if (i < n) y[i] = expf(x[i]);\n"
    "}\n"
    "template <typename T, int N> __global__ void scale(T* x) { x[threadIdx.x] *= N; }\n";

class Toolchain : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(chdir(folder_.path().c_str()), 0); }
  void TearDown() override { ASSERT_EQ(chdir("/"), 0); }

  Result<Value> build(const std::string& vendor, const std::string& text,
                      const std::vector<std::string>& entries, const std::string& compiler,
                      const std::string& architecture) {
    HONE_ASSIGN(auto backend,
                Backend::load(test::build_dir() / ("plugins/backends/" + vendor + ".so")));
    Value names = Value::array();
    for (const std::string& entry : entries) names.push(entry);
    Value options = Value::map({{"architecture", architecture}, {"seconds", 60.0}});
    if (!compiler.empty()) options.set("compiler", compiler);
    return backend->build(
        Value::map({{"sources", Value::array({Value::map({{"name", "kernel"}, {"text", text}})})},
                    {"language", vendor},
                    {"entries", std::move(names)},
                    {"options", std::move(options)}}));
  }
  void expect_built(const std::string& vendor, const std::string& compiler,
                    const std::string& architecture) {
    auto good = build(vendor, kSource, {"add", "scale<float, 4>"}, compiler, architecture);
    ASSERT_TRUE(good) << good.error().message;
    ASSERT_EQ(*good->find("ok"), Value(true)) << good->find("diagnostics")->as_string();
    const Value artifact = from_msgpack(good->find("artifact")->as_bytes()).value();
    EXPECT_EQ(artifact.find("image")->as_bytes().substr(1, 3), "ELF");
    EXPECT_EQ(*artifact.find("entries")->find("add"), Value("add"));
    EXPECT_EQ(*artifact.find("entries")->find("scale<float, 4>"), Value("_Z5scaleIfLi4EEvPT_"));
  }
  void expect_refused(const std::string& vendor, const std::string& compiler,
                      const std::string& architecture) {
    auto gone = build(vendor, kSource, {"add", "gone"}, compiler, architecture);
    ASSERT_TRUE(gone) << gone.error().message;
    EXPECT_EQ(*gone->find("failure"), Value("refused"));
    EXPECT_THAT(gone->find("diagnostics")->as_string(), HasSubstr("gone"));
    auto bad =
        build(vendor, std::string(kSource) + "int x = y;\n", {"add"}, compiler, architecture);
    ASSERT_TRUE(bad) << bad.error().message;
    EXPECT_EQ(*bad->find("failure"), Value("refused"));
    EXPECT_THAT(bad->find("diagnostics")->as_string(), HasSubstr("kernel:7:"));
  }
  void expect_built_with_quoted_failure(const std::string& vendor, const std::string& compiler,
                                        const std::string& architecture) {
    const std::string phrase = "CPU time limit exceeded, terminated by signal 9, out of memory";
    auto built = build(vendor, "#pragma message(\"" + phrase + "\")\n" + kSource, {"add"}, compiler,
                       architecture);
    ASSERT_TRUE(built) << built.error().message;
    EXPECT_EQ(*built->find("failure"), Value(""));
    EXPECT_THAT(built->find("diagnostics")->as_string(), HasSubstr(phrase));
  }
  /// The sources of the shipped tasks that a vendor has, one in `each`, with the kernels that its plan names.
  void expect_tasks_built(const std::string& vendor, const std::string& compiler,
                          const std::string& architecture, int each) {
    const std::filesystem::path tasks = test::source_dir() / "envs/kernel_refine/tasks";
    std::set<std::filesystem::path> sources;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tasks)) {
      const std::string file = entry.path().filename().string();
      const bool whole = file == "baseline.cu" || file == "reference.cu";
      const bool golden =
          file.rfind("correct_", 0) == 0 && file.find(".cuda.") == std::string::npos;
      if (entry.path().extension() == ".cu" && (whole || golden)) sources.insert(entry.path());
    }
    EXPECT_GT(sources.size(), 60u);
    int count = 0;
    for (const std::filesystem::path& source : sources) {
      if (count++ % each != 0) continue;
      const std::string text = read_file(source).value();
      auto built = build(vendor, text, planned_kernels(text), compiler, architecture);
      const std::string which = std::filesystem::relative(source, tasks).string();
      ASSERT_TRUE(built) << which << ": " << built.error().message;
      EXPECT_EQ(*built->find("ok"), Value(true))
          << which << ": " << built->find("diagnostics")->as_string();
    }
  }
  /// The judge's own device code.
  void expect_ours_built(const std::string& vendor, const std::string& compiler,
                         const std::string& architecture) {
    const std::pair<const char*, std::vector<std::string>> ours[] = {
        {"harness.cu", {"hone_fill", "hone_load", "hone_inspect", "hone_rms", "hone_compare"}},
        {"known_answer.cu", {"hone_known_answer"}}};
    for (const auto& [file, kernels] : ours) {
      const auto text = read_file(test::source_dir() / "core/judge/harness" / file);
      ASSERT_TRUE(text) << text.error().message;
      auto built = build(vendor, *text, kernels, compiler, architecture);
      ASSERT_TRUE(built) << file << ": " << built.error().message;
      EXPECT_EQ(*built->find("ok"), Value(true))
          << file << ": " << built->find("diagnostics")->as_string();
    }
  }
  /// Device code that can fill its context's heap is told by words in it (Device::leaves_state).
  void expect_heap_told(const std::string& vendor, const std::string& compiler,
                        const std::string& architecture, const char* word) {
    for (const bool uses : {false, true}) {
      const std::string body = uses ? "void* p = malloc(64); x[0] = p != 0; free(p);" : "x[0] = 1;";
      auto built = build(vendor, "extern \"C\" __global__ void go(float* x) { " + body + " }\n",
                         {"go"}, compiler, architecture);
      ASSERT_TRUE(built) << built.error().message;
      ASSERT_EQ(*built->find("ok"), Value(true)) << built->find("diagnostics")->as_string();
      const std::string_view artifact = built->find("artifact")->as_bytes();
      EXPECT_EQ(artifact.find(word) != std::string_view::npos, uses) << word;
    }
  }
  static std::vector<std::string> planned_kernels(const std::string& text) {
    static const std::regex kLaunch(
        "// hone: launch (.*?) (?:grid|block|args|cluster|shared|coop)");
    std::set<std::string> names;
    for (std::sregex_iterator at(text.begin(), text.end(), kLaunch), end; at != end; ++at)
      names.insert((*at)[1]);
    return {names.begin(), names.end()};
  }
  static bool has_library(const char* name) {
    void* library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    return library != nullptr;
  }

  TemporaryFolder folder_;
};

TEST_F(Toolchain, Nvrtc_Builds) {
  const char* named = std::getenv("HONE_TEST_NVRTC");
  const std::string compiler = named != nullptr ? named : "";
  if (compiler.empty() && !has_library("libnvrtc.so.13") && !has_library("libnvrtc.so.12")) {
    GTEST_SKIP() << "no NVRTC; HONE_TEST_NVRTC names one";
  }
  expect_built("cuda", compiler, "sm_90a");
  expect_ours_built("cuda", compiler, "sm_90a");
  expect_refused("cuda", compiler, "sm_90a");
}

/// What kernels of low precision and of tensor cores include, where the vendor's headers are installed.
TEST_F(Toolchain, Nvrtc_BuildsWithTheVendorsHeaders) {
  const char* named = std::getenv("HONE_TEST_NVRTC");
  const std::string compiler = named != nullptr ? named : "";
  if (compiler.empty() && !has_library("libnvrtc.so.13") && !has_library("libnvrtc.so.12")) {
    GTEST_SKIP() << "no NVRTC; HONE_TEST_NVRTC names one";
  }
  if (!std::filesystem::exists("/usr/local/cuda/include/cuda_fp8.h"))
    GTEST_SKIP() << "no headers of a CUDA toolkit in /usr/local/cuda";
  const std::pair<const char*, const char*> uses[] = {
      {"cuda_fp16.h", "x[0] = __half2float(__float2half(x[1]));"},
      {"cuda_bf16.h", "x[0] = __bfloat162float(__float2bfloat16(x[1]));"},
      {"cuda_fp8.h", "x[0] = float(__nv_fp8_e4m3(x[1])) + float(__nv_fp8_e5m2(x[2]));"},
      {"mma.h",
       "nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sum; "
       "nvcuda::wmma::fill_fragment(sum, x[1]); "
       "nvcuda::wmma::store_matrix_sync(x, sum, 16, nvcuda::wmma::mem_row_major);"},
      {"cooperative_groups.h", "cooperative_groups::this_thread_block().sync(); x[0] = x[1];"},
      {"cuda_pipeline.h", "__pipeline_commit(); __pipeline_wait_prior(0); x[0] = x[1];"},
  };
  for (const auto& [header, use] : uses) {
    const std::string text = std::string("#include <") + header +
                             ">\nextern \"C\" __global__ void go(float* x) { " + use + " }\n";
    auto built = build("cuda", text, {"go"}, compiler, "sm_90a");
    ASSERT_TRUE(built) << header << ": " << built.error().message;
    EXPECT_EQ(*built->find("ok"), Value(true))
        << header << ": " << built->find("diagnostics")->as_string();
  }
}

TEST_F(Toolchain, Nvrtc_BuildsNoLaunchesFromDeviceCode) {
  const char* named = std::getenv("HONE_TEST_NVRTC");
  const std::string compiler = named != nullptr ? named : "";
  if (compiler.empty() && !has_library("libnvrtc.so.13") && !has_library("libnvrtc.so.12")) {
    GTEST_SKIP() << "no NVRTC; HONE_TEST_NVRTC names one";
  }
  for (const char* text :
       {"extern \"C\" __global__ void add(float* x) { add<<<1, 1>>>(x); }\n",
        "extern \"C\" __device__ int cudaLaunchDeviceV2(void*, void*);\n"
        "extern \"C\" __global__ void add(float* x) { cudaLaunchDeviceV2(x, 0); }\n"}) {
    auto built = build("cuda", text, {"add"}, compiler, "sm_90a");
    ASSERT_TRUE(built) << built.error().message;
    EXPECT_EQ(*built->find("failure"), Value("refused"));
    EXPECT_THAT(built->find("diagnostics")->as_string(), HasSubstr("kernel:"));
  }
}

TEST_F(Toolchain, Hiprtc_Builds) {
  if (!has_library("libhiprtc.so.7") && !has_library("libhiprtc.so.6") &&
      !has_library("libamdhip64.so.5")) {
    GTEST_SKIP() << "no hiprtc: scripts/setup --hip";
  }
  expect_built("hip", "", "gfx90a");
  expect_ours_built("hip", "", "gfx90a");
  expect_refused("hip", "", "gfx90a");
  expect_tasks_built("hip", "", "gfx90a", 1);
}

TEST_F(Toolchain, Clang_BuildsForMi300x) {
  const std::string clang = "/usr/bin/clang++-19";
  if (access(clang.c_str(), X_OK) != 0 || access("/usr/include/hip/hip_runtime.h", R_OK) != 0 ||
      access("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc", R_OK) != 0) {
    GTEST_SKIP() << "no clang++-19, HIP or device libraries: scripts/setup --hip";
  }
  expect_built("hip", clang, "gfx942");
  expect_ours_built("hip", clang, "gfx942");
  expect_refused("hip", clang, "gfx942");
  expect_built_with_quoted_failure("hip", clang, "gfx942");
  expect_heap_told("hip", clang, "gfx942", "hidden_heap");
  // A second for each, which are the same sources and headers.
  expect_tasks_built("hip", clang, "gfx942", 4);
}

}  // namespace
}  // namespace hone::test
