// What the backend reads out of a compiler's output. No other file of it does.
#pragma once

#include <string>
#include <string_view>

namespace hone_cpu {

/// The failure of a program that the compiler ran: "timed_out" (RLIMIT_CPU, which the host sets), "killed" or
/// "out_of_memory"; "" if the output names none.
std::string failure_in(std::string_view words);

}  // namespace hone_cpu
