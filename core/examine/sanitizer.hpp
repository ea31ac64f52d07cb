// Runs of a submission under the sanitizers: the program that calls it, its input file, and the findings in its output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/task.hpp"
#include "model/value.hpp"

namespace hone {

/// Writes `count` elements of a tensor (judge/fill.hpp).
using FillTensor = std::function<void(void* to, DType dtype, std::uint64_t count,
                                      const Generator& generator, std::uint64_t seed)>;

/// One call of a run under the sanitizers. Borrows from the task.
struct SanitizerCall {
  Dims dims;
  const Family* family = nullptr;
  std::string name;  ///< "rows=4, cols=8, inputs 'ties'"
};
struct SanitizerCalls {
  std::vector<SanitizerCall> calls;
  std::size_t left_out = 0;  ///< calls that did not fit in the limit
};
/// The calls with the shown shapes of a native task. A call is left out if its tensors and the inputs of earlier calls
/// exceed `bytes_max` together.
/// failed_precondition: the reference makes all inputs, so that there are none here.
Result<SanitizerCalls> sanitizer_calls(const Task& task, std::size_t bytes_max);

inline constexpr std::size_t kEveryElement = std::numeric_limits<std::size_t>::max();
/// The input `tensor` of a call, from a public seed. `before`: bytes of all inputs made before it. Has only the first
/// `elements_max` elements if there are more.
Result<std::string> sanitizer_input(const Tensor& tensor, const SanitizerCall& call,
                                    const FillTensor& fill, std::size_t before,
                                    std::size_t elements_max);

/// A program in C that calls the entry once for each call of `inputs`. Its buffers have exactly the size of their tensors.
struct SanitizerProgram {
  std::string driver;  ///< source text
  std::string inputs;  ///< contents of the file kSanitizerInputs: buffers as the program reads them
  std::vector<std::string> calls;  ///< "rows=4, cols=8, inputs 'ties'"
  std::size_t left_out = 0;        ///< calls that did not fit in the limit
};

inline constexpr const char* kSanitizerInputs = "inputs.bin";
/// What the program prints after its last call.
inline constexpr const char* kSanitizerEnd = "hone-end";

/// Makes the calls of sanitizer_calls() with the inputs of sanitizer_input().
Result<SanitizerProgram> sanitizer_program(const Task& task, const FillTensor& fill,
                                           std::size_t bytes_max);

struct SanitizerFinding {
  std::string kind;       ///< "heap-buffer-overflow", "signed integer overflow", …
  std::int64_t line = 0;  ///< of the source; 0: unknown
  std::string message;    ///< one line, with the tensor's name if it is known
  std::size_t call = 0;   ///< index into the program's calls; beyond them if it is not known
};

/// The last call that the program began, as an index into the program's calls; nullopt: none. The output is untrusted.
std::optional<std::size_t> sanitizer_last_call(std::string_view output);
/// Whether hone's own part of the program printed the line.
bool is_of_sanitizer_program(std::string_view line);

/// The findings in the program's output, which is untrusted: the submission can write to it. At most `count_max`; the same kind at the
/// same line counts once.
std::vector<SanitizerFinding> sanitizer_findings(std::string_view output,
                                                 std::string_view source_name,
                                                 std::size_t count_max);

}  // namespace hone
