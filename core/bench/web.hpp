// bench_web(): the web page's own speed and its effect on the server, for `hone bench web`.
#pragma once

#include <string>

#include "bench/journal.hpp"

namespace hone {

/// `forgotten`, `forgotten_turns` and `broken` are not used.
struct WebBenchOptions {
  JournalBenchOptions journal;
  double round_s = 5;                      ///< length of a round of repeated steps (s)
  std::string program = "/proc/self/exe";  ///< path of hone
};

/// Starts `hone web` for a server whose journal has many turns. Figures: the time of the page's first screen, of one episode, and
/// of the first figures of all tasks; repeated steps per second (replies from memory) with 1 and with 50 browsers, relative to none; the same with 50
/// browsers for steps that build and measure, if `journal.real` is set; the time of /api/live with 50 browsers relative to one; and
/// the peak memory of the web process. A browser asks as the page does: every 0.8 s for the live view, every 5 s for the list of
/// episodes, or every 10 s for the tasks. The browsers run on the same cores. The list has the form of bench_protocol()'s.
Result<Value> bench_web(const WebBenchOptions& options);

}  // namespace hone
