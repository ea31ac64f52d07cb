// Hardware counters of the tool profile on the emulated driver: device, sandbox, player and facts. A library stands in for
// CUPTI. profile_beside_ncu.py compares real counters on a device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/scratch_folder.hpp"
#include "evaluate/device_counting.hpp"
#include "gpu/emulated_gpu.hpp"

namespace hone::test {
namespace {

using testing::HasSubstr;

const Value& fact(const Value& facts, const char* name) {
  const Value* value = facts.find(name);
  EXPECT_NE(value, nullptr) << name << " in " << to_json(facts);
  static const Value nil;
  return value != nullptr ? *value : nil;
}

/// One evaluator on the emulated driver for all tests, and the folder of the pretended CUPTI.
class CountersOnDevice : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<ScratchFolder>(std::move(ScratchFolder::make()).value());
    std::filesystem::permissions(folder_->path(), std::filesystem::perms(0755));
    EvaluatorOptions options = emulated_options("cuda");
    options.counters.path = folder_->path() / "libcupti.so";
    launcher_ = std::move(Launcher::start({})).value();
    auto evaluator = make_evaluator(*launcher_, std::move(options), "emulated");
    ASSERT_TRUE(evaluator) << evaluator.error().message;
    evaluator_ = std::move(*evaluator);
  }
  static void TearDownTestSuite() {
    evaluator_.reset();
    launcher_.reset();
    folder_.reset();
  }
  void SetUp() override {
#ifdef HONE_SANITIZED
    GTEST_SKIP() << "the library is loaded in a sealed process";
#endif
    std::filesystem::copy_file(build_dir() / "tests/pretend_cupti.so",
                               folder_->path() / "libcupti.so",
                               std::filesystem::copy_options::overwrite_existing);
  }
  void TearDown() override {
    for (const char* told : {"refuses", "forgets"}) std::filesystem::remove(folder_->path() / told);
  }
  void tell(const char* what) { ASSERT_TRUE(write_file(folder_->path() / what, "")); }

  Value profiled(const std::string& source) {
    Submission s;
    s.task = std::make_shared<const Task>(small_task("cuda"));
    s.source = source;
    s.language = s.backend = "cuda";
    s.client = "test";
    s.episode = "profile";
    s.seed = 1;
    auto found = examine_and_wait(*evaluator_, s, Tool::kProfile);
    return found ? found->facts : Value::map({{"error", found.error().message}});
  }

  static inline std::unique_ptr<ScratchFolder> folder_;
  static inline std::unique_ptr<Launcher> launcher_;
  static inline std::unique_ptr<Evaluator> evaluator_;
};

TEST_F(CountersOnDevice, EachLaunch_HasCountersOfItsOwn) {
  const Value facts = profiled(R"(
// hone: scratch sum = 4 * n
// hone: launch add grid = ceil_div(n, 64) block = 64 args = x, y, sum, n
// hone: launch relu grid = ceil_div(n, 128) block = 128 args = sum, out, n:i32
extern "C" __global__ void add(const float* x, const float* y, float* sum, long long n) {
  long long i = blockIdx.x * 64ll + threadIdx.x;
  if (i < n) sum[i] = x[i] + y[i];
}
extern "C" __global__ void relu(const float* sum, float* out, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = sum[i] > 0 ? sum[i] : 0;
}
)");
  EXPECT_EQ(fact(facts, "counters_problem"), Value()) << to_json(facts);
  const auto& launches = fact(facts, "launches").as_array();
  ASSERT_EQ(launches.size(), 2u) << to_json(facts);
  const Value &first = fact(launches[0], "counters"), &second = fact(launches[1], "counters");
  EXPECT_DOUBLE_EQ(fact(first, "time_us").as_double(), 1.0)
      << "1000 ns, after the launch that empties the cache";
  EXPECT_DOUBLE_EQ(fact(first, "memory_read_bytes").as_double(), 1001);
  EXPECT_DOUBLE_EQ(fact(first, "cache_read_bytes").as_double(), 32 * 1003) << "sectors";
  EXPECT_DOUBLE_EQ(fact(first, "sectors_per_load").as_double(), 1005.0 / 1006);
  EXPECT_DOUBLE_EQ(fact(first, "local_bytes").as_double(), 32 * (1009 + 1010)) << "two metrics";
  EXPECT_DOUBLE_EQ(fact(second, "memory_read_bytes").as_double(), 2001);
  EXPECT_DOUBLE_EQ(fact(facts, "moved_bytes").as_double(), 1001 + 1002 + 2001 + 2002);
}

TEST_F(CountersOnDevice, CounterThatTheChipDoesNotHave_IsNil) {
  tell("forgets");
  const Value facts = profiled(kBaseline);
  EXPECT_EQ(fact(facts, "counters_problem"), Value()) << to_json(facts);
  const Value& counters = fact(fact(facts, "launches").as_array().at(0), "counters");
  EXPECT_EQ(fact(counters, "time_us"), Value());
  EXPECT_DOUBLE_EQ(fact(counters, "memory_read_bytes").as_double(), 1000);
  EXPECT_EQ(fact(facts, "moved_share"), Value()) << "no rate without a time";
}

TEST_F(CountersOnDevice, DriverThatRefuses_IsNamedAndTheProfileHasTheRest) {
  tell("refuses");
  const Value facts = profiled(kBaseline);
  EXPECT_THAT(fact(facts, "counters_problem").as_string(),
              HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_EQ(fact(fact(facts, "launches").as_array().at(0), "counters"), Value());
  EXPECT_GT(fact(facts, "time_us").as_double(), 0);
}

/// The player fills outputs with 0x5a before the call; a judge uses secret bytes.
TEST_F(CountersOnDevice, KernelThatEndsOnlyInTheJudge_LosesOnlyItsCounters) {
  const Value facts = profiled(R"(
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  volatile const unsigned* before = (volatile const unsigned*)out;
  while (i < n && *(before + i) == 0x5a5a5a5a) {}
  if (i < n) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
}
)");
  EXPECT_THAT(fact(facts, "counters_problem").as_string(),
              testing::AnyOf(HasSubstr("did not finish"), HasSubstr("used the processor's cores")));
  EXPECT_GT(fact(facts, "time_us").as_double(), 0);
}

TEST_F(CountersOnDevice, NoLibrary_SaysHowToInstallOne) {
  std::filesystem::remove(folder_->path() / "libcupti.so");
  const Value facts = profiled(kBaseline);
  EXPECT_THAT(fact(facts, "counters_problem").as_string(), HasSubstr("install CUPTI"));
}

/// Libraries of a toolkit and of an interpreter's packages.
class CounterLibrary : public testing::Test {
 protected:
  void SetUp() override {
    counters_ = emulated_options("cuda").counters;
    ASSERT_FALSE(counters_.symbols.empty());
    std::filesystem::create_directories(in_packages_.parent_path());
    counters_.libraries = {in_toolkit_};
    counters_.packages = {"nvidia/cu13/lib/libcupti.so.13"};
  }
  static void put(const char* library, const std::filesystem::path& to) {
    std::filesystem::copy_file(build_dir() / "tests" / library, to);
  }
  std::vector<std::string> find(const Value& options = Value::map()) {
    return find_library(counters_, options, folder_.path() / "bin/python");
  }

  const ScratchFolder folder_ = std::move(ScratchFolder::make()).value();
  const std::filesystem::path in_toolkit_ = folder_.path() / "libcupti.so";
  const std::filesystem::path in_packages_ =
      folder_.path() / "lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13";
  DeviceCounters counters_;
};

TEST_F(CounterLibrary, OldLibraryInTheToolkit_LibraryInThePackagesIsTaken) {
  put("old_cupti.so", in_toolkit_);
  put("pretend_cupti.so", in_packages_);
  EXPECT_THAT(find(), testing::ElementsAre(testing::AllOf(
                          HasSubstr(in_toolkit_.string() + ": it is too old: it lacks"),
                          HasSubstr("for example cuptiProfilerHostConfigAddMetrics"))));
  EXPECT_EQ(counters_.path, in_packages_.string());
}

TEST_F(CounterLibrary, LibraryInTheToolkit_ComesFirst) {
  put("pretend_cupti.so", in_toolkit_);
  put("pretend_cupti.so", in_packages_);
  EXPECT_THAT(find(), testing::IsEmpty());
  EXPECT_EQ(counters_.path, in_toolkit_.string());
}

TEST_F(CounterLibrary, DamagedFile_IsRefusedWithTheReason) {
  ASSERT_TRUE(write_file(in_toolkit_, "x"));
  EXPECT_THAT(find(), testing::ElementsAre(HasSubstr(": it is not a 64-bit ELF file")));
  EXPECT_EQ(counters_.path, "");
  EXPECT_THAT(expect_counters(counters_).error().message, HasSubstr("install CUPTI"));
  auto library = read_file(build_dir() / "tests/pretend_cupti.so");
  ASSERT_TRUE(library);
  for (const std::size_t bytes : {64u, 4096u}) {
    ASSERT_TRUE(write_file(in_toolkit_, library->substr(0, bytes)));
    EXPECT_THAT(find(), testing::SizeIs(1)) << bytes;
  }
}

/// hone looks for each function that the backend calls.
TEST_F(CounterLibrary, ListOfFunctions_HasAllThatTheBackendCalls) {
  const auto source = read_file(source_dir() / "plugins/backends/gpu/vendor/cuda_counters.cpp");
  ASSERT_TRUE(source);
  for (std::size_t at = source->find("\"cupti"); at != std::string::npos;
       at = source->find("\"cupti", at + 1)) {
    const std::string name = source->substr(at + 1, source->find('"', at + 1) - at - 1);
    if (name == "cuptiGetResultString") continue;  // only for messages
    EXPECT_THAT(counters_.symbols, testing::Contains(name));
  }
}

TEST_F(CounterLibrary, NamedLibrary_ComesFirst) {
  put("pretend_cupti.so", in_packages_);
  EXPECT_THAT(find(), testing::IsEmpty());
  DeviceCounters& counters = counters_;
  EXPECT_EQ(counters.path, in_packages_.string());
  EXPECT_TRUE(expect_counters(counters));
  find(Value::map({{"cupti", "/nowhere/libcupti.so"}}));
  EXPECT_EQ(counters.path, "/nowhere/libcupti.so") << "a named library comes first";
  EXPECT_THAT(expect_counters(counters).error().message, HasSubstr("/nowhere/libcupti.so"));
}

}  // namespace
}  // namespace hone::test
