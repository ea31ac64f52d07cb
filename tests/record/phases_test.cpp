// Runs, setup, and what a plan keeps of both.
#include <array>
#include <cstring>

#include "recorder.hpp"

namespace hone::test {
namespace {

using recorded::MemoryKind;

void begin_run() { ASSERT_EQ(driver("hone_record_run_begin"), 1); }
void end_run() { ASSERT_EQ(driver("hone_record_run_end"), 1); }
std::uint64_t task_memory(std::uint32_t argument, std::uint64_t bytes) {
  return driver<std::uint64_t>("hone_record_task_memory", argument, bytes);
}
int write_words(std::uint64_t to, const void* from, std::size_t bytes) {
  return driver("cuMemcpyHtoD_v2", static_cast<unsigned long long>(to), from, bytes);
}

RECORD_TEST(Phases, EqualRuns_GiveEqualDigestsAndPlans) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t x = task_memory(0, 4096);
  std::uint64_t digests[3];
  for (std::uint64_t& digest : digests) {
    begin_run();
    const std::uint64_t y = allocate(4096);
    EXPECT_EQ(launch(kernel, {x, y, 7}), 0);
    end_run();
    digest = driver<std::uint64_t>("hone_record_run_digest");
    unsigned long long address = y;
    EXPECT_EQ(driver("cuMemFree_v2", address), 0);
  }
  EXPECT_EQ(digests[1], digests[2]);
  const recorded::Plan plan = finish();
  ASSERT_EQ(plan.run.size(), 1u);
  EXPECT_TRUE(plan.setup.empty());
  EXPECT_EQ(plan.memories.size(), 2u);
  begin_run();
  EXPECT_EQ(launch(kernel, {x, allocate(4096), 8}), 0);
  EXPECT_NE(driver<std::uint64_t>("hone_record_run_digest"), digests[2]);
}

/// A kernel with a struct of 32 bytes. It has an instruction that reads the first four bytes: ULDC c[0x0][0x210].
void* load_kernel_that_reads_four_bytes() {
  constexpr std::uint64_t kUniformLoad = 0xab9;
  std::string code(64, '\0');
  const std::uint64_t instruction = kUniformLoad | std::uint64_t{0x210 / 4} << 40;
  std::memcpy(code.data(), &instruction, sizeof instruction);
  return load_kernel({.parameter_bytes = {32}, .code = code});
}

/// The digest of a run that starts the kernel with this struct.
std::uint64_t digest_with(void* kernel, std::array<std::uint64_t, 4> values) {
  begin_run();
  void* parameters[] = {values.data()};
  void **const all = parameters, **const none = nullptr;
  void* const stream = nullptr;
  EXPECT_EQ(driver("cuLaunchKernel", kernel, 1u, 1u, 1u, 32u, 1u, 1u, 0u, stream, all, none), 0);
  return driver<std::uint64_t>("hone_record_run_digest");
}

RECORD_TEST(Phases, LeftoversInAStruct_DoNotChangeTheDigest) {
  begin();
  void* const kernel = load_kernel_that_reads_four_bytes();
  EXPECT_EQ(digest_with(kernel, {1, 0, 0, 77}), digest_with(kernel, {1, 0, 0x5600000000000, 78}));
}

RECORD_TEST(Phases, NumberBesidePadding_CountsWhateverThePaddingHas) {
  begin();
  void* const kernel = load_kernel_that_reads_four_bytes();
  constexpr std::uint64_t kMinusInfinity = 0xff800000, kNumber = 0x3f800000;
  constexpr std::uint64_t kPadding = 0x7f1200000000;  // with the number: an address of a library
  const std::uint64_t digest = digest_with(kernel, {kMinusInfinity, 0, 0, 0});
  EXPECT_EQ(digest_with(kernel, {kMinusInfinity | kPadding, 0, 0, 0}), digest);
  EXPECT_NE(digest_with(kernel, {kNumber | kPadding, 0, 0, 0}), digest);
}

/// Adds an autotuned kernel with this number of configurations to the run.
int add_tuned(int configurations) {
  std::string list;
  for (int i = 0; i < configurations; ++i)
    list += (i == 0 ? "\"block: " : ", \"block: ") + std::to_string(i) + "\"";
  const std::string kernel = R"({"key": "", "configurations": [)" + list + R"(], "left_out": []})";
  return driver("hone_record_autotuned", kernel.c_str());
}
int begin_configuration(std::uint32_t tuned, std::uint32_t number) {
  return driver("hone_record_configuration", tuned, number);
}

RECORD_TEST(Phases, ConfigurationsOfAnAutotunedKernel_AreStepsOfTheRun) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t x = task_memory(0, 64);
  begin_run();
  EXPECT_EQ(launch(kernel, {x, allocate(64), 0}), 0);
  EXPECT_EQ(add_tuned(2), 1);  // it starts nothing
  EXPECT_EQ(add_tuned(3), 2);
  for (const std::uint32_t number : {0u, 1u, 2u}) {
    EXPECT_EQ(begin_configuration(2, number), 1);
    EXPECT_EQ(launch(kernel, {x, x, number}), 0);
  }
  EXPECT_EQ(begin_configuration(0, 0), 1);
  EXPECT_EQ(launch(kernel, {x, x, 9}), 0);
  end_run();
  const recorded::Plan plan = finish();
  ASSERT_EQ(plan.tuned.size(), 1u);
  EXPECT_EQ(plan.tuned[0].configurations,
            (std::vector<std::string>{"block: 0", "block: 1", "block: 2"}));
  ASSERT_EQ(plan.run.size(), 5u);
  EXPECT_EQ(plan.run[0].tuned, 0u);
  for (const std::uint32_t number : {0u, 1u, 2u}) {
    EXPECT_EQ(plan.run[1 + number].tuned, 1u);
    EXPECT_EQ(plan.run[1 + number].configuration, number);
  }
  EXPECT_EQ(plan.run[4].tuned, 0u);
}

RECORD_TEST(Phases, ConfigurationsOfARunThatBecomesSetup_AreTheFirstOnly) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t state = allocate(64), x = task_memory(0, 64);
  begin_run();
  EXPECT_EQ(add_tuned(2), 1);
  for (const std::uint32_t number : {0u, 1u}) {
    EXPECT_EQ(begin_configuration(1, number), 1);
    EXPECT_EQ(launch(kernel, {state, 0, number}), 0);
  }
  EXPECT_EQ(begin_configuration(0, 0), 1);
  end_run();
  begin_run();
  EXPECT_EQ(launch(kernel, {state, x, 7}), 0);
  end_run();
  const recorded::Plan plan = finish();
  EXPECT_TRUE(plan.tuned.empty());
  ASSERT_EQ(plan.setup.size(), 1u);
  EXPECT_EQ(plan.setup[0].tuned, 0u);
}

/// Another configuration may leave the memory as it was.
RECORD_TEST(Phases, MemoryThatOnlyAConfigurationOverwrites_NeedsItsSetup) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t buffer = allocate(64), x = task_memory(0, 64);
  const std::uint64_t words[8] = {1, 2, 3};
  EXPECT_EQ(write_words(buffer, words, sizeof words), 0);
  begin_run();
  EXPECT_EQ(add_tuned(2), 1);
  EXPECT_EQ(begin_configuration(1, 0), 1);
  const std::size_t count = 64;
  unsigned long long address = buffer;
  EXPECT_EQ(driver("cuMemsetD8_v2", address, static_cast<unsigned char>(0), count), 0);
  EXPECT_EQ(launch(kernel, {buffer, x, 0}), 0);
  EXPECT_EQ(begin_configuration(1, 1), 1);
  EXPECT_EQ(launch(kernel, {buffer, x, 1}), 0);
  EXPECT_EQ(begin_configuration(0, 0), 1);
  end_run();
  EXPECT_EQ(finish().setup.size(), 1u);
}

RECORD_TEST(Phases, UnknownConfiguration_IsAProblem) {
  begin();
  begin_run();
  EXPECT_EQ(add_tuned(2), 1);
  EXPECT_EQ(begin_configuration(1, 1), 1);
  EXPECT_EQ(begin_configuration(1, 2), 0);
  EXPECT_EQ(problem(), "work of an autotuned kernel or configuration that the run does not have");
}

RECORD_TEST(Phases, TooManyAutotunedKernels_AreAProblem) {
  begin();
  begin_run();
  for (int number = 1; number <= recorded::kTunedMax; ++number) EXPECT_EQ(add_tuned(2), number);
  EXPECT_EQ(add_tuned(2), 0);
  EXPECT_EQ(problem(), "more than 16 autotuned kernels");
}

RECORD_TEST(Phases, TooManyConfigurations_AreAProblem) {
  begin();
  begin_run();
  EXPECT_EQ(add_tuned(128), 1);
  EXPECT_EQ(add_tuned(129), 0);
  EXPECT_EQ(problem(), "more than 128 configurations of an autotuned kernel");
}

/// Launches a kernel with one struct of `words`; those at `addresses` are the address `x`. An instruction names each
/// word.
std::uint64_t digest_with(std::vector<std::uint32_t> words,
                          const std::vector<std::size_t>& addresses, std::uint64_t x) {
  const std::size_t bytes = words.size() * 4;
  std::string code(words.size() * 16, '\0');
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint64_t instruction = std::uint64_t{0x210 / 4 + i} << 40;
    std::memcpy(&code[16 * i], &instruction, sizeof instruction);
  }
  static void* const kernel =
      load_kernel({.parameter_bytes = {static_cast<std::uint32_t>(bytes)}, .code = code});
  for (const std::size_t at : addresses) std::memcpy(&words[at], &x, sizeof x);
  begin_run();
  void* parameters[] = {words.data()};
  void **const all = parameters, **const none = nullptr;
  void* const stream = nullptr;
  EXPECT_EQ(driver("cuLaunchKernel", kernel, 1u, 1u, 1u, 32u, 1u, 1u, 0u, stream, all, none), 0);
  end_run();
  return driver<std::uint64_t>("hone_record_run_digest");
}

/// torch's OffsetCalculator for two operands and two dimensions of 12 and 64, addresses, and a number behind them.
RECORD_TEST(Phases, DimensionsThatAnOffsetCalculatorLacks_DoNotChangeTheDigest) {
  begin();
  const std::uint64_t x = task_memory(0, 4096);
  constexpr std::size_t kStrides = 1 + 75, kAddresses = kStrides + 50, kScalar = kAddresses + 4;
  std::vector<std::uint32_t> words(kScalar + 2);
  words[0] = 2;
  const std::uint32_t divisors[] = {12, 1431655766, 4, 64, 1, 6};
  std::copy(std::begin(divisors), std::end(divisors), &words[1]);
  words[kStrides] = words[kStrides + 2] = 4;
  const std::vector<std::size_t> addresses{kAddresses, kAddresses + 2};
  const auto with = [&](std::size_t at, std::uint32_t value) {
    std::vector<std::uint32_t> changed = words;
    changed[at] = value;
    return digest_with(changed, addresses, x);
  };
  const std::uint64_t digest = with(0, 2);
  for (const std::size_t unused : {std::size_t{7}, std::size_t{75}, kStrides + 4, kStrides + 49})
    EXPECT_EQ(with(unused, 77), digest) << unused;
  for (const std::size_t used : {std::size_t{1}, std::size_t{3}, kStrides, kStrides + 3, kScalar})
    EXPECT_NE(with(used, 77), digest) << used;
  words[2] = 5;  // a wrong magic number: it is another struct
  EXPECT_NE(with(75, 77), with(75, 78));
  words[2] = 1431655766;
  EXPECT_NE(digest_with(words, {kAddresses}, x), digest);
}

/// torch's TensorInfo with two dimensions.
RECORD_TEST(Phases, DimensionsThatATensorInfoLacks_DoNotChangeTheDigest) {
  begin();
  const std::uint64_t x = task_memory(0, 4096);
  std::vector<std::uint32_t> words(2 + 25 + 25 + 2);
  words[2] = words[3] = 8;
  words[52] = 2;
  const auto with = [&](std::size_t at, std::uint32_t value) {
    std::vector<std::uint32_t> changed = words;
    changed[at] = value;
    return digest_with(changed, {0}, x);
  };
  const std::uint64_t digest = with(2, 8);
  for (const std::size_t unused : {4u, 26u, 29u, 51u, 53u})
    EXPECT_EQ(with(unused, 77), digest) << unused;
  for (const std::size_t used : {2u, 3u, 27u, 28u, 52u}) EXPECT_NE(with(used, 5), digest) << used;
}

RECORD_TEST(Phases, SetupThatARunReads_IsKept) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t used = allocate(64), unused = allocate(64), x = task_memory(0, 64);
  const std::uint64_t words[8] = {1, 2, 3};
  EXPECT_EQ(write_words(used, words, sizeof words), 0);
  EXPECT_EQ(write_words(unused, words, sizeof words), 0);
  begin_run();
  EXPECT_EQ(launch(kernel, {used, x, 0}), 0);
  end_run();
  const recorded::Plan plan = finish();
  ASSERT_EQ(plan.setup.size(), 1u);
  const auto& write = std::get<recorded::Write>(plan.setup[0].work);
  EXPECT_EQ(write.bytes.size(), sizeof words);
  EXPECT_EQ(plan.memories[write.to.memory].kind, MemoryKind::kPrivate);
  EXPECT_EQ(plan.memories[write.to.memory].last, 0u);
}

RECORD_TEST(Phases, MemoryThatARunOverwrites_NeedsNoSetup) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t buffer = allocate(64), x = task_memory(0, 64);
  EXPECT_EQ(launch(kernel, {buffer, x, 0}), 0);
  begin_run();
  const std::size_t count = 64;
  unsigned long long address = buffer;
  EXPECT_EQ(driver("cuMemsetD8_v2", address, static_cast<unsigned char>(0), count), 0);
  EXPECT_EQ(launch(kernel, {buffer, x, 0}), 0);
  end_run();
  EXPECT_TRUE(finish().setup.empty());
}

RECORD_TEST(Phases, StateMadeFromAnInput_IsAProblem) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t state = allocate(64), x = task_memory(0, 64);
  EXPECT_EQ(launch(kernel, {state, x, 0}), 0);
  begin_run();
  EXPECT_EQ(launch(kernel, {state, x, 0}), 0);
  end_run();
  const char* bytes = nullptr;
  std::uint64_t size = 0;
  EXPECT_EQ(driver("hone_record_finish", &bytes, &size), 0);
  EXPECT_EQ(problem(), "keeps state made from an input or a parameter between calls");
}

RECORD_TEST(Phases, ResultOfThisRun_BecomesMemoryOfTheTask) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t x = task_memory(0, 64), before = allocate(64);
  begin_run();
  const std::uint64_t y = allocate(64);
  EXPECT_EQ(launch(kernel, {x, y, 0}), 0);
  const std::uint64_t size = 64, part = 32;
  const std::uint32_t argument = 1;
  EXPECT_EQ(driver("hone_record_result", before, size, argument), 0) << "of an earlier run";
  EXPECT_EQ(driver("hone_record_result", y, part, argument), 0) << "a part of it";
  EXPECT_EQ(driver("hone_record_result", y, size, argument), 1);
  end_run();
  const recorded::Plan plan = finish();
  ASSERT_EQ(plan.memories.size(), 2u);
  EXPECT_EQ(plan.memories[1].kind, MemoryKind::kTask);
  EXPECT_EQ(plan.memories[1].argument, 1u);
}

RECORD_TEST(Phases, ResultThatTheNextRunReads_IsAProblem) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t x = task_memory(0, 64), size = 64;
  begin_run();
  const std::uint64_t y = allocate(64);
  EXPECT_EQ(launch(kernel, {x, y, 0}), 0);
  EXPECT_EQ(driver("hone_record_result", y, size, std::uint32_t{1}), 1);
  end_run();
  begin_run();
  EXPECT_EQ(launch(kernel, {y, allocate(64), 0}), 0);
  end_run();
  const char* bytes = nullptr;
  std::uint64_t count = 0;
  EXPECT_EQ(driver("hone_record_finish", &bytes, &count), 0);
  EXPECT_EQ(problem(), "keeps state made from an input or a parameter between calls");
}

RECORD_TEST(Phases, WorkOnAnotherStream_IsOrderedByEventsAndByTheHost) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t x = task_memory(0, 64), y = task_memory(1, 64);
  void *stream = nullptr, *event = nullptr;
  EXPECT_EQ(driver("cuStreamCreate", &stream, 1u), 0);
  EXPECT_EQ(driver("cuEventCreate", &event, 0u), 0);
  void* const default_stream = nullptr;
  begin_run();
  EXPECT_EQ(launch(kernel, {x, y, 0}), 0);
  EXPECT_EQ(driver("cuEventRecord", event, default_stream), 0);
  EXPECT_EQ(driver("cuStreamWaitEvent", stream, event, 0u), 0);
  EXPECT_EQ(launch(kernel, {x, y, 1}, stream), 0);
  EXPECT_EQ(driver("cuStreamSynchronize", stream), 0);
  EXPECT_EQ(launch(kernel, {x, y, 2}), 0);
  end_run();
  const recorded::Plan plan = finish();
  EXPECT_EQ(plan.streams, 2u);
  std::string kinds;
  for (const recorded::Step& step : plan.run)
    kinds += std::string(1, "LCWFORw"[step.work.index()]) + std::to_string(step.stream) + " ";
  EXPECT_EQ(kinds.substr(0, 23), "L0 R0 w1 L1 R1 w0 R0 w1") << kinds;
  EXPECT_EQ(kinds.substr(kinds.size() - 3), "L0 ") << kinds;
}

RECORD_TEST(Phases, ABlockingStream_IsTheDefaultStream) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t x = task_memory(0, 64), y = task_memory(1, 64);
  void* stream = nullptr;
  EXPECT_EQ(driver("cuStreamCreate", &stream, 0u), 0);
  begin_run();
  EXPECT_EQ(launch(kernel, {x, y, 0}, stream), 0);
  end_run();
  EXPECT_EQ(finish().streams, 1u);
}

/// The call of an operator that multiplies a matrix by itself.
std::string product_of(std::uint64_t x, std::uint64_t y) {
  const auto tensor = [](std::uint64_t address) {
    return R"({"address": )" + std::to_string(address) +
           R"(, "dtype": "float32", "sizes": [4, 4], "strides": [4, 1]})";
  };
  return R"({"name": "aten.mm", "arguments": [{"tensor": 0}, {"tensor": 0}, -Infinity],)"
         R"( "keywords": {}, "results": [1], "tensors": [)" +
         tensor(x) + ", " + tensor(y) + "]}";
}

RECORD_TEST(Phases, OperatorOfAnAutotunedKernel_IsAProblem) {
  begin();
  const std::uint64_t x = task_memory(0, 64);
  begin_run();
  EXPECT_EQ(add_tuned(2), 1);
  EXPECT_EQ(begin_configuration(1, 0), 1);
  driver("hone_record_operator", product_of(x, allocate(64)).c_str());
  EXPECT_EQ(problem(), "an autotuned kernel calls an operator of a vendor's library");
}

RECORD_TEST(Phases, AnOperator_IsAStepWithItsTensors) {
  begin();
  const std::uint64_t x = task_memory(0, 64);
  begin_run();
  const std::uint64_t y = allocate(64);
  const std::string call = product_of(x, y);
  EXPECT_EQ(driver("hone_record_operator", call.c_str()), 1) << problem();
  end_run();
  const recorded::Plan plan = finish();
  ASSERT_EQ(plan.run.size(), 1u);
  const auto& step = std::get<recorded::Operator>(plan.run[0].work);
  EXPECT_EQ(step.name, "aten.mm");
  ASSERT_EQ(step.tensors.size(), 2u);
  EXPECT_EQ(step.tensors[1].sizes, (std::vector<std::int64_t>{4, 4}));
}

RECORD_TEST(Phases, TooManySteps_AreAProblem) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t x = task_memory(0, 64), y = task_memory(1, 64);
  begin_run();
  for (std::int64_t i = 0; i <= recorded::kStepsMax; ++i) EXPECT_EQ(launch(kernel, {x, y, 0}), 0);
  EXPECT_EQ(problem(), "more than 16384 steps");
}

RECORD_TEST(Phases, MuchSetupThatIsFreedAgain_IsForgotten) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t x = task_memory(0, 64);
  for (std::int64_t i = 0; i < 3 * recorded::kStepsMax; ++i) {
    unsigned long long buffer = allocate(64);
    EXPECT_EQ(launch(kernel, {buffer, x, 0}), 0);
    EXPECT_EQ(driver("cuMemFree_v2", buffer), 0);
  }
  EXPECT_EQ(problem(), "");
}

}  // namespace
}  // namespace hone::test
