// The shipped tasks on each backend: references and baselines must agree with the processor's exact results, for
// the same secret inputs and within the task's tolerance.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "backends/machine.hpp"
#include "datasets/open_tasks.hpp"
#include "judge/compare.hpp"
#include "judge/fill.hpp"
#include "places.hpp"

namespace hone::test {
namespace {

constexpr std::uint64_t kSeed = 20261121;
/// Of the tolerance: what references may use, which solutions are not compared with, and by how
/// much two backends' exact answers may differ.
constexpr double kReferenceShare = 0.6, kExactShare = 0.05;

/// A task's tensors, each in its own dtype, by position.
using Tensors = std::map<std::size_t, std::vector<char>>;

const Tested kProcessor{"cpu", "x86-64", test::build_dir() / "plugins/backends/cpu.so"};

std::vector<std::string> shipped() {
  std::vector<std::string> ids;
  for (const auto& entry : std::filesystem::directory_iterator(shipped_tasks())) {
    if (entry.is_directory()) ids.push_back(entry.path().filename().string());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

class TaskResults : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto dataset = open_tasks(shipped_tasks());
    ASSERT_TRUE(dataset.ok()) << dataset.error().message;
    const auto found = (*dataset)->get(GetParam());
    ASSERT_TRUE(found.ok()) << found.error().message;
    whole_ = *found;
  }

  /// The processor first, where it has the task, and those under test.
  std::vector<Tested> backends() const {
    std::vector<Tested> all;
    if (whole_.backends.count(kProcessor.name) != 0) all.push_back(kProcessor);
    for (const Tested& one : tested()) {
      if (one.library != kProcessor.library && whole_.backends.count(one.name) != 0)
        all.push_back(one);
    }
    return all;
  }

  /// The largest error of all outputs, as a share of the tolerance.
  static double worst(const Task& task, const Dims& dims, const Tensors& got, const Tensors& exact,
                      bool got_exact) {
    double share = 0;
    for (std::size_t t = 0; t < task.tensors.size(); ++t) {
      const Tensor& tensor = task.tensors[t];
      if (tensor.role == Role::kIn) continue;
      share = std::max(
          share,
          error_share(got.at(t).data(), exact.at(t).data(), form_dtype(tensor, got_exact),
                      static_cast<std::uint64_t>(element_count(tensor, dims).value()),
                      static_cast<std::uint64_t>(extents(tensor, dims)->back()), task.tolerance));
    }
    return share;
  }

  Task whole_;
};

TEST_P(TaskResults, DeviceResults_AgreeWithTheProcessors) {
  const std::vector<Tested> backends = this->backends();
  if (backends.empty()) GTEST_SKIP() << "the task has no source for the backend under test";
  std::vector<std::unique_ptr<Machine>> machines;
  for (const Tested& which : backends) {
    SCOPED_TRACE(which.name);
    machines.push_back(
        std::make_unique<Machine>(which, task_for_backend(whole_, which.name).value()));
    ASSERT_EQ(machines.back()->trouble(), "");
  }
  // All at a shape that each must do.
  const Dims dims = machines.back()->task().shown.front();
  for (const Family& family : whole_.families) {
    const std::uint64_t seed = derive_seed(kSeed, whole_.id + "/" + family.name);
    Tensors measure;
    for (const auto& machine : machines) {
      SCOPED_TRACE(machine->name() + ", " + family.name);
      const Task& task = machine->task();
      const auto outputs = [&](Form form) {
        auto result = machine->run(form, dims, family, seed);
        EXPECT_TRUE(result.ok()) << result.error().message;
        return result.ok() ? *result : Tensors();
      };
      const Tensors exact = outputs(Form::kExact), reference = outputs(Form::kReference),
                    baseline = outputs(Form::kBaseline);
      ASSERT_FALSE(HasFatalFailure() || exact.empty() || reference.empty() || baseline.empty());
      if (measure.empty()) measure = exact;
      EXPECT_LE(worst(task, dims, exact, measure, true), kExactShare);
      EXPECT_LE(worst(task, dims, reference, measure, false), kReferenceShare);
      EXPECT_LE(worst(task, dims, baseline, measure, false), 1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, TaskResults, testing::ValuesIn(shipped()),
                         [](const testing::TestParamInfo<std::string>& one) { return one.param; });

}  // namespace
}  // namespace hone::test
