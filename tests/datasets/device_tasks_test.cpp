// Every shipped task for devices: its plans can be read and launched at each of its shapes, and name kernels of
// its sources.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <tuple>

#include "base/files.hpp"
#include "datasets/open_tasks.hpp"
#include "model/plan.hpp"
#include "model/verdict.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

bool is_device_source(const std::string& name) { return name.ends_with(".cu"); }

struct Which {
  std::string id, backend;
};

/// The tasks with sources for devices, for both backends that take them.
std::vector<Which> device_tasks() {
  std::vector<Which> tasks;
  for (const fs::directory_entry& entry : fs::directory_iterator(shipped_tasks())) {
    if (!fs::exists(entry.path() / "reference.cu")) continue;
    for (const char* backend : {"cuda", "hip"}) {
      tasks.push_back({entry.path().filename().string(), backend});
    }
  }
  std::sort(tasks.begin(), tasks.end(), [](const Which& a, const Which& b) {
    return std::tie(a.id, a.backend) < std::tie(b.id, b.backend);
  });
  return tasks;
}

class EachDeviceTask : public testing::TestWithParam<Which> {
 protected:
  void SetUp() override {
    const auto dataset = open_tasks(shipped_tasks());
    ASSERT_TRUE(dataset.ok()) << dataset.error().message;
    const auto whole = (*dataset)->get(GetParam().id);
    ASSERT_TRUE(whole.ok()) << whole.error().message;
    const auto seen = task_for_backend(*whole, GetParam().backend);
    ASSERT_TRUE(seen.ok()) << seen.error().message;
    task_ = *seen;
  }

  const Task& task() const { return task_; }
  const BackendSources& sources() const { return task_.backends.at(GetParam().backend); }

  /// Every shape that may be drawn, or rather the least and the largest.
  std::vector<Dims> shapes() const {
    std::vector<Dims> all = task().shown;
    all.push_back(task().timed);
    for (const HiddenShape& hidden : task().hidden) {
      Dims low, high;
      for (const auto& [dim, range] : hidden.ranges) {
        low[dim] = range.first;
        high[dim] = range.second;
      }
      all.push_back(low);
      all.push_back(high);
    }
    return all;
  }

  /// A plan can be started at every shape, and its kernels stand in the source.
  void expect_plan(const Source& source, const std::string& form, bool first_form) const {
    SCOPED_TRACE(source.name + " " + form);
    const auto plan = parse_plan(source.text, task(), task().entry, form, first_form);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    for (const PlanLaunch& launch : plan->launches) {
      const std::string name = launch.kernel.substr(0, launch.kernel.find('<'));
      EXPECT_TRUE(std::regex_search(source.text, std::regex("__global__ void " + name + "\\(")))
          << launch.kernel;
    }
    const auto kernels = plan_kernels(task(), {&*plan});
    ASSERT_TRUE(kernels.ok()) << kernels.error().message;
    for (const Dims& dims : shapes()) {
      const auto ready = ready_plan(task(), *plan, *kernels, dims, PlanLimits());
      EXPECT_TRUE(ready.ok()) << ready.error().message;
    }
  }

  Task task_;
};

TEST_P(EachDeviceTask, Plans_CanBeLaunchedAtEveryShape) {
  expect_plan(sources().reference, "reference", true);
  expect_plan(sources().reference, "exact", false);
  expect_plan(sources().baseline, "", true);
}

/// A form without launches of its own would be the default plan, of a kernel that is not there.
TEST_P(EachDeviceTask, Reference_HasLaunchesForBothForms) {
  const std::string& text = sources().reference.text;
  const std::size_t plain = text.find("// hone: plan reference\n");
  const std::size_t exact = text.find("// hone: plan exact\n");
  ASSERT_LT(plain, exact);
  ASSERT_NE(exact, std::string::npos);
  EXPECT_LT(text.find("// hone: launch ", plain), exact);
  EXPECT_NE(text.find("// hone: launch ", exact), std::string::npos);
}

/// Work that a device is bought for, and inputs of which a set of many fits its memory.
TEST_P(EachDeviceTask, TimedTensors_AreAlignedAndAtMost512MB) {
  double bytes = 0;
  for (const Tensor& tensor : task().tensors) {
    bytes += static_cast<double>(element_count(tensor, task().timed).value()) *
             static_cast<double>(dtype_size(tensor.dtype));
  }
  EXPECT_LE(bytes, 512e6);
  EXPECT_GE(task().alignment, 16);
}

TEST_P(EachDeviceTask, GoldenSubmissions_HaveAnOutcomeAReasonAndAPlan) {
  const fs::path folder = shipped_tasks() / task().id / "golden";
  std::set<std::string> kinds;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!is_device_source(name)) continue;
    SCOPED_TRACE(name);
    const std::string text = read_file(entry.path()).value();
    std::smatch first;
    const std::regex heading("^// expect: (\\w+)( speedup[<>]1)?\n// \\w[^\n]*\n");
    ASSERT_TRUE(std::regex_search(text, first, heading));
    EXPECT_TRUE(parse_outcome(first[1].str()).ok()) << first[1];
    kinds.insert(first[1].str() + first[2].str());
    expect_plan({name, text}, "", true);
  }
  if (kinds.empty()) return;  // as yet it has those of the processor only
  EXPECT_THAT(kinds, testing::IsSupersetOf({"correct speedup>1", "correct speedup<1", "wrong"}));
}

std::string name_of(const testing::TestParamInfo<Which>& info) {
  return info.param.id + "_" + info.param.backend;
}

INSTANTIATE_TEST_SUITE_P(Tasks, EachDeviceTask, testing::ValuesIn(device_tasks()), name_of);

}  // namespace
}  // namespace hone
