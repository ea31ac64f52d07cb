// KnownAnswer: a test of a kept process between two submissions, so that the first cannot harm the second.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "judge/process_runner.hpp"
#include "judge/workbench.hpp"

namespace hone {

/// One thread.
class KnownAnswer {
 public:
  /// `artifact`: a descriptor of known_answer_source() as the backend has built it.
  static Result<KnownAnswer> make(UniqueFd artifact, const PlanLimits& limits);

  /// Least size of an arena for it.
  std::uint64_t arena_bytes() const { return layout_.total; }
  /// Has the process run it in its arena, on inputs of that secret, in place of what it has loaded. An error says
  /// what it answered; then its next submission belongs into another process.
  Status ask(ProcessRunner& runner, Workbench& workbench, const RunnerOptions& options,
             std::uint64_t secret) const;

 private:
  UniqueFd artifact_;
  Task task_;
  Plans plans_;
  Layout layout_;
};

/// The source of its kernel, and the kernel's name.
std::string_view known_answer_source();
std::vector<std::string> known_answer_kernels();

}  // namespace hone
