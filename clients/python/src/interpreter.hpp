// Releases the interpreter's lock (GIL) and checks signals around long calls.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <optional>

namespace hone_python {

constexpr double kSignalCheckS = 0.1;

inline void check_signals() {
  if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
}

/// Takes the interpreter's lock again.
/// Rationale: while the interpreter shuts down, Python unwinds the stack of a daemon thread that takes
/// the lock. That would end in std::terminate, or in destructors that need the lock. So the thread
/// waits here until the process has ended.
inline void take_lock(PyThreadState* thread) {
  struct Stay {
    bool unwinding = true;
    ~Stay() {
      while (unwinding) ::pause();
    }
  } stay;
  PyEval_RestoreThread(thread);
  stay.unwinding = false;
}

/// Runs `work` with the interpreter's lock released and returns its result.
template <typename Work>
auto without_lock(Work work) {
  PyThreadState* const thread = PyEval_SaveThread();
  std::optional<decltype(work())> result;
  std::exception_ptr thrown;
  try {
    result.emplace(work());
  } catch (...) {
    thrown = std::current_exception();
  }
  take_lock(thread);
  if (thrown) std::rethrow_exception(thrown);
  return std::move(*result);
}

/// Calls `wait(seconds)` in slices, with the lock released, until it returns true. False after
/// `seconds`; `seconds` < 0: no limit.
template <typename Wait>
bool wait_interruptibly(double seconds, Wait wait) {
  double waited = 0;
  while (true) {
    const double slice = seconds < 0 ? kSignalCheckS : std::min(kSignalCheckS, seconds - waited);
    if (without_lock([&] { return wait(std::max(0.0, slice)); })) return true;
    check_signals();
    waited += slice;
    if (seconds >= 0 && waited >= seconds) return false;
  }
}

}  // namespace hone_python
