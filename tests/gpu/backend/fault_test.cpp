// Faults of device code, in the words of the gpu plugins. A fault ends the context of a process, so each test runs
// in its own process. tests/backends tests that faults are reported at all.
#include "gpu/backend/fixture.hpp"

namespace hone::test {
namespace {

struct Fault {
  const char* statement;
  const char* words;
};

class GpuFault : public OnDevice {
 protected:
  void SetUp() override {}
  void TearDown() override {}

  /// Exits with 0 where the fault is told as it must be, and stays told.
  [[noreturn]] void run(const Fault& fault) {
    OnDevice::SetUp();
    hone_artifact* artifact = load_plain(
        std::string("extern \"C\" __global__ void f(int* x) { ") + fault.statement + " }\n", {"f"});
    hone_kernel* f = kernel(artifact, "f", {HONE_ARGUMENT_BUFFER});
    Said got = launch(f, shape({0}));
    if (got.code == HONE_OK) got = wait();
    const Said again = wait();
    std::fprintf(stderr, "%s | %s\n", got.words.c_str(), again.words.c_str());
    const bool told = got.code == HONE_FAILED_PRECONDITION &&
                      again.code == HONE_FAILED_PRECONDITION && !HasFailure();
    OnDevice::TearDown();
    std::_Exit(told ? 0 : 1);
  }
  void expect(const Fault& fault) {
    // A context does not cross a fork, so the process starts anew.
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_EXIT(run(fault), testing::ExitedWithCode(0), fault.words);
  }
};

TEST_P(GpuFault, IllegalAddress_IsReported) {
  expect({"x[1ll << 40] = 1;", "illegal memory access"});
}
TEST_P(GpuFault, Trap_IsReported) { expect({"__trap();", "the kernel broke off: a trap"}); }
TEST_P(GpuFault, Assertion_IsReported) {
  expect({"assert(x[0] == 1);", "an assert.. in the kernel failed"});
}
TEST_P(GpuFault, MisalignedAddress_IsReported) {
  // HIP has no error of its own for it.
  const bool nvidia = GetParam().name == "cuda";
  expect({"*(long long*)(x + 1) = 1;", nvidia ? "misaligned address" : "the kernel broke off"});
}

INSTANTIATE_TEST_SUITE_P(Vendor, GpuFault, testing::ValuesIn(vendors()), tested_name);

}  // namespace
}  // namespace hone::test
