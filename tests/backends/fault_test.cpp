// Faults of submitted code: how they are reported, and the state of the device afterwards.
#include <sys/wait.h>

#include <cstdlib>

#include "backends/tested.hpp"

namespace hone::test {
namespace {

constexpr int kTold = 0, kNotTold = 3;

class BackendFault : public OnDevice {
 protected:
  hone_kernel* faulty(const std::string& statement) {
    return kernel(load("KERNEL f(int* x) { EACH(i, 1) { " + statement + "; } }\n", {"f"}), "f",
                  {HONE_ARGUMENT_BUFFER});
  }
  /// In a process of its own, which is of no use afterwards.
  [[noreturn]] void run(hone_kernel* f, const char* then) {
    std::fprintf(stderr, "begun, ");
    Said got = launch(f, shape({0}));
    if (got.code == HONE_OK) got = wait();
    bool told = got.code == HONE_FAILED_PRECONDITION && !got.words.empty();
    std::fprintf(stderr, "told: %s, ", got.words.c_str());
    // It stays told, and the device is of no use to this process.
    told = told && wait().code == HONE_FAILED_PRECONDITION;
    const std::vector<std::uint64_t> values{0};
    const hone_launch again = shape(values);
    Said later = launch(f, again);
    if (later.code == HONE_OK) later = wait();
    told = told && later.code == HONE_FAILED_PRECONDITION && !HasFailure();
    std::fprintf(stderr, "%s\n", then);
    std::_Exit(told ? kTold : kNotTold);
  }
  void expect_fault(const std::string& statement) {
    hone_kernel* f = faulty(statement);
    ASSERT_NE(f, nullptr);
    // It runs in the process and ends it; of device code the driver tells.
    const bool host = host_code_;
    const auto ended_as_it_must = [host](int status) {
      if (!host) return WIFEXITED(status) && WEXITSTATUS(status) == kTold;
      // Sanitizers make a signal an exit status of theirs.
      return WIFSIGNALED(status) ||
             (WIFEXITED(status) && WEXITSTATUS(status) != kTold && WEXITSTATUS(status) != kNotTold);
    };
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_EXIT(run(f, "done"), ended_as_it_must, host ? "begun, " : "begun, told: .*done");
  }
};

TEST_P(BackendFault, IllegalAddress_IsReported) { expect_fault("x[1ll << 40] = 1"); }

TEST_P(BackendFault, Trap_IsReported) { expect_fault("TRAP"); }

TEST_P(BackendFault, FaultOfOneProcess_OtherProcessesKeepTheDevice) {
  hone_kernel* fine = kernel(load("KERNEL g(int* x) { EACH(i, 1) x[0] += 5; }\n", {"g"}), "g",
                             {HONE_ARGUMENT_BUFFER});
  ASSERT_NE(fine, nullptr);
  write<int>(0, {1});
  expect_fault("TRAP");
  ASSERT_EQ(launch(fine, shape({0})).words, "");
  ASSERT_EQ(wait().words, "");
  EXPECT_EQ(read<int>(0, 1), std::vector<int>{6});
  EXPECT_EQ(text_of(facts(), "architecture"), current()->architecture);
  // And one that comes after it finds the device as it was.
  EXPECT_EXIT(
      {
        write<int>(0, {3});
        const bool works = launch(fine, shape({0})).code == HONE_OK && wait().code == HONE_OK &&
                           read<int>(0, 1) == std::vector<int>{8};
        std::_Exit(works && !HasFailure() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(Backends, BackendFault, testing::ValuesIn(tested()), tested_name);

}  // namespace
}  // namespace hone::test
