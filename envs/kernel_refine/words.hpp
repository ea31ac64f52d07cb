// Phrases about tasks and figures, from which messages are composed.
#pragma once

#include <string>
#include <vector>

#include "model/task.hpp"
#include "model/verdict.hpp"

namespace hone::kernel_refine {

std::string number(double value);                        ///< at most six digits: "0.125", "1e-07"
std::string microseconds(double us);                     ///< "12.3 µs", "4.56 ms"
std::string speedup_text(double speedup);                ///< "1.48×"
std::string shape_text(const Dims& dims);                ///< "n=1003, m=4"
std::string shapes_text(const std::vector<Dims>& list);  ///< "(n=1), (n=1003)"
std::string tolerance_text(const Tolerance& tolerance);
std::string arguments_text(const Task& task);  ///< a list item for each parameter
std::string languages_text(const std::vector<std::string>& languages);  ///< "c++ or c"
std::string fence_tag(const std::string& language);                     ///< "cpp" for "c++"
std::string mismatch_text(const Mismatch& mismatch);  ///< reveals only what the verdict contains
/// Text that cannot end a Markdown code block: each ``` is replaced, and empty lines at the end are removed.
std::string without_fences(std::string text);
std::string megabytes(std::int64_t mb);
std::string count(std::int64_t n, std::string_view one,
                  std::string_view many);  ///< "1 turn", "3 turns"

}  // namespace hone::kernel_refine
