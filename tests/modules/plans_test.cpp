// Recorded plans of cheating submissions, judged by the real evaluator (plan_case.hpp).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "model/caught.hpp"
#include "modules/plan_case.hpp"

namespace hone::test {
namespace {

using recorded::MemoryKind;
using recorded::Plan;
using testing::HasSubstr;

/// An attack by a kernel of tests/adversarial/plans, by a forged plan, or by the Python of the recording.
struct PlanAttack {
  std::string name;
  Expected expected;
  std::vector<std::string> off = {};
  Expected without = {};
  std::string before = {};                ///< the kernel of a submission before it
  std::function<void(Plan&)> forge = {};  ///< changes the plan of honest.cu
};
std::ostream& operator<<(std::ostream& out, const PlanAttack& attack) { return out << attack.name; }

const Expected kOutIsWrong = is(kWrong, "output out is wrong");
const Expected kChanged = caught_as(caught::kChangedInputs, is(kWrong, "changed the input"));
const Expected kWroteOutside = caught_as(caught::kWroteOutside, is(kWrong, "wrote outside"));
const Expected kIllegal = is(kCrashed, "illegal memory access");
Expected refused(std::string words) { return is(kRejected, std::move(words)); }

const std::vector<PlanAttack> kKernelAttacks = {
    {"honest", timed(is(kCorrect))},
    {"answer_of_the_first_call", kOutIsWrong},
    {"packed_parameters", kOutIsWrong},
    // Without fresh_inputs it wins only if a round has at most 16 sets of inputs, which depends on the speed of the machine.
    {"cache_by_input", kOutIsWrong},
    {"honest_until_timed",
     caught_as(caught::kWrongWhenTimed, kOutIsWrong),
     {"timed_answers", "physics"},
     is(kCorrect)},
    {"last_calls_outputs", kOutIsWrong, {"fresh_inputs", "poison"}, is(kCorrect)},
    {"change_the_inputs", kChanged, {"inputs_unchanged"}, is(kCorrect)},
    {"write_after", kWroteOutside, {"canaries"}, is(kCorrect)},
    {"write_before", kWroteOutside, {"canaries"}, is(kCorrect)},
    // A device may have gigabytes of the process' own memory there.
    {"look_for_answers", on_cuda() ? Expected{{kWrong, kCrashed, kTimedOut}} : kIllegal},
    {"scan_below", on_cuda() ? Expected{{kCrashed, kTimedOut}} : kIllegal},
    {"write_everywhere", {{kWrong, kCrashed, kTimedOut}}},
    // A device may keep its code where a store does not reach it, and ignore the store.
    {"write_its_code", on_cuda() ? Expected{{kCrashed, kCorrect}} : kIllegal},
    {.name = "find_a_note", .expected = timed(is(kCorrect)), .before = "leave_a_note"},
    {"never_end", is(kTimedOut, " in a check of")},
    {"trap", is(kCrashed, "the kernel broke off")},
    {"crash_when_timed", is(kCrashed, "in a measurement")},
};

recorded::Launch& launch_of(Plan& plan) { return std::get<recorded::Launch>(plan.run.at(0).work); }
recorded::Write constant_answer() {
  return {{kPlanOut, 0}, std::string(kPlanOutBytes, '\x3f'), {}};
}
recorded::Copy copy(std::uint32_t to, std::uint32_t from, std::uint64_t bytes) {
  return {{to, 0}, {from, 0}, bytes, 1, 0, 0};
}
/// A plan with an image that is not whole must not harm a process with secrets: the driver's loader runs in a candidate.
std::function<void(Plan&)> with_image(std::function<void(std::string&)> change) {
  return [change](Plan& plan) { change(plan.images[0].bytes); };
}

const std::vector<recorded::Tuned> kTwoConfigurations = {{"", {"first", "second"}, {}}};

/// Starts the plan's kernel in each of two equal configurations.
void two_configurations(Plan& plan) {
  plan.tuned = kTwoConfigurations;
  plan.run.assign(2, {0, launch_of(plan), 1, 0});
  plan.run[1].configuration = 1;
  plan.memories[kPlanNote].last = 1;
}

const std::vector<PlanAttack> kForgedPlans = {
    {.name = "do_nothing", .expected = kOutIsWrong, .forge = [](Plan& plan) { plan.run.clear(); }},
    {.name = "answer_with_constants",
     .expected = kOutIsWrong,
     .forge =
         [](Plan& plan) {
           plan.run = {{0, constant_answer()}};
         }},
    {.name = "copy_the_input",
     .expected = kOutIsWrong,
     .forge =
         [](Plan& plan) {
           plan.run = {{0, copy(kPlanOut, kPlanX, kPlanOutBytes)}};
         }},
    {.name = "compute_in_the_setup",
     .expected = refused("a tensor of the task, which no step of the setup may use"),
     .forge = [](Plan& plan) { std::swap(plan.setup, plan.run); }},
    {.name = "write_over_the_parameters",
     .expected = kChanged,
     .off = {"inputs_unchanged"},
     .without = is(kCorrect),
     .forge =
         [](Plan& plan) {
           plan.run.push_back({0, copy(kPlanParameters, kPlanX, 64)});
         }},
    // The plan says how large a tensor is, and the next tensors of the arena lie behind it.
    {.name = "enlarge_its_output",
     .expected = kWroteOutside,
     .off = {"canaries"},
     .without = is(kCorrect),
     .forge =
         [](Plan& plan) {
           plan.memories[kPlanOut].bytes = kPlanOutBytes + 4;
           plan.run.push_back({0, recorded::Fill{{kPlanOut, kPlanOutBytes}, 4, 7, 1, 1, 0}});
         }},
    {.name = "enlarge_it_beyond_the_arena",
     .expected = is(kCrashed, "of the plan has 1099511627776 bytes"),
     .forge = [](Plan& plan) { plan.memories[kPlanOut].bytes = std::uint64_t{1} << 40; }},
    {.name = "use_an_argument_too_many",
     .expected = is(kCrashed, "the plan uses argument 9"),
     .forge = [](Plan& plan) { plan.memories[kPlanOut].argument = 9; }},
    {.name = "use_the_seed_as_memory",
     .expected = is(kCrashed, "which is no buffer"),
     .forge =
         [](Plan& plan) { plan.memories[kPlanNote] = {MemoryKind::kTask, 4, 3, 0, "", 0, 0}; }},
    {.name = "keep_recorded_addresses",
     .expected = kIllegal,
     .forge =
         [](Plan& plan) {
           const std::uint64_t address = std::uint64_t{27421} << 32;
           launch_of(plan).parameters.replace(0, 8, reinterpret_cast<const char*>(&address), 8);
           launch_of(plan).addresses.erase(launch_of(plan).addresses.begin());
         }},
    {.name = "huge_private_memory",
     .expected = {{kCrashed, kOutOfMemory}, "bytes of private memory; the device has"},
     .forge = [](Plan& plan) { plan.memories[kPlanNote].bytes = std::uint64_t{1} << 40; }},
    {.name = "too_many_steps",
     .expected = refused("run: expected 0 to 16384 of them, found 16385"),
     .forge =
         [](Plan& plan) {
           plan.run.assign(16385, {0, copy(kPlanOut, kPlanX, 4)});
         }},
    {.name = "too_many_images",
     .expected = refused("images: expected 0 to 256 of them, found 300"),
     .forge =
         [](Plan& plan) {
           plan.images.assign(300, {"x", ""});
         }},
    {.name = "write_before_its_memory",
     .expected = refused("of memory 2, which has 512 bytes"),
     .forge =
         [](Plan& plan) {
           plan.run.push_back({0, recorded::Fill{{kPlanOut, 516}, 4, 7, 1, 1, 0}});
         }},
    {.name = "copy_rows_without_end",
     .expected = refused("rows, which memory of 2^40 bytes does not hold"),
     .forge =
         [](Plan& plan) {
           plan.run = {
               {0, recorded::Copy{{kPlanOut, 0}, {kPlanX, 0}, 1, std::uint64_t{1} << 39, 8, 8}}};
         }},
    {.name = "huge_grid",
     .expected = refused("grid: expected 1 to 2147483647"),
     .forge = [](Plan& plan) { launch_of(plan).grid[0] = 1u << 31; }},
    {.name = "too_few_parameters",
     .expected = is(kCrashed, "takes 32 bytes of parameters, the launch gives 24"),
     .forge =
         [](Plan& plan) {
           launch_of(plan).parameters.resize(24);
           launch_of(plan).addresses.pop_back();
         }},
    {.name = "another_architecture",
     .expected = is(kCrashed, "the plan was recorded for sm_80"),
     .forge = [](Plan& plan) { plan.architecture = "sm_80"; }},
    {.name = "image_of_text",
     .expected = is(kCrashed, "expected a whole ELF file"),
     .forge = with_image([](std::string& image) {
       image =
           ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry honest() { ret; }\n" +
           std::string(64, '\0');
     })},
    {.name = "half_an_image",
     .expected = is(kCrashed, "expected a whole ELF file"),
     .forge = with_image([](std::string& image) { image.resize(image.size() / 2); })},
    {.name = "image_with_far_sections",
     .expected = is(kCrashed, "expected a whole ELF file"),
     .forge = with_image([](std::string& image) { image.replace(0x28, 8, 8, '\x7f'); })},
    {.name = "image_with_wild_sections",
     .expected = is(kCrashed),
     .forge = with_image([](std::string& image) {
       std::fill(image.begin() + 0x100, image.end() - 0x1000, '\xee');
     })},
    {.name = "image_with_wild_headers",
     .expected = is(kCrashed),
     .forge =
         with_image([](std::string& image) { std::fill_n(image.begin() + 0x40, 512, '\xff'); })},
    {.name = "unknown_kernel",
     .expected = is(kCrashed, "kernel 'no_such_kernel'"),
     .forge = [](Plan& plan) { plan.kernels[0].name = "no_such_kernel"; }},
    {.name = "unknown_variable",
     .expected = is(kCrashed, "variable 'no_such_variable'"),
     .forge =
         [](Plan& plan) {
           plan.memories.push_back({MemoryKind::kGlobal, 8, 0, 0, "no_such_variable", 0, 0});
         }},
    {.name = "operator_without_torch",
     .expected = is(kCrashed),
     .forge =
         [](Plan& plan) {
           recorded::Operator call;
           call.name = "set_";
           call.arguments = plugin::Value::array({plugin::Value::map({{"tensor", 0}})});
           call.keywords = call.settings = plugin::Value::map();
           call.tensors = {{{kPlanOut, 0}, "float32", {8, 16}, {16, 1}}};
           plan.run.push_back({0, call});
         }},
    {.name = "nested_arguments",
     .expected = refused("nested deeper than"),
     .forge =
         [](Plan& plan) {
           recorded::Operator call;
           call.name = "mm";
           plugin::Value nested = plugin::Value::array();
           for (int i = 0; i < 100; ++i) nested = plugin::Value::array({std::move(nested)});
           call.arguments = std::move(nested);
           call.keywords = call.settings = plugin::Value::map();
           plan.run.push_back({0, call});
         }},
    // Sixteen streams that wait for each other; hone joins them at the end of a call.
    {.name = "leave_a_stream_behind",
     .expected = timed(is(kCorrect)),
     .forge =
         [](Plan& plan) {
           plan.streams = 16;
           plan.events = 1;
           plan.run.insert(plan.run.begin(), {{3, recorded::Record{0}}, {15, recorded::Wait{0}}});
           for (recorded::Step& step : plan.run) {
             if (std::holds_alternative<recorded::Launch>(step.work)) step.stream = 15;
           }
           plan.memories[kPlanNote].last = 2;
         }},
    // The process that replays the plan chooses the second configuration, because it is faster: one thread, not 128.
    {.name = "choose_a_wrong_configuration",
     .expected = kOutIsWrong,
     .forge =
         [](Plan& plan) {
           plan.tuned = kTwoConfigurations;
           plan.run.assign(40, {0, launch_of(plan), 1, 0});
           for (std::size_t i = 20; i < 40; ++i) {
             plan.run[i].configuration = 1;
             std::get<recorded::Launch>(plan.run[i].work).block = {1, 1, 1};
           }
           plan.memories[kPlanNote].last = 39;
         }},
    {.name = "two_honest_configurations",
     .expected = timed(is(kCorrect)),
     .forge = two_configurations},
    {.name = "own_kernel_in_one_configuration",
     .expected = refused("the configurations of an autotuned kernel start different kernels"),
     .forge =
         [](Plan& plan) {
           plan.tuned = kTwoConfigurations;
           plan.run[0].tuned = 1;
           plan.run.push_back({0, copy(kPlanOut, kPlanX, kPlanOutBytes), 1, 1});
           plan.memories[kPlanNote].last = 1;
         }},
    {.name = "write_to_the_terminal",
     .expected = refused("configurations: expected printable ASCII characters"),
     .forge =
         [](Plan& plan) {
           plan.tuned = {{"", {"first", "\x1b[2Jcorrect"}, {}}};
         }},
    {.name = "unknown_configuration",
     .expected = refused("configuration: found number 2, and there are 2"),
     .forge =
         [](Plan& plan) {
           plan.tuned = kTwoConfigurations;
           plan.run[0].tuned = 1;
           plan.run[0].configuration = 2;
         }},
    {.name = "begin_before_the_last_call",
     .expected = timed(is(kCorrect)),
     .forge = [](Plan& plan) { launch_of(plan).overlaps = true; }},
};

std::vector<PlanAttack> python_attacks() {
  const Expected none = refused("it has no recorded plan: the recording was not made: ");
  return {
      {"forge_the_answer", timed(is(kCorrect))},
      {"answer_twice", timed(is(kCorrect))},
      {"answer_from_a_child", none},
      {"leave_a_process", timed(is(kCorrect))},
      {"exit_early", none},
      {"kill_itself", none},
      {"announce_too_much", refused("4611686018427387904 bytes, at most")},
      {"pass_descriptors", refused("too many descriptors")},
      {"nested_answer", none},
      {"claim_a_fault",
       refused("it has no recorded plan: resource exhausted: no answer in time; the "
               "machine is too busy?[31m?outcome: correct")},
      {"values_without_end", refused("more than")},
      {"allocate_without_end", none},
      {"reach_out", refused("it has no recorded plan: nothing was found")},
      {"never_answer", refused("no answer in time")},
      {"trickle", refused("no answer in time")},
  };
}
const std::vector<PlanAttack> kPythonAttacks = python_attacks();

std::vector<PlanAttack> that_succeed(const std::vector<PlanAttack>& all) {
  std::vector<PlanAttack> chosen;
  std::copy_if(all.begin(), all.end(), std::back_inserter(chosen),
               [](const PlanAttack& one) { return !one.off.empty(); });
  return chosen;
}

const std::string kNoModule = "class ModelNew: pass";

Plan plan_of_attack(const PlanAttack& attack) {
  if (!attack.forge) return plan_of(attack.name);
  Plan plan = plan_of("honest");
  attack.forge(plan);
  return plan;
}

class Plans : public testing::TestWithParam<PlanAttack> {
 protected:
  void SetUp() override {
    if (std::getenv("HONE_MODULES_PYTHON") == nullptr ||
        std::getenv("HONE_MODULES_DEVICE") == nullptr)
      GTEST_SKIP() << "HONE_MODULES_PYTHON or HONE_MODULES_DEVICE is not set";
  }

  static Result<Verdict> judged(const std::vector<std::string>& off) {
    const PlanAttack& attack = GetParam();
    Machine* machine = plan_machine("plan", off);
    if (!attack.before.empty()) {
      const auto before = verdict_on_plan(machine, with_plan(kNoModule, plan_of(attack.before)));
      EXPECT_EQ(difference(before, is(kCorrect)), "");
    }
    auto verdict = verdict_on_plan(machine, with_plan(kNoModule, plan_of_attack(attack)));
    if (verdict) {
      EXPECT_EQ(verdict->timing, verdict->outcome == kRejected ? "call" : "device");
    }
    return verdict;
  }
};
std::string plan_name_of(const testing::TestParamInfo<PlanAttack>& info) { return info.param.name; }

class PlanCheats : public Plans {};
TEST_P(PlanCheats, EveryDefenceOn_AttackIsStopped) {
  EXPECT_EQ(difference(judged({}), GetParam().expected), "");
}
INSTANTIATE_TEST_SUITE_P(Kernels, PlanCheats, testing::ValuesIn(kKernelAttacks), plan_name_of);
INSTANTIATE_TEST_SUITE_P(Forged, PlanCheats, testing::ValuesIn(kForgedPlans), plan_name_of);

/// Whether a process with this name runs on the machine.
bool runs(const std::string& name) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    std::ifstream file(entry.path() / "comm");
    std::string comm;
    if (std::getline(file, comm) && comm == name) return true;
  }
  return false;
}

class RecordingCheats : public Plans {};
TEST_P(RecordingCheats, EveryDefenceOn_AttackIsStopped) {
  const std::string source = replaced(text_of_file(kPlanAttacks / (GetParam().name + ".py")),
                                      "@PLAN@", hexadecimal(write_plan(plan_of("honest"))));
  const auto verdict = verdict_on_plan(plan_machine("plan", {}), source + "\n" + kNoModule);
  EXPECT_EQ(difference(verdict, GetParam().expected), "");
  if (verdict) {
    EXPECT_LT(verdict->reason.size(), 400u);
  }
  EXPECT_FALSE(runs("left-behind"));
}
INSTANTIATE_TEST_SUITE_P(Python, RecordingCheats, testing::ValuesIn(kPythonAttacks), plan_name_of);

#if defined(HONE_TEST_BUILD)
class PlanCheatsUndefended : public Plans {};
TEST_P(PlanCheatsUndefended, DefenceOff_AttackSucceeds) {
  EXPECT_EQ(difference(judged(GetParam().off), GetParam().without), "");
}
INSTANTIATE_TEST_SUITE_P(Kernels, PlanCheatsUndefended,
                         testing::ValuesIn(that_succeed(kKernelAttacks)), plan_name_of);
INSTANTIATE_TEST_SUITE_P(Forged, PlanCheatsUndefended,
                         testing::ValuesIn(that_succeed(kForgedPlans)), plan_name_of);
#endif

/// With modules: auto, the layer's honest Python is judged if a plan fails before it was timed.
class PlansWithModulesAuto : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("HONE_MODULES_PYTHON") == nullptr ||
        std::getenv("HONE_MODULES_DEVICE") == nullptr)
      GTEST_SKIP() << "HONE_MODULES_PYTHON or HONE_MODULES_DEVICE is not set";
  }
  static Verdict judged_with(const Plan& plan) {
    const std::string honest = text_of_file(kHere / "submissions/model.py");
    const auto verdict = verdict_on_plan(plan_machine("auto", {}), with_plan(honest, plan));
    EXPECT_TRUE(verdict) << verdict.error().message;
    return verdict ? *verdict : Verdict();
  }
};

TEST_F(PlansWithModulesAuto, FailureInACheck_ModuleIsJudgedInItsOwnProcess) {
  const Verdict verdict = judged_with(plan_of("trap"));
  EXPECT_TRUE(verdict.correct()) << verdict.reason;
  EXPECT_EQ(verdict.timing, "call");
  EXPECT_THAT(verdict.not_recorded, HasSubstr("its plan was not replayed: uncaught exception"));
}

TEST_F(PlansWithModulesAuto, FailureWhileLoading_ModuleIsJudgedInItsOwnProcess) {
  Plan plan = plan_of("honest");
  plan.images[0].bytes = "no ELF file";
  const Verdict verdict = judged_with(plan);
  EXPECT_TRUE(verdict.correct()) << verdict.reason;
  EXPECT_EQ(verdict.timing, "call");
  EXPECT_THAT(verdict.not_recorded, HasSubstr("expected a whole ELF file"));
}

TEST_F(PlansWithModulesAuto, AutotunedKernel_VerdictHasItsConfiguration) {
  Plan plan = plan_of("honest");
  two_configurations(plan);
  const Verdict verdict = judged_with(plan);
  EXPECT_TRUE(verdict.correct()) << verdict.reason;
  ASSERT_EQ(verdict.configurations.size(), 1u);
  const ChosenConfiguration& chosen = verdict.configurations[0];
  EXPECT_EQ(chosen.kernel, plan.kernels[launch_of(plan).kernel].name);
  EXPECT_EQ(chosen.count, 2);
  EXPECT_EQ(chosen.parameters, chosen.number == 1 ? "first" : "second");
}

TEST_F(PlansWithModulesAuto, MalformedFile_ModuleIsJudgedInItsOwnProcess) {
  Plan plan = plan_of("honest");
  plan.streams = 17;
  const Verdict verdict = judged_with(plan);
  EXPECT_TRUE(verdict.correct()) << verdict.reason;
  EXPECT_EQ(verdict.timing, "call");
  EXPECT_THAT(verdict.not_recorded, HasSubstr("its plan cannot be used: recorded plan: streams"));
}

TEST_F(PlansWithModulesAuto, WrongOutputs_AreTheVerdict) {
  Plan plan = plan_of("honest");
  plan.run.clear();
  const Verdict verdict = judged_with(plan);
  EXPECT_EQ(verdict.outcome, kWrong);
  EXPECT_EQ(verdict.timing, "device");
  EXPECT_EQ(verdict.not_recorded, "");
}

TEST_F(PlansWithModulesAuto, CrashInAMeasurement_IsTheVerdict) {
  const Verdict verdict = judged_with(plan_of("crash_when_timed"));
  EXPECT_EQ(verdict.outcome, kCrashed) << "it was measured a second time";
  EXPECT_EQ(verdict.timing, "device");
}

TEST_F(PlansWithModulesAuto, FailureOfTheBaseline_ModuleIsJudgedInItsOwnProcess) {
  auto task = module_task("linear");
  ASSERT_TRUE(task) << task.error().message;
  task->id = "linear with a baseline that fails";
  std::string& baseline = task->backends.at("cuda").baseline.text;
  baseline = with_plan(baseline, plan_of("trap"));
  const auto verdict =
      plan_machine("auto", {})
          ->judge(std::make_shared<const Task>(std::move(*task)),
                  with_plan(text_of_file(kHere / "submissions/model.py"), plan_of("honest")), 7,
                  "python", "cuda");
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_TRUE(verdict->correct()) << verdict->reason;
  EXPECT_EQ(verdict->timing, "call");
  EXPECT_THAT(verdict->not_recorded, HasSubstr("its plan was not replayed: "));
}

TEST(PlanTables, EachAttack_IsInATableAndDocumented) {
  std::set<std::string> kernels{"leave_a_note"}, python, all;
  for (const PlanAttack& one : kKernelAttacks) kernels.insert(one.name);
  for (const PlanAttack& one : kPythonAttacks) python.insert(one.name);
  EXPECT_EQ(plan_attack_files(".cu"), kernels);
  EXPECT_EQ(plan_attack_files(".py"), python);
  const std::string page = text_of_file(test::source_dir() / "docs/threats-modules.md");
  for (const auto* attacks : {&kKernelAttacks, &kForgedPlans, &kPythonAttacks}) {
    for (const PlanAttack& one : *attacks) {
      if (one.name == "honest") continue;
      EXPECT_THAT(page, HasSubstr("`" + one.name + "`")) << "docs/threats-modules.md";
    }
  }
}

}  // namespace
}  // namespace hone::test
