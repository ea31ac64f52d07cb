// What device code must not do, as the plugin tells it. A fault ends the context of a process, so
// each runs in its own.
#include "gpu/backend/fixture.hpp"

namespace hone::test {
namespace {

struct Fault {
  const char* name;
  const char* statement;
  const char* words;
};

class GpuFault : public OnDevice, public testing::WithParamInterface<Fault> {
 protected:
  void SetUp() override {}
  void TearDown() override {}

  /// Exits with 0 where the fault is told as it must be, and stays told.
  [[noreturn]] void run() {
    OnDevice::SetUp();
    load(std::string("extern \"C\" __global__ void f(int* x) { ") + GetParam().statement + " }\n",
         {"f"});
    hone_kernel* f = kernel("f", {HONE_ARGUMENT_BUFFER});
    Said got = launch(f, shape({0}));
    if (got.code == HONE_OK) got = wait();
    const Said again = wait();
    std::fprintf(stderr, "%s | %s\n", got.words.c_str(), again.words.c_str());
    const bool told = got.code == HONE_FAILED_PRECONDITION &&
                      again.code == HONE_FAILED_PRECONDITION && !HasFailure();
    OnDevice::TearDown();
    std::_Exit(told ? 0 : 1);
  }
};

TEST_P(GpuFault, IsTheSubmissionsAndStays) {
  // A context does not cross a fork, so the process starts anew.
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), GetParam().words);
}

INSTANTIATE_TEST_SUITE_P(
    Each, GpuFault,
    testing::Values(Fault{"IllegalAddress", "x[1ll << 40] = 1;", "illegal memory access"},
                    Fault{"Trap", "__trap();", "the kernel broke off: a trap"},
                    Fault{"Assertion", "assert(x[0] == 1);", "an assert.. in the kernel failed"},
                    Fault{"Misaligned", "*(long long*)(x + 1) = 1;", "misaligned address"}),
    [](const testing::TestParamInfo<Fault>& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace hone::test
