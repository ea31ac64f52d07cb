// Interpretation of foreign text: output of compilers, linkers, Python, torch and submissions.
#pragma once

#include <string>
#include <string_view>

namespace hone {

struct Diagnostics {
  std::string text;
  bool of_linker = false;  ///< the first error is a linker's
};

/// Keeps messages located in `source_name` with their excerpts, the text of errors in the toolchain's
/// headers, and the linker's undefined symbols. Removes paths of this machine. At most bytes_max.
Diagnostics submission_diagnostics(std::string_view words, std::string_view source_name,
                                   std::size_t bytes_max = 16384);

/// The cause of an exception. `kMistake`: a mistake of the author, on any device. `kKernelFault`: a kernel
/// accessed memory that is not allocated.
enum class ExceptionCause { kUnknown, kMistake, kKernelFault };

/// Derived from "Name: text", as module_errors.py and the backends write it.
ExceptionCause exception_cause(std::string_view message);

/// Whether a module's source may build torch extensions, which takes longer than the rest of a dry run.
bool builds_extensions(std::string_view source);
/// Whether a module's source may contain code that is neither torch's nor Triton's.
bool may_bring_code(std::string_view source);
/// Whether device code may use the heap of its context: it names malloc, or asks for a heap or for host
/// calls.
bool uses_heap(std::string_view artifact);

}  // namespace hone
