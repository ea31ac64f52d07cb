// Profiles of kernels with one planted fault each: the first finding names the fault. The compiler's reports and the times are
// stored files, which tests/gpu/planted_faults.py wrote on a device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "datasets/open_tasks.hpp"
#include "examine/findings.hpp"
#include "places.hpp"

namespace hone {
namespace {

using testing::ContainsRegex;
using testing::Not;

std::filesystem::path faults() { return test::source_dir() / "tests/gpu/faults"; }

struct Case {
  std::string kernel, task, source, first;
};

std::string read(const std::filesystem::path& path) {
  const auto text = read_file(path, std::size_t{1} << 20);
  EXPECT_TRUE(text.ok()) << text.error().message;
  return text.ok() ? *text : "";
}

Value figures_of(const std::string& kernel) {
  const auto all = from_json(read(faults() / "reports/figures.json"));
  EXPECT_TRUE(all.ok());
  const Value* found = all.ok() ? all->find(kernel) : nullptr;
  EXPECT_NE(found, nullptr) << kernel;
  return found != nullptr ? *found : Value::map();
}

/// The first finding, from the stored report and the stored time of the kernel.
std::string first_finding_of(const Case& one) {
  const bool is_shipped = one.task != "powers";
  const auto dataset = open_tasks(is_shipped ? shipped_tasks() : faults() / "tasks");
  EXPECT_TRUE(dataset.ok());
  const auto whole = (*dataset)->get(one.task);
  EXPECT_TRUE(whole.ok()) << one.task;
  const auto task = task_for_backend(*whole, "cuda");
  EXPECT_TRUE(task.ok());
  const auto plan = parse_plan(read(one.source), *task, task->entry);
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  const std::filesystem::path report = faults() / "reports" / one.kernel;
  const Value figures = figures_of(one.kernel);
  Verdict verdict;
  verdict.outcome = Outcome::kCorrect;
  verdict.speedup = Speedup{};
  verdict.speedup->time_us = figures.find("time_us")->as_double();
  verdict.speedup->baseline_us = figures.find("baseline_us")->as_double();
  const ProfileInput input = {
      .task = *task,
      .verdict = verdict,
      .device = Value::map({{"multiprocessors", 132},
                            {"dram_bytes_per_second", *figures.find("peak_bytes_per_second")},
                            {"flops_per_second_max",
                             Value::map({{"f32", *figures.find("peak_flops_per_second")}})}}),
      .code = read_code_report(read(report.string() + ".ptx"), read(report.string() + ".ptxas"),
                               std::filesystem::path(one.source).filename().string()),
      .plan = &*plan};
  EXPECT_TRUE(input.code.left_out.empty()) << one.kernel;
  const auto findings = profile_findings(input, profile_figures(input), 3);
  return findings.empty() ? "" : findings[0];
}

Case planted(const std::string& kernel, const std::string& task, const std::string& first) {
  return {kernel, task, (faults() / (kernel + ".cu")).string(), first};
}

std::vector<Case> planted_faults() {
  return {
      planted("uncoalesced", "add_relu",
              "The load at line 9 is not coalesced: the addresses of neighbouring threads are 256 "
              "bytes apart, so a warp uses 12.5 % of each 32-byte sector"),
      planted("untiled", "matmul",
              "The innermost loop at line 11 has 8 global-memory instructions for 4 multiply-adds"),
      planted("spills", "matmul", "Kernel 'matmul' keeps spilled registers .1240 bytes"),
      planted("bank_conflicts", "rms_norm",
              "The load at line 17 of shared memory has 32-way bank conflicts: the addresses of "
              "neighbouring threads are 128 bytes apart"),
      planted("few_blocks", "layer_norm",
              "A launch has 16 blocks of 1024 threads; the device has 132 multiprocessors"),
      planted("launch_bound", "powers",
              "in 8 launches, [0-9.]+ µs each: starting kernels takes most of the time"),
  };
}

TEST(PlantedFaults, KernelWithOneFault_FirstFindingNamesIt) {
  for (const Case& one : planted_faults())
    EXPECT_THAT(first_finding_of(one), ContainsRegex(one.first)) << one.kernel;
}

/// Baselines with harmless code that resembles a fault: structures of three floats, or one small launch after large ones.
TEST(PlantedFaults, KernelsWithoutFaults_FirstFindingNamesNone) {
  for (const std::string task : {"nbody", "histogram", "prefix_sum", "rms_norm"}) {
    const std::string first = first_finding_of(
        {task + "_baseline", task, (shipped_tasks() / task / "baseline.cu").string(), ""});
    for (const char* fault : {"coalesced", "bank conflicts", "spilled", "idle", "starting kernels",
                              "global-memory instructions"})
      EXPECT_EQ(first.find(fault), std::string::npos) << task << ": " << first;
  }
}

}  // namespace
}  // namespace hone
