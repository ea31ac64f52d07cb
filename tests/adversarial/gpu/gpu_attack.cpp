// The table of attacks in device code. Times on the emulator mean little, so tests assert outcomes and classes of
// cheating, and times only where milliseconds differ from microseconds.
#include "adversarial/gpu/gpu_attack.hpp"

#include <ostream>

#include "adversarial/gpu/gpu_court.hpp"
#include "model/caught.hpp"

namespace hone::test {
namespace {

using enum Outcome;

Expected is(Outcome outcome, std::string words = "") { return {{outcome}, std::move(words)}; }
Expected caught_as(std::string what, Expected expected) {
  expected.caught = std::move(what);
  return expected;
}
Expected at_most(double speedup) { return {{kCorrect}, "", 0, speedup}; }
GpuAttack behind(std::string before, GpuAttack attack) {
  attack.before = std::move(before);
  return attack;
}
GpuAttack on_device(GpuAttack attack) {
  attack.on = On::kDevice;
  return attack;
}

std::vector<GpuAttack> lazy_answers() {
  const Expected wrong = is(kWrong, "output out is wrong");
  const Expected when_timed = caught_as(caught::kWrongWhenTimed, wrong);
  return {
      {"zeros", wrong},
      {"nan_answers", wrong},
      {"lower_precision", wrong},
      {"shown_shapes_only",
       caught_as(caught::kWrongWhenHidden, is(kWrong, "a hidden shape")),
       {"hidden_shapes"},
       is(kCorrect)},
      {"one_family_only", wrong, {"families"}, is(kCorrect)},
      {"replay_its_answers", when_timed, {"fresh_inputs"}, is(kCorrect)},
      {"last_rounds_outputs",
       when_timed,
       {"fresh_inputs", "poison", "single_rounds"},
       is(kCorrect),
       "",
       {"fresh_inputs"},
       when_timed},
      {"honest_until_timed", when_timed, {"timed_answers", "physics"}, is(kCorrect)},
      {"right_until_timed", when_timed, {"mixed_families"}, is(kCorrect)},
      {"tell_by_the_clock", when_timed, {"timed_answers", "physics"}, is(kCorrect)},
      {"answer_later",
       is(kWrong, "changed in the round of another shape"),
       {"own_round"},
       is(kCorrect)},
      {"answer_ahead",
       is(kWrong, "changed in the round of another shape"),
       {"own_round"},
       is(kCorrect)},
  };
}

std::vector<GpuAttack> against_the_clock() {
  std::vector<GpuAttack> list = {
      {"one_launch_a_round",
       // On a busy processor the emulator's rounds vary too much to accuse anybody.
       on_a_device()
           ? Expected{{kCorrect}, "", 0, 1e9, "single_rounds_disagree", caught::kSingleRounds}
           : at_most(1),
       {"single_rounds"},
       {{kCorrect}, "", on_a_device() ? 0.002 : 0.03}},
      {"finish_late",
       {{kCheated, kWrong}},
       {"witness", "timed_answers", "own_round", "physics"},
       is(kCorrect),
       "",
       {"timed_answers", "own_round", "physics"},
       caught_as(caught::kLateOutputs, is(kCheated, "after the clock had stopped")),
       On::kAny,
       "client",
       {"stream_wait"}},
      {"never_end", is(kTimedOut, " in a check of")},
      {"stay_resident", is(kTimedOut, " in a check of")},
      {"wait_for_each_other", is(kTimedOut, " in a check of")},
      on_device({"keep_the_cache", at_most(1.2)}),
      on_device({"slow_the_baseline", at_most(1.05)}),
      {"print_without_end", Expected{{kCorrect, kTimedOut}}},
  };
  return list;
}

/// Done said early, by a candidate that does not wait and a kernel that is late by so much: whatever it
/// comes out as, it is not faster.
std::vector<GpuAttack> done_early() {
  std::vector<GpuAttack> list;
  for (const int us : {20, 50, 100, 200, 500, 1000, 2000, 5000}) {
    GpuAttack late{"finish_late_" + std::to_string(us) + "us",
                   {{kCheated, kWrong, kCorrect}, "", 0, 1.05}};
    late.always = {"stream_wait"};
    if (!on_a_device()) late.stopped = {{kCheated, kWrong}};
    list.push_back(us < 1000 ? on_device(std::move(late)) : std::move(late));
  }
  return list;
}

std::vector<GpuAttack> against_memory() {
  const Expected illegal = is(kCrashed, "illegal memory access");
  const Expected outside = caught_as(caught::kWroteOutside, is(kWrong, "wrote outside of tensor"));
  const Expected changed =
      caught_as(caught::kChangedInputs, is(kWrong, "changed the input tensor x"));
  std::vector<GpuAttack> list = {
      {"write_before", outside, {"canaries"}, is(kCorrect)},
      {"write_after", outside, {"canaries"}, is(kCorrect)},
      {"change_the_inputs", changed, {"inputs_unchanged"}, is(kCorrect)},
      {"change_other_calls",
       changed,
       {},
       {},
       "",
       {"inputs_unchanged"},
       caught_as(caught::kWrongWhenTimed, is(kWrong, "output out is wrong"))},
      {"scan_below", illegal},
      {"scan_above", illegal},
      {"write_everywhere", illegal},
      // A real driver has memory of the process' own there, which only it uses.
      {"raw_address", on_a_device() ? Expected{{kCrashed, kCorrect}} : illegal},
      behind("leave_a_note",
             {"find_a_note", is(kCorrect), {"scrub"}, is(kWrong, "output out is wrong")}),
      behind("leave_a_global", {"find_a_global", is(kCorrect)}),
      behind("fill_the_heap", {"use_the_heap", is(kCorrect)}),
      behind("fill_the_heap", {"trust_the_heap",
                               is(kCorrect),
                               {"own_heap", "known_answer"},
                               is(kWrong, "output out is wrong"),
                               "",
                               {"own_heap"},
                               is(kCorrect)}),
  };
  return list;
}

std::vector<GpuAttack> against_the_process() {
  return {
      {"trap", is(kCrashed, "the kernel broke off")},
      on_device({"brkpt", is(kCrashed, "in a check of")}),
      {"fail_an_assert", is(kCrashed, "an assert() in the kernel failed")},
      {"misalign", is(kCrashed, "misaligned address")},
      {"recurse_without_end", is(kCrashed, "in a check of")},
      {"exhaust_the_heap", is(kCrashed, "illegal memory access")},
      {"honest", is(kCorrect)},
  };
}

std::vector<GpuAttack> in_the_plan() {
  return {
      {"too_many_launches", is(kBuildFailed, "more than 16 launches")},
      {"huge_grid", is(kCrashed, "grid x is 2147483648, expected 1 to")},
      {"negative_grid", is(kCrashed, "expected 1 to")},
      {"huge_scratch", is(kCrashed, "scratch all has 1125899906842624")},
      {"negative_scratch", is(kCrashed, "scratch before has -4096")},
      {"overflow", is(kCrashed, "overflow")},
      {"huge_shared", is(kCrashed, "shared memory of 1073741824")},
      {"huge_cooperation",
       {{kOutOfMemory, kCrashed},
        "a cooperative launch needs all its blocks on the device at once"}},
      {"too_few_arguments", is(kCrashed, "takes more than the 4 arguments")},
      {"call_the_harness", is(kBuildFailed, "the compiler")},
  };
}

std::vector<GpuAttack> at_the_compiler() {
  return {
      {"include_passwd", is(kBuildFailed, "device code may not use #include of an absolute path")},
      {"include_by_a_macro", is(kBuildFailed, "device code may not use #include of what is no")},
      // A compiler that has no assembler of its own sees it when it runs.
      {"incbin_a_file", {{kBuildFailed, kCrashed}}},
      {"compile_without_end", is(kBuildFailed, "the compiler")},
      {"launch_from_the_device", is(kBuildFailed, "the compiler refused it")},
  };
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const GpuAttack& attack) { return out << attack.name; }

const std::vector<GpuAttack>& gpu_attacks() {
  static const std::vector<GpuAttack> all = [] {
    std::vector<GpuAttack> list;
    for (auto part : {lazy_answers(), against_the_clock(), done_early(), against_memory(),
                      against_the_process(), in_the_plan(), at_the_compiler()}) {
      list.insert(list.end(), part.begin(), part.end());
    }
    return list;
  }();
  return all;
}

}  // namespace hone::test
