// The interpreter's lock and signals, around work that takes long.
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
/// Rationale: while the interpreter ends, Python unwinds the stack of a daemon thread that wants the
/// lock. That would end in std::terminate, or in destructors that need the lock. So the thread stays
/// here until the process is gone.
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

/// What `work` returns, done with the interpreter's lock released.
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

/// Waits in slices with the lock released: `wait(seconds)` says whether it came. `seconds` < 0: no
/// end.
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
