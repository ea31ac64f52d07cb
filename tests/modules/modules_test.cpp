// Python modules judged by the real evaluator: honest ones, mistakes, and cheating.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <set>

#include "model/caught.hpp"
#include "modules/module_case.hpp"
#include "places.hpp"

namespace hone::test {
namespace {

const fs::path kAttacks = test::source_dir() / "tests/adversarial/modules";

const std::vector<Case> kSubmissions = {
    {"model", is(kCorrect)},
    {"library_linear", is(kCorrect)},
    {"other_names", is(kCorrect)},
    {"wrapper", is(kCorrect)},
    {"triton_model", is(kCorrect)},
    {"wrong_slope", is(kWrong, "output out is wrong")},
    {"ignores_weights", is(kWrong, "output out is wrong")},
    {"other_shape", is(kWrong, "output out has shape [16, 8], expected [8, 16]")},
    {"other_dtype", is(kWrong, "output out has dtype torch.float64, expected torch.float32")},
    {"numpy_answer", is(kWrong, "gave a numpy.ndarray, expected a tensor")},
    {"two_outputs", is(kWrong, "gave a tuple, expected a tensor")},
    {"in_a_dict", is(kWrong, "gave a builtins.dict, expected a tensor")},
    {"no_parameters",
     is(kCrashed, "ModelNew has no parameter for fc.weight [16, 16]; it has none")},
    {"unbound_wrapper", is(kCrashed, "nothing fits block_size; there are")},
    {"nothing",
     is(kBuildFailed,
        "submission.py:1:1: error: expected a class ModelNew or a function triton_kernel_wrapper")},
    {"syntax", is(kBuildFailed, "submission.py:4:")},
    {"late_syntax", is(kBuildFailed, "submission.py:8:9: error: 'break' outside loop")},
    {"missing_import",
     is(kCrashed, "No module named 'a_module_that_is_not_there' (submission.py:3)")},
    {"raises", is(kCrashed, "cannot be multiplied (8x16 and 8x16) (submission.py:16)")},
    {"kernel_raises", is(kCrashed, "no attribute 'not_a_function'")},
    {"temporary_file", is(kCorrect)},
    {"files_of_its_own", is(kCorrect)},
    {"compiles_itself", is(kCorrect)},
    {"told_of_the_device", is(kCrashed, "(submission.py:5) while loading")},
    {"extension", is(kCrashed, "load_inline needs compilers, which submissions have on a device")},
    {"extension_late", is(kCrashed, "load_inline needs compilers")},
    {"extension_refused", is(kCrashed, "load_inline needs compilers")},
    {"extension_unreached", is(kCrashed, "load_inline needs compilers")},
    {"extension_undefined", is(kCrashed, "load_inline needs compilers")},
    {"noise", is(kCorrect), {}, {}, "noisy"},
    {"no_noise", is(kWrong, "output out is wrong"), {}, {}, "noisy"},
    {"many_steps", is(kCorrect), {}, {}, "compiled"},
    {"in_place", is(kCorrect), {}, {}, "in_place"},
    {"out_of_place", is(kCorrect), {}, {}, "in_place"},
    {"in_place_weights",
     caught_as(caught::kChangedInputs, is(kWrong, "changed the input tensor parameters")),
     {},
     {},
     "in_place"},
};

const std::vector<Case> kCheats = {
    {"zeros", is(kWrong, "output out is wrong")},
    {"forge_the_work", is(kCorrect)},
    {"patched_allclose", is(kWrong, "output out is wrong")},
    {"patched_timers", is(kWrong, "output out is wrong")},
    {"patched_runner", is(kWrong, "output out is wrong")},
    {"patched_copy", is(kWrong, "output out is wrong")},
    {"look_at_callers", is(kWrong, "output out is wrong")},
    {"look_at_all_objects", is(kWrong, "output out is wrong")},
    {"look_in_the_arena", is(kWrong, "output out is wrong")},
    {"cache_by_address", is(kWrong, "output out is wrong")},
    {"answer_of_the_first_call", is(kWrong, "output out is wrong")},
    {"work_ahead", is(kWrong, "output out is wrong")},
    {"inputs_by_the_seed", is(kWrong, "output out is wrong")},
    {"lazy_tensor", is(kWrong, "output out is wrong")},
    {"compute_in_a_thread", is(kCrashed, "can't start new thread")},
    {"less_precision", is(kWrong, "output out is wrong")},
    {"zeros_below_the_hinge",
     is(kWrong, "output out is wrong"),
     {"families"},
     is(kCorrect),
     "hinge"},
    {"sample_of_the_columns",
     is(kWrong, "output out is wrong"),
     {"spikes"},
     is(kCorrect),
     "square_error"},
    {"quarter_of_the_rows",
     is(kWrong, "output out is wrong"),
     {"spikes"},
     is(kCorrect),
     "hinge_loss"},
    {"half_of_the_axis", is(kWrong, "output out is wrong"), {"spikes"}, is(kCorrect), "row_means"},
    {"skip_the_buffers", is(kWrong, "output out is wrong"), {"spikes"}, is(kCorrect), "batch_norm"},
    {"change_the_inputs",
     caught_as(caught::kChangedInputs, is(kWrong, "changed the input tensor x")),
     {"inputs_unchanged"},
     is(kCorrect)},
    {"change_the_weights",
     caught_as(caught::kChangedInputs, is(kWrong, "changed the input tensor parameters")),
     {"inputs_unchanged"},
     is(kCorrect)},
    {"write_beyond", {{kWrong, kCrashed}}},
    {"exit_early", caught_as(caught::kEarlyExit, is(kCrashed, "exited with code 0"))},
    {"exit_while_importing", is(kCrashed, "SystemExit: 0")},
    {"crash", is(kCrashed, "SIGSEGV")},
    {"spin", is(kTimedOut, "over the task's time")},
    {"allocate", is(kOutOfMemory)},
    {"fork_bomb", is(kCrashed, "Operation not permitted")},
    {"start_a_program", is(kCrashed, "Operation not permitted")},
    {"open_a_socket", is(kCrashed, "Operation not permitted"), {"seccomp"}, is(kCorrect)},
    {"read_passwd", is(kCrashed, "/etc/passwd")},
    {"read_the_map", is(kCrashed, "Permission denied"), {"landlock"}, is(kCorrect)},
    {"read_the_parent", is(kCrashed)},
    {"end_the_parent", is(kCrashed, "Operation not permitted")},
    {"leave_a_sitecustomize", is(kCrashed, "nothing can be written")},
    {"leave_a_cache", is(kCrashed)},
    {"fill_its_folder", is(kCrashed, "No space left on device")},
    {"run_what_it_writes", is(kCrashed, "failed to map segment")},
    {"hang_up_and_stay",
     caught_as(caught::kBrokenReport, is(kCrashed, "a report that is none while loading"))},
    {"say_nothing_and_stay",
     caught_as(caught::kBrokenReport, is(kCrashed, "a report that is none while loading"))},
    {"allocate_while_importing", is(kOutOfMemory, "while loading")},
    {"words_that_raise", is(kCrashed, "Silent: no message that can be read")},
    {"call_the_reference", is(kCrashed, "KeyError: 'reference'")},
    {"set_a_timer", is(kCrashed, "Operation not permitted"), {"seccomp"}, is(kCorrect)},
    {"load_a_library", is(kCrashed, "Operation not permitted")},
    {"deep_source", {{kBuildFailed, kCrashed}}},  // parsers of some versions take it
};

std::vector<Case> those_that_succeed() {
  std::vector<Case> chosen;
  std::copy_if(kCheats.begin(), kCheats.end(), std::back_inserter(chosen),
               [](const Case& one) { return !one.off.empty(); });
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const Case& a, const Case& b) { return a.off < b.off; });
  return chosen;
}

std::string judged(const fs::path& folder, const Case& one, const std::vector<std::string>& off,
                   const Expected& expected) {
  return judged(machine_without(off, "cpu.python", processor_options), "cpu", folder, one,
                expected);
}

class Modules : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (std::getenv("HONE_MODULES_PYTHON") == nullptr)
      GTEST_SKIP() << "HONE_MODULES_PYTHON names no interpreter";
  }
};
std::string name_of(const testing::TestParamInfo<Case>& info) { return info.param.name; }

class ModuleSubmissions : public Modules {};
TEST_P(ModuleSubmissions, Submission_GetsTheExpectedVerdict) {
  EXPECT_EQ(judged(kHere / "submissions", GetParam(), {}, GetParam().expected), "");
}
INSTANTIATE_TEST_SUITE_P(Modules, ModuleSubmissions, testing::ValuesIn(kSubmissions), name_of);

class ModuleCheats : public Modules {};
TEST_P(ModuleCheats, EveryDefenceOn_AttackIsStopped) {
  EXPECT_EQ(judged(kAttacks, GetParam(), {}, GetParam().expected), "");
}
INSTANTIATE_TEST_SUITE_P(Modules, ModuleCheats, testing::ValuesIn(kCheats), name_of);

#if defined(HONE_TEST_BUILD)
class ModuleCheatsUndefended : public Modules {};
TEST_P(ModuleCheatsUndefended, DefenceOff_AttackSucceeds) {
  EXPECT_EQ(judged(kAttacks, GetParam(), GetParam().off, GetParam().without), "");
}
INSTANTIATE_TEST_SUITE_P(Modules, ModuleCheatsUndefended, testing::ValuesIn(those_that_succeed()),
                         name_of);
#endif

TEST(ModuleTables, EachFile_IsInATable) {
  for (const auto& [folder, cases] :
       {std::pair(kHere / "submissions", &kSubmissions), {kAttacks, &kCheats}}) {
    std::set<std::string> files, named;
    for (const auto& entry : fs::directory_iterator(folder))
      files.insert(entry.path().stem().string());
    for (const Case& one : *cases) named.insert(one.name);
    EXPECT_EQ(files, named) << folder;
  }
}

}  // namespace
}  // namespace hone::test
