// Reported kernels and operators of a module, and tasks that require kernels.
#include <gtest/gtest.h>

#include "modules/module_case.hpp"

namespace hone::test {
namespace {

class ModuleWork : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("HONE_MODULES_PYTHON") == nullptr)
      GTEST_SKIP() << "HONE_MODULES_PYTHON names no interpreter";
  }

  static Verdict judged(const std::string& name, const std::string& own_kernels) {
    auto task = module_task("linear");
    EXPECT_TRUE(task) << task.error().message;
    task->own_kernels = own_kernels;
    Machine* machine = machine_without({}, "cpu.python", processor_options);
    if (machine == nullptr) return {};
    auto verdict =
        machine->judge(std::make_shared<const Task>(std::move(*task)),
                       text_of_file(kHere / "submissions" / (name + ".py")), 7, "python", "cpu");
    EXPECT_TRUE(verdict) << verdict.error().message;
    return verdict ? *verdict : Verdict();
  }
};

TEST_F(ModuleWork, CorrectModule_WorkIsCountedByName) {
  const Verdict torch = judged("model", "optional");
  ASSERT_TRUE(torch.work);
  EXPECT_TRUE(torch.work->kernels.empty());
  EXPECT_EQ(torch.work->operators.count("aten.where"), 1u);
  const Verdict triton = judged("triton_model", "optional");
  ASSERT_TRUE(triton.work);
  EXPECT_EQ(triton.work->kernels, (std::map<std::string, std::int64_t>{{"leaky", 1}}));
  EXPECT_EQ(triton.work->operators.at("aten.addmm"), 1);
  const Verdict wrapper = judged("wrapper", "optional");
  ASSERT_TRUE(wrapper.work);
  EXPECT_EQ(wrapper.work->kernels.at("layer"), 1);
  for (const Verdict& verdict : {torch, triton, wrapper}) {
    EXPECT_TRUE(verdict.correct());
    EXPECT_EQ(verdict.reason, "");
  }
  EXPECT_FALSE(judged("wrong_slope", "optional").work);
}

TEST_F(ModuleWork, OnlyTorchOperators_KernelsExpected_ReasonSaysSo) {
  const Verdict torch = judged("model", "expected");
  EXPECT_TRUE(torch.correct());
  EXPECT_EQ(torch.reason,
            "it started no kernel of its own: torch's operators did the work (aten.add, aten.gt, "
            "aten.mm and 3 others)");
  EXPECT_EQ(judged("triton_model", "expected").reason, "");
}

TEST_F(ModuleWork, OnlyTorchOperators_KernelsRequired_IsRejected) {
  const Verdict torch = judged("model", "required");
  EXPECT_EQ(torch.outcome, Outcome::kRejected);
  EXPECT_EQ(torch.stage, VerdictStage::kCheck);
  EXPECT_EQ(torch.reason.substr(0, 32), "it started no kernel of its own:");
  EXPECT_TRUE(torch.work);
  EXPECT_TRUE(was_compiled(torch));
  EXPECT_TRUE(judged("triton_model", "required").correct());
  EXPECT_EQ(judged("wrong_slope", "required").outcome, Outcome::kWrong);
}

}  // namespace
}  // namespace hone::test
