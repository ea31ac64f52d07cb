// Workbench: builds a task's sources with g++, fills inputs like the judge, calls them and compares, in one
// process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/task.hpp"

namespace hone::workbench {

/// Builds one source of a task into a shared library with a caller for each of `functions`; "exact"
/// takes double for float outputs. Without a compiler's consent: invalid_argument with its words.
Result<std::filesystem::path> build(const Task& task, const Source& source,
                                    const std::vector<std::string>& functions,
                                    const std::filesystem::path& folder);

/// A function of a built library, called with one pointer per argument (to the data, or to the
/// scalar).
using Function = void (*)(void* const* arguments);
Function load(const std::filesystem::path& library, const std::string& function);

/// A shape and a family: what one call works on.
struct Case {
  Dims dims;
  Family family;
  std::uint64_t seed = 0;
  std::string name() const;  ///< "n=3 normal"
};

/// All shown and hidden (drawn) shapes with every family; the timed shape with the first one, or
/// with every one.
std::vector<Case> cases(const Task& task, bool timed_with_all, std::uint64_t seed);

/// Memory for a task's tensors and scalars. Outputs are poisoned; every tensor ends at an
/// inaccessible page.
class Call {
 public:
  /// `doubles`: float outputs are double, as `exact` wants them.
  Call(const Task& task, const Case& which, bool doubles);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void run(Function function) const;
  std::uint64_t count(std::size_t tensor) const { return parts_[tensor].count; }
  std::uint64_t row(std::size_t tensor) const { return parts_[tensor].row; }
  char* data(std::size_t tensor) const { return parts_[tensor].data; }
  std::uint64_t bytes() const;  ///< of all tensors

 private:
  struct Part {
    char* data = nullptr;
    std::uint64_t count = 0, row = 0, bytes = 0;
    char* mapping = nullptr;
    std::uint64_t mapped = 0;
  };
  const Task& task_;
  std::vector<Part> parts_;             // as task.tensors
  std::vector<std::uint64_t> scalars_;  // as task.scalars, each in its own dtype
};

/// The largest error over all outputs as a share of the tolerance (core/judge/compare); infinite
/// for a wrong integer.
double worst_share(const Task& task, const Call& got, const Call& exact);

}  // namespace hone::workbench
