// The progress line of a command that judges many submissions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "model/verdict.hpp"
#include "terminal/terminal.hpp"

namespace hone {

/// Results by kind.
struct ResultCounts {
  std::size_t correct = 0, wrong = 0, other = 0;  ///< other: any further outcome
  std::size_t not_judged = 0;                     ///< no verdict: the task or hone failed

  void add(const Result<Verdict>& result);
  std::size_t done() const { return correct + wrong + other + not_judged; }
};

/// "12/100  3.10/s  eta 28 s  correct 7  wrong 3  other 2". The rate is that of the last `judged` results,
/// which took `seconds`; if `judged` is 0, rate and eta are omitted.
std::string progress_text(const ResultCounts& counts, std::size_t total, std::size_t judged,
                          double seconds);

/// The status line while a command reads `what`, such as "task add_relu" or "every task".
std::string reading_text(std::string_view what);

/// Counts results and shows them on a terminal's progress line. One thread.
///
///   Progress progress(terminal, "runs/first: ", 100);
///   progress.count(result);
///   progress.show("build");
class Progress {
 public:
  Progress(Terminal& terminal, std::string what, std::size_t total)
      : terminal_(terminal), what_(std::move(what)), total_(total) {}
  ~Progress() { terminal_.clear_status(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void count(const Result<Verdict>& result) { counts_.add(result); }
  /// Removes one from the total, because its result is already known.
  void leave_out() { --total_; }
  /// Starts the clock of the rate.
  void start();
  void show(std::string_view stage);

 private:
  Terminal& terminal_;
  const std::string what_;
  std::size_t total_;
  ResultCounts counts_;
  std::size_t done_before_ = 0;
  double started_s_ = monotonic_s();
};

}  // namespace hone
