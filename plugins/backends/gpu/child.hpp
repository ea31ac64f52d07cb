// Work that may hang, die or take all memory, in a forked process with a time limit.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace hone_gpu {

struct Ran {
  std::string words;     ///< what it wrote, cut at the limit
  int status = 0;        ///< as waitpid says it
  bool starved = false;  ///< it met its limit by the clock, on a machine that kept it from its core
  bool timed_out =
      false;  ///< it met that limit otherwise, or its limit of processor time (RLIMIT_CPU)
};

/// Runs `body` in a forked process for at most `seconds_max` by the clock; `out` is a descriptor to write to, and the process ends with
/// what body returns. The caller has one thread.
Ran run_child(double seconds_max, std::size_t words_max, const std::function<int(int out)>& body);

/// Runs a program with stdout and stderr as its words.
Ran run_program(const std::vector<std::string>& command, double seconds_max);

}  // namespace hone_gpu
