// What the backend reads out of compilers' output; no other file of it does. Their words in the one form that hone reads:
// "NAME:LINE: error: …", excerpts behind a bar.
#pragma once

#include <string>
#include <string_view>

namespace hone_gpu {

/// NVRTC writes "kernel.cu(3): error: …", an excerpt below it and a marker; ptxas names no place,
/// and what it says is the submission's, as there is no other code. `name` is the source's.
std::string normalised(std::string_view words, std::string_view name);

/// Whether a compiler says that a program of its own used up its processor time (RLIMIT_CPU, which the host sets).
bool tells_of_time_limit(std::string_view words);
/// The failure of a program that clang ran: "killed" or "out_of_memory"; "" if the output names none.
std::string failure_in(std::string_view words);

}  // namespace hone_gpu
