// The table of attacks. Thresholds are generous: an attack that does the baseline's own work may reach a speedup
// of 4, and counts as successful from 5, because noise changes a median of ratios by a few per cent.
#include "adversarial/attack.hpp"

#include <filesystem>
#include <ostream>

#include "base/files.hpp"
#include "model/caught.hpp"
#include "places.hpp"

namespace hone::test {
namespace {

using enum Outcome;

constexpr double kNoGain = 4.0, kGain = 4.2;

Expected is(Outcome outcome, std::string words = "") { return {{outcome}, std::move(words)}; }
Expected no_gain() { return {{kCorrect}, "", 0, kNoGain}; }
Expected gains() { return {{kCorrect}, "", kGain}; }
Expected pays_at_most(double paid) {
  Expected expected{{kCorrect}};
  expected.paid_max = paid;
  return expected;
}
Expected caught_as(std::string what, Expected expected) {
  expected.caught = std::move(what);
  return expected;
}
Expected unscored(std::string words = "SIGKILL") {
  Expected expected{{}, std::move(words)};
  expected.unscored = true;
  return expected;
}
/// It tried, and says in the words of an exception what came of it.
Expected held() { return is(kCrashed, "was held"); }
Expected got_out() { return is(kCrashed, "got out"); }

std::vector<Attack> lazy_answers() {
  return {
      {"zeros", "add_relu", is(kWrong, "output out is wrong")},
      {"nan_answers", "add_relu", is(kWrong, "output out is wrong")},
      {"lower_precision", "add_relu", is(kWrong, "output out is wrong")},
      {"shown_shapes_only",
       "add_relu",
       caught_as(caught::kWrongWhenHidden, is(kWrong, "a hidden shape")),
       {"hidden_shapes"},
       is(kCorrect)},
      {"one_family_only", "add_relu", is(kWrong), {"families"}, is(kCorrect)},
      {"cache_by_input", "gelu", no_gain(), {"fresh_inputs"}, gains()},
      {"cache_by_address", "add_relu", is(kWrong)},
      {"last_rounds_outputs",
       "gelu",
       no_gain(),
       {"fresh_inputs", "poison"},
       gains(),
       {"fresh_inputs"}},
      {"honest_until_timed",
       "add_relu",
       caught_as(caught::kWrongWhenTimed, is(kWrong)),
       {"timed_answers", "physics"},
       gains()},
      {"assume_the_order", "add_relu", is(kWrong), {"shuffle"}, is(kCorrect)},
      {"gamble_on_a_hidden_shape",
       "gelu",
       caught_as(caught::kSecondLook, is(kWrong, "in a confirmation run")),
       {"second_look"},
       is(kCorrect)},
  };
}

/// Right when checked, wrong for some inputs once the measurement has begun.
std::vector<Attack> told_by_the_family() {
  const Expected seen = caught_as(caught::kWrongWhenTimed, is(kWrong));
  const auto off = std::vector<std::string>{"mixed_families", "second_look"};
  return {
      {"count_what_the_timed_family_has", "histogram", seen, off, is(kCorrect)},
      {"right_until_all_families_came", "gelu", seen, off, is(kCorrect)},
      {"right_at_the_first_address", "gelu", seen, off, is(kCorrect)},
  };
}

/// Speedups of copies of a baseline, or of slower code.
std::vector<Attack> against_the_statistics() {
  constexpr double kCopy = 1.15;
  Expected ended_early{{kCorrect}};
  ended_early.rounds_max = 3;
  return {
      {"pay_once_in_two", "two_calls", pays_at_most(0.3), {"single_rounds"}, {{kCorrect}, "", 0.4}},
      {"pay_after_each_pause",
       "small",
       pays_at_most(0.3),
       {"single_rounds"},
       {{kCorrect}, "", 0.5}},
      {"end_the_rounds_early", "add_relu", pays_at_most(kCopy), {"fixed_pairs"}, ended_early},
      {"pay_in_outliers", "add_relu", pays_at_most(kCopy)},
      {"widen_its_interval", "small", pays_at_most(0.3), {"single_rounds"}, {{kCorrect}, "", 0.5}},
  };
}

std::vector<Attack> against_the_clock() {
  return {
      {"pay_once_a_round",
       "small",
       {{kCorrect}, "", 0, kNoGain, "single_rounds_disagree", caught::kSingleRounds},
       {"single_rounds"},
       {{kCorrect}, "", 0.15}},
      {"say_done_early",
       "add_relu",
       {{kWrong, kCorrect}, "", 0, kNoGain},
       {"freeze", "physics"},
       gains()},
      {"finish_in_a_thread",
       "two_cores",
       {{kWrong, kCorrect}, "", 0, kNoGain},
       {"freeze", "physics", "second_look"},
       gains()},
      {"work_ahead", "add_relu", no_gain(), {"freeze", "physics"}, gains()},
      {"slow_the_baseline", "nbody", held(), {"freeze_between"}, got_out()},
      {"serve_it_itself", "add_relu", no_gain()},
      {"own_symbols", "add_relu", no_gain()},
      {"dirty_state", "add_relu", no_gain()},
      {"handle_signals", "add_relu", no_gain()},
      {"close_everything", "add_relu", no_gain()},
      {"flood_the_output", "add_relu", no_gain()},
  };
}

std::vector<Attack> against_memory() {
  return {
      {"write_before",
       "add_relu",
       caught_as(caught::kWroteOutside, is(kWrong, "wrote outside of tensor")),
       {"canaries"},
       is(kCorrect)},
      {"write_after",
       "add_relu",
       is(kCrashed, "SIGSEGV"),
       {"guards", "canaries"},
       is(kCorrect),
       {"guards"}},
      {"read_after", "add_relu", is(kCrashed, "SIGSEGV"), {"guards"}, is(kCorrect)},
      {"swallow_the_fault", "add_relu", is(kTimedOut)},
      {"change_the_inputs",
       "add_relu",
       caught_as(caught::kChangedInputs, is(kWrong, "changed the input tensor x")),
       {"inputs_unchanged"},
       is(kCorrect)},
      {"remap_the_outputs", "add_relu", is(kWrong)},
      {"alias_the_outputs", "add_relu", is(kWrong)},
      {"punch_holes", "add_relu", held(), {"seccomp"}, got_out()},
      {"huge_pages", "add_relu", held(), {"seccomp"}, got_out()},
      {"share_memory", "add_relu", held(), {"seccomp"}, got_out()},
      {"look_for_answers", "add_relu", held()},
      {"find_a_note", "add_relu", held()},
      {"shrink_the_arena", "add_relu", held()},
      {"write_the_orders", "add_relu", held()},
      {"allocate_without_end", "add_relu", is(kOutOfMemory), {"memory_limit"}, is(kCorrect)},
      {"reserve_without_end", "add_relu", is(kOutOfMemory)},
      {"hide_its_memory", "two_cores", is(kOutOfMemory), {"thread_memory"}, is(kCorrect)},
      {"hide_its_memory_in_a_chain",
       "two_cores",
       is(kOutOfMemory),
       {"thread_memory"},
       is(kCorrect)},
      {"allocate_in_many_threads", "two_cores", is(kOutOfMemory), {"memory_limit"}, is(kCorrect)},
  };
}

std::vector<Attack> against_the_jail() {
  return {
      {"fork_a_process", "add_relu", held(), {"seccomp"}, got_out()},
      {"vfork_a_process", "add_relu", held(), {"seccomp"}, got_out()},
      {"hide_a_thread", "nbody", held(), {"seccomp"}, got_out()},
      {"open_a_socket", "add_relu", held(), {"seccomp"}, got_out()},
      {"set_a_timer", "add_relu", held(), {"seccomp"}, got_out()},
      {"ask_the_kernel_to_write", "add_relu", held(), {"seccomp"}, got_out()},
      {"take_more_cores", "add_relu", held(), {"seccomp"}, got_out()},
      {"raise_priority", "add_relu", held(), {"seccomp"}, got_out()},
      {"trace_itself",
       "add_relu",
       caught_as(caught::kForbiddenCall, is(kCrashed, "SIGSYS")),
       {"seccomp"},
       got_out()},
      {"kill_others", "add_relu", held()},
      {"start_a_program", "add_relu", held(), {"seccomp"}, got_out()},
      {"watch_others", "add_relu", held(), {"seccomp"}, got_out()},
      {"read_the_machine", "add_relu", held(), {"landlock"}, got_out()},
      {"read_passwd", "add_relu", held(), {"landlock"}, got_out()},
      {"include_passwd", "add_relu", is(kBuildFailed)},
      {"include_the_reference", "add_relu", is(kBuildFailed)},
      {"incbin_a_file", "add_relu", is(kBuildFailed)},
      {"include_devices", "add_relu", is(kBuildFailed)},
      {"huge_object", "add_relu", is(kBuildFailed)},
      {"compile_without_end", "add_relu", is(kBuildFailed)},
      {"include_its_own_pipe", "add_relu", is(kBuildFailed)},
  };
}

std::vector<Attack> to_be_asked_again() {
  return {
      {"exit_early", "add_relu", caught_as(caught::kEarlyExit, is(kCrashed, "exited with code 0"))},
      {"exit_in_a_constructor", "add_relu", is(kCrashed, "exited with code 0 while loading")},
      {"never_load", "add_relu", is(kTimedOut, "while loading")},
      {"forge_a_report", "add_relu", is(kTimedOut)},
      {"forge_a_choice", "add_relu", no_gain()},
      {"garbage_for_the_judge", "add_relu",
       caught_as(caught::kBrokenReport, is(kCrashed, "a report that is none"))},
      {"hang_up", "add_relu", is(kCrashed)},
      {"spin_forever", "add_relu", is(kTimedOut)},
      {"sleep_past_its_limit", "short", is(kTimedOut), {"own_waits"}, unscored("starved")},
      {"wait_for_nobody", "short", is(kTimedOut), {"own_waits"}, unscored("starved")},
      {"delay_its_own_threads",
       "short_two_cores",
       is(kTimedOut),
       {"own_waits"},
       unscored("starved")},
      {"fault_its_memory_in", "short", is(kTimedOut)},
      {"stop_itself", "add_relu", is(kWrong)},
      {"kill_itself",
       "add_relu",
       is(kWrong),
       {"seccomp", "proven_faults"},
       unscored(),
       {"seccomp"}},
      {"kill_with_high_bits",
       "add_relu",
       held(),
       {"seccomp", "proven_faults"},
       unscored(),
       {"seccomp"}},
      {"kill_by_another_name",
       "add_relu",
       held(),
       {"seccomp", "proven_faults"},
       unscored(),
       {"seccomp"}},
      {"kill_unless_lucky",
       "add_relu",
       no_gain(),
       {"seccomp", "proven_faults"},
       unscored(),
       {"seccomp"}},
      {"end_its_thread", "add_relu", is(kCrashed, "exited with code 0")},
      {"bad_answers", "add_relu", is(kCrashed, "reported a failure")},
      {"stall_the_judge", "add_relu", is(kTimedOut)},
      {"tell_hidden_shapes", "add_relu",
       is(kCrashed, "uncaught exception in a check of a hidden shape")},
      {"unprintable_words", "add_relu", is(kCrashed, "?[2J??\"}]} correct' in a check")},
      {"throw_anything", "add_relu", is(kCrashed, "not a std::exception")},
  };
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Attack& attack) { return out << attack.name; }

const std::vector<Attack>& attacks() {
  static const std::vector<Attack> all = [] {
    std::vector<Attack> list;
    for (auto part :
         {lazy_answers(), told_by_the_family(), against_the_statistics(), against_the_clock(),
          against_memory(), against_the_jail(), to_be_asked_again()}) {
      list.insert(list.end(), part.begin(), part.end());
    }
    return list;
  }();
  return all;
}

std::string source_of(const std::string& name) {
  const std::filesystem::path folder = test::source_dir() / "tests/adversarial/submissions";
  const auto text = read_file(folder / (name + ".cpp"));
  const auto inside = read_file(folder / "inside.hpp");
  if (!text || !inside) return "";
  std::string source = *text;
  const auto replace = [&source](const std::string& what, const std::string& by) {
    if (const auto at = source.find(what); at != std::string::npos)
      source.replace(at, what.size(), by);
  };
  // Not in line 1, where a pragma may not be.
  replace("#include \"inside.hpp\"\n", "\n" + *inside);
  replace("#pragma once\n", "\n");
  replace("@SOURCE@", test::source_dir().string());
  return source;
}

}  // namespace hone::test
