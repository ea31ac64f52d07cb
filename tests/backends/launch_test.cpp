// Launches: entries, arguments of each kind, and their order.
#include "backends/tested.hpp"

namespace hone::test {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kBuffer = HONE_ARGUMENT_BUFFER, kAddress = HONE_ARGUMENT_ADDRESS,
                        kI32 = HONE_ARGUMENT_I32, kI64 = HONE_ARGUMENT_I64,
                        kF32 = HONE_ARGUMENT_F32, kF64 = HONE_ARGUMENT_F64;

constexpr char kAdd[] =
    "KERNEL add(const int* x, int* y, int n, int by) { EACH(i, n) y[i] = x[i] + by; }\n"
    "KERNEL clear(int* y, int n) { EACH(i, n) y[i] = 0; }\n";
const std::vector<std::uint32_t> kAddKinds{kBuffer, kBuffer, kI32, kI32};

class BackendLaunch : public OnDevice {
 protected:
  hone_artifact* add() { return load(kAdd, {"add", "clear"}); }
  void expect_started(hone_kernel* which, const std::vector<std::uint64_t>& values) {
    ASSERT_NE(which, nullptr);
    const Said got = launch(which, shape(values));
    EXPECT_EQ(got.code, HONE_OK) << got.words;
  }
};

TEST_P(BackendLaunch, ArgumentsOfEachKind_ReachTheKernel) {
  HONE_OKAY(prepare_load(device_, 1, error));
  hone_artifact* artifact = load(
      "KERNEL every(const float* x, double* out, const int* far, int a, long long b, float c,\n"
      "             double d, unsigned e, unsigned long long f) {\n"
      "  EACH(i, 1) {\n"
      "    out[0] = x[1]; out[1] = a; out[2] = (double)b; out[3] = c; out[4] = d;\n"
      "    out[5] = e; out[6] = f == ~0ull ? 1 : 0; out[7] = far[0];\n"
      "  }\n"
      "}\n",
      {"every"});
  hone_kernel* every =
      kernel(artifact, "every", {kBuffer, kBuffer, kAddress, kI32, kI64, kF32, kF64, kI32, kI64});
  hone_buffer* far = another_buffer();
  write<float>(256, {0, 1.5f});
  write<int>(8, {-17}, far);
  const std::int64_t large = -(std::int64_t{1} << 40) - 5;
  expect_started(every, {256, 4096, table().buffer_address(far) + 8, bits_of<std::int32_t>(-3),
                         bits_of(large), bits_of(-0.25f), bits_of(1e-300),
                         bits_of<std::uint32_t>(4000000000u), bits_of(~std::uint64_t{0})});
  ASSERT_EQ(wait().words, "");
  EXPECT_EQ(read<double>(4096, 8), (std::vector<double>{1.5, -3, static_cast<double>(large), -0.25,
                                                        1e-300, 4000000000.0, 1, -17}));
}

TEST_P(BackendLaunch, MaximumArguments_ArePassed) {
  std::string parameters, sum;
  std::vector<std::uint32_t> kinds{kBuffer};
  std::vector<std::uint64_t> values{64};
  int expected = 0;
  for (unsigned i = 1; i < HONE_ARGUMENTS_MAX; ++i) {
    const std::string name = "a" + std::to_string(i);
    parameters += ", int " + name;
    sum += (i > 1 ? " + " : "") + name + " * " + std::to_string(i);
    kinds.push_back(kI32);
    values.push_back(bits_of<std::int32_t>(static_cast<std::int32_t>(1u << i)));
    expected += static_cast<int>((1u << i) * i);
  }
  hone_artifact* artifact =
      load("KERNEL sum(int* out" + parameters + ") { EACH(i, 1) *out = " + sum + "; }\n", {"sum"});
  expect_started(kernel(artifact, "sum", kinds), values);
  ASSERT_EQ(wait().words, "");
  EXPECT_EQ(read<int>(64, 1), std::vector<int>{expected});
}

/// No wait between them: how inputs are withheld from work that was launched before.
TEST_P(BackendLaunch, Launch_RunsInOrder) {
  hone_artifact* artifact = add();
  hone_kernel* plus = kernel(artifact, "add", kAddKinds);
  hone_kernel* clear = kernel(artifact, "clear", {kBuffer, kI32});
  void* rows = nullptr;
  HONE_OKAY(pin_memory(device_, 4096, &rows, error));
  for (int round = 1; round <= 3; ++round) {
    write(0, std::vector<int>(1024, round));
    expect_started(plus, {0, 8192, 1024, 10});
    write(0, std::vector<int>(1024, -1));
    HONE_OKAY(copy_buffer(buffer_, 65536, buffer_, 8192, 4096, error));
    expect_started(clear, {8192, 1024});
    HONE_OKAY(read_rows(buffer_, 65536, 2048, 128, 2, rows, error));
    std::vector<int> got(64);
    std::memcpy(got.data(), rows, 256);
    ASSERT_EQ(got, std::vector<int>(64, round + 10));
    ASSERT_EQ(read<int>(8192, 1024), std::vector<int>(1024, 0));
  }
}

TEST_P(BackendLaunch, Launch_UsesTheGivenBuffer) {
  hone_kernel* plus = kernel(add(), "add", kAddKinds);
  ASSERT_NE(plus, nullptr);
  hone_buffer* other = another_buffer(16384);
  write<int>(0, {1, 2});
  write<int>(128, {5, 6}, other);
  const std::vector<std::uint64_t> here{0, 4096, 2, 1}, there{128, 8192, 2, 2};
  ASSERT_EQ(launch(plus, shape(here)).words, "");
  const hone_launch one = shape(there);
  HONE_OKAY(launch(plus, other, &one, error));
  ASSERT_EQ(wait().words, "");
  EXPECT_EQ(read<int>(4096, 3), (std::vector<int>{2, 3, 0}));
  EXPECT_EQ(read<int>(8192, 3, other), (std::vector<int>{7, 8, 0}));
  EXPECT_EQ(read<int>(8192, 2), (std::vector<int>{0, 0}));
}

TEST_P(BackendLaunch, UnknownEntryOrInvalidArguments_AreRefused) {
  hone_artifact* artifact = add();
  ASSERT_NE(artifact, nullptr);
  const Said gone = get_kernel(artifact, "gone", {});
  EXPECT_EQ(gone.code, HONE_NOT_FOUND);
  EXPECT_THAT(gone.words, HasSubstr("'gone'"));
  for (const std::uint32_t kind : {6u, 77u, ~0u}) {
    const Said strange = get_kernel(artifact, "add", {kBuffer, kind, kI32, kI32});
    EXPECT_EQ(strange.code, HONE_INVALID_ARGUMENT);
    EXPECT_EQ(strange.words, "argument kind " + std::to_string(kind));
  }
  const Said many = get_kernel(artifact, "add", std::vector<std::uint32_t>(17, kI32));
  EXPECT_EQ(many.code, HONE_INVALID_ARGUMENT);
  EXPECT_EQ(many.words, "17 arguments, at most 16 allowed");
  // Kinds that are not the entry's are refused where the device can tell, and for no other reason.
  const Said few = get_kernel(artifact, "add", {kBuffer});
  EXPECT_TRUE(few.code == HONE_OK || few.code == HONE_INVALID_ARGUMENT) << few.words;
  expect_started(kernel(artifact, "add", kAddKinds), {0, 64, 1, 3});
  EXPECT_EQ(read<int>(64, 1), std::vector<int>{3});
}

TEST_P(BackendLaunch, WrongNumberOfArguments_IsRefused) {
  hone_kernel* plus = kernel(add(), "add", kAddKinds);
  ASSERT_NE(plus, nullptr);
  for (const std::vector<std::uint64_t>& values :
       {std::vector<std::uint64_t>{0, 64}, std::vector<std::uint64_t>{0, 64, 1, 3, 4}}) {
    const Said got = launch(plus, shape(values));
    EXPECT_EQ(got.code, HONE_INVALID_ARGUMENT);
    EXPECT_EQ(got.words, std::to_string(values.size()) + " arguments, the kernel takes 4");
  }
  expect_started(plus, {0, 64, 1, 3});
  EXPECT_EQ(read<int>(64, 1), std::vector<int>{3});
}

TEST_P(BackendLaunch, TwoArtifacts_TheRightOneRuns) {
  hone_artifact* loaded[3];
  hone_kernel* kernels[3];
  for (int i = 0; i < 3; ++i) {
    loaded[i] =
        load("KERNEL f(int* x) { EACH(i, 1) *x = " + std::to_string(i + 5) + "; }\n", {"f"});
  }
  for (int i = 0; i < 3; ++i) kernels[i] = kernel(loaded[i], "f", {kBuffer});
  for (const int i : {2, 0, 1}) expect_started(kernels[i], {static_cast<std::uint64_t>(i) * 4});
  EXPECT_EQ(read<int>(0, 3), (std::vector<int>{5, 6, 7}));
  unload(loaded[0]);
  expect_started(kernels[1], {64});
  expect_started(kernels[2], {68});
  EXPECT_EQ(read<int>(64, 2), (std::vector<int>{6, 7}));
}

TEST_P(BackendLaunch, TemplateInstance_RunsOnBlocksOfThreads) {
  if (!starts_blocks()) GTEST_SKIP() << "limits.block_threads is 0: entries are C names";
  hone_artifact* artifact = load(
      "template <int N> __global__ void turned(int* x) {\n"
      "  extern __shared__ int kept[];\n"
      "  kept[threadIdx.x * 256] = threadIdx.x * N + blockIdx.x;\n"
      "  __syncthreads();\n"
      "  x[blockIdx.x * 32 + threadIdx.x] = kept[(31 - threadIdx.x) * 256];\n"
      "}\n",
      {"turned<7>"});
  hone_kernel* turned = kernel(artifact, "turned<7>", {kBuffer});
  ASSERT_NE(turned, nullptr);
  const std::vector<std::uint64_t> values{0};
  hone_launch two = shape(values, 2);
  two.shared_bytes = 32 * 1024;
  ASSERT_EQ(launch(turned, two).words, "");
  ASSERT_EQ(wait().words, "");
  EXPECT_EQ(read<int>(0, 2), (std::vector<int>{217, 210}));
  EXPECT_EQ(read<int>(128, 2), (std::vector<int>{218, 211}));
}

TEST_P(BackendLaunch, LaunchBeyondTheLimits_IsRefused) {
  if (!starts_blocks()) GTEST_SKIP() << "limits.block_threads is 0: shapes are ignored";
  hone_kernel* plus = kernel(add(), "add", kAddKinds);
  ASSERT_NE(plus, nullptr);
  const std::vector<std::uint64_t> values{0, 4096, 1, 3};
  const auto threads = static_cast<unsigned>(limit("block_threads"));
  const Said many = launch(plus, shape(values, 1, threads * 2));
  EXPECT_EQ(many.code, HONE_INVALID_ARGUMENT);
  EXPECT_THAT(many.words, HasSubstr("kernel 'add'"));
  EXPECT_EQ(launch(plus, shape(values, 0)).code, HONE_INVALID_ARGUMENT);
  EXPECT_EQ(launch(plus, shape(values, 1, 0)).code, HONE_INVALID_ARGUMENT);
  hone_launch much = shape(values);
  much.shared_bytes = static_cast<std::uint32_t>(limit("shared_bytes")) + 1024;
  const Said large = launch(plus, much);
  EXPECT_EQ(large.code, HONE_RESOURCE_EXHAUSTED);
  EXPECT_THAT(large.words, HasSubstr(std::to_string(much.shared_bytes)));
  expect_started(plus, values);
  ASSERT_EQ(wait().words, "");
  EXPECT_EQ(read<int>(4096, 2), (std::vector<int>{3, 0}));
}

INSTANTIATE_TEST_SUITE_P(Backends, BackendLaunch, testing::ValuesIn(tested()), tested_name);

}  // namespace
}  // namespace hone::test
