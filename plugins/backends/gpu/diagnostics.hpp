// Converts compilers' output to the form that hone reads: "NAME:LINE: error: …", excerpts behind a bar.
#pragma once

#include <string>
#include <string_view>

namespace hone_gpu {

/// NVRTC writes "kernel.cu(3): error: …", an excerpt below it and a marker; ptxas names no place,
/// and what it says is the submission's, as there is no other code. `name` is the source's.
std::string normalised(std::string_view words, std::string_view name);

}  // namespace hone_gpu
