// Rewrites CUDA C++ for a CPU compiler, where macros are not sufficient.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone_emulated {

/// The text with `extern __shared__ T name[]`, `static __shared__` and inline PTX rewritten; every line stays where it
/// is.
std::string rewrite(std::string_view text);

struct KernelName {
  std::string name;
  bool c_linkage = false;
};

/// The kernels of a source that are no templates.
std::vector<KernelName> find_kernels(std::string_view text);

/// The compiler's words as NVRTC would put them: "file(line): error: what", and how many errors there were.
std::string nvrtc_words(std::string_view words, std::string_view program);

}  // namespace hone_emulated
