// What hone reads out of text that others wrote: compilers, linkers, Python, torch and submissions.
#pragma once

#include <string>
#include <string_view>

namespace hone {

struct Diagnostics {
  std::string text;
  bool of_linker = false;  ///< the first error is a linker's
};

/// Keeps messages located in `source_name` with their excerpts, the bare text of errors in the
/// toolchain's headers, and the linker's undefined symbols. Paths of this machine do not come
/// through. At most bytes_max.
Diagnostics submission_diagnostics(std::string_view words, std::string_view source_name,
                                   std::size_t bytes_max = 16384);

/// The cause of an exception. `kMistake`: of the author's, on any device. `kKernelFault`: a kernel read or wrote where there
/// is nothing.
enum class ExceptionCause { kUnknown, kMistake, kKernelFault };

/// By an exception's "Name: text", as module_errors.py and the backends write it.
ExceptionCause exception_cause(std::string_view message);

/// Whether a module's source may have torch compile extensions, which takes longer than all else in a dry run.
bool builds_extensions(std::string_view source);
/// Whether a module's source may call code that neither torch nor Triton made.
bool may_bring_code(std::string_view source);
/// Whether device code may use the heap of its context: it names malloc, or asks for a heap or for calls of the host.
bool uses_heap(std::string_view artifact);

}  // namespace hone
