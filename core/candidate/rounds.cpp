#include "candidate/rounds.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "channel/launch.hpp"

namespace hone {
namespace {

/// What a backend said of a launch or of the work that ran.
Answer answer_of(Candidate& self, int32_t code, const hone_error& error) {
  if (code == HONE_OK) return Answer::kFine;
  self.answers->flags = self.flags();
  std::snprintf(self.answers->message, sizeof self.answers->message, "%.255s", error.message);
  switch (code) {
    case HONE_RESOURCE_EXHAUSTED:
      return Answer::kOutOfMemory;
    case HONE_FAILED_PRECONDITION:
      return Answer::kException;
    case HONE_INVALID_ARGUMENT:
      return Answer::kFailed;
    case HONE_NOT_FOUND:
      return Answer::kMismatch;
    default:
      return Answer::kFault;
  }
}

/// The device's own clock around a round, where it has one.
bool has_marks(const Candidate& self) {
  return self.orders->order == Order::kMarked && self.backend->mark != nullptr;
}

/// Lets an interpreter do the work that its launches have deferred. An older interpreter has no such function, and a newer one
/// only while it has loaded something that defers work.
int32_t finish_calls(const Candidate& self, hone_error& error) {
  constexpr std::size_t kNeeded = offsetof(hone_python, finish) + sizeof(self.python->finish);
  const bool finishes = self.python != nullptr && self.python->struct_size >= kNeeded &&
                        self.python->finish != nullptr;
  return finishes ? self.python->finish(error.message, sizeof error.message) : HONE_OK;
}

/// Reports which configurations a recorded plan has chosen. It asks the backend once, at the end of the first
/// successful round, which never counts.
void tell_choice(Candidate& self) {
  if (self.has_told_choice || self.backend->chosen_configurations == nullptr) return;
  self.has_told_choice = true;
  hone_error error = fresh_error();
  std::uint32_t count = 0;
  const int32_t code = self.backend->chosen_configurations(self.kernels[0], self.answers->chosen,
                                                           kTunedKernelsMax, &count, &error);
  if (code == HONE_OK) self.answers->chosen_count = count;
}

Answer run(Candidate& self, std::uint32_t calls) {
  hone_error error = fresh_error();
  const std::uint32_t launches = self.orders->launch_count;
  if (calls > kCallsMax || launches > kLaunchesMax) return Answer::kFailed;
  const bool marked = has_marks(self);
  if (marked) self.backend->mark(self.device, 0, &error);
  for (std::uint32_t i = 0; i < calls; ++i) {
    for (std::uint32_t l = 0; l < launches; ++l) {
      const Launch& launch = self.orders->launches[l];
      if (launch.kernel >= kKernelsMax) return Answer::kFailed;
      const int32_t code = launch_call(*self.backend, self.kernels[launch.kernel], self.arena,
                                       launch, self.orders->values[i], &error);
      if (code != HONE_OK) return answer_of(self, code, error);
    }
  }
  if (const int32_t code = finish_calls(self, error); code != HONE_OK)
    return answer_of(self, code, error);
  if (marked) self.backend->mark(self.device, 1, &error);
#if defined(HONE_TEST_BUILD)
  if (self.runs_device_code() && (self.setup.weaken & 4u) != 0) return Answer::kFine;
#endif
  const Answer answer = answer_of(self, self.backend->wait(self.device, &error), error);
  double seconds = 0;
  if (marked && answer == Answer::kFine) self.backend->between_marks(self.device, &seconds, &error);
  self.answers->marked_seconds = seconds;
  if (answer == Answer::kFine) tell_choice(self);
  return answer;
}

Answer run_observed(Candidate& self, std::uint32_t calls) {
  self.answers->observed[0] = '\0';
  const bool observes = self.python != nullptr && self.python->observe != nullptr;
  if (observes) self.python->observe(1, self.answers->observed, kObservedMax);
  const Answer answer = run(self, calls);
  if (observes) self.python->observe(0, self.answers->observed, kObservedMax);
  return answer;
}

/// Makes the device belong to this process, by work that is as little as there can be; everything
/// before is done then.
Answer run_nothing(Candidate& self) {
  if (!self.device_code) return Answer::kFine;
  hone_error error = fresh_error();
  const int32_t copied =
      self.backend->copy_buffer(self.spare, 0, self.spare, kSpareBytes / 2, 128, &error);
  if (copied != HONE_OK) return answer_of(self, copied, error);
  return answer_of(self, self.backend->wait(self.device, &error), error);
}

bool set_guards(Candidate& self, bool on) {
  hone_error error = fresh_error();
  for (std::uint32_t i = 0; i < self.guard_count; ++i) {
    const Guard& pages = self.guards[i];
    if (self.backend->guard_buffer(self.arena, pages.at, pages.bytes, on ? 1 : 0, &error) !=
        HONE_OK) {
      return false;
    }
  }
  return true;
}

/// Takes the last round's guards away and puts this round's up.
bool change_guards(Candidate& self) {
  if (self.backend->guard_buffer == nullptr) return true;
  const std::uint32_t count = self.orders->guard_count;
  if (count == 0 && self.guard_count == 0) return true;
  if (count > kGuardsMax || self.guard_count > kGuardsMax || !set_guards(self, false)) return false;
  self.guard_count = count;
  std::copy_n(self.orders->guards, count, self.guards);
  return set_guards(self, true);
}

Answer obey(Candidate& self) {
  if (!change_guards(self)) return Answer::kFailed;
  switch (self.orders->order) {
    case Order::kRun:
    case Order::kMarked:
      return run(self, self.orders->calls);
    case Order::kObserved:
      return run_observed(self, self.orders->calls);
    case Order::kNothing:
    case Order::kReload:
      return run_nothing(self);
    case Order::kTrim:
      if (self.python != nullptr && self.python->trim != nullptr) self.python->trim();
      return Answer::kFine;
    case Order::kEnd:
      break;
  }
  std::_Exit(0);
}

}  // namespace

Answer obey_guarded(Candidate& self) {
  try {
    self.answers->flags = 0;
    return obey(self);
  } catch (const std::bad_alloc&) {
    return Answer::kOutOfMemory;
  } catch (const std::exception& error) {
    std::snprintf(self.answers->message, sizeof self.answers->message, "%s", error.what());
  } catch (...) {
    std::snprintf(self.answers->message, sizeof self.answers->message, "not a std::exception");
  }
  return Answer::kException;
}

}  // namespace hone
