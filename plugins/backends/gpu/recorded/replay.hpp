// Calls of a recorded plan.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string_view>
#include <vector>

#include "recorded/issue.hpp"
#include "recorded/loaded_plan.hpp"

namespace hone_gpu {

/// Whether an artifact's bytes are a recorded plan.
bool is_recorded_plan(std::string_view bytes);

/// A loaded plan and its CUDA graphs: one for each set of addresses of the task's tensors, at most
/// 128, the last used ones. The first call at new addresses makes their graph. To measure, call once
/// at each set of addresses before.
///
///   Replay replay(LoadedPlan::load(device, bytes));
///   replay.check_arguments(kinds, count);
///   replay.call(buffer, offsets);
class Replay {
 public:
  explicit Replay(std::unique_ptr<LoadedPlan> loaded);
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  /// Throws a Failure if the plan uses an argument that is missing or is not a buffer.
  void check_arguments(const std::uint32_t* kinds, std::uint32_t count) const;
  /// Starts a call on the device's stream. `offsets`: the offset of each argument in the buffer.
  void call(const hone_buffer& buffer, const std::uint64_t* offsets);
  /// Of each autotuned kernel: the configuration that calls run, chosen in the first call.
  const std::vector<std::uint32_t>& chosen() const { return loaded_->chosen; }

 private:
  /// A memory that is a tensor of the task.
  struct TaskMemory {
    std::size_t index;
    std::uint32_t argument;
    std::uint64_t bytes;
  };
  struct Prepared {
    std::vector<std::uint64_t> key;  ///< addresses of the task's tensors
    Binding binding;
    gpuGraphExec graph = nullptr;
  };
  std::vector<std::uint64_t> addresses_in(const hone_buffer& buffer,
                                          const std::uint64_t* offsets) const;
  Prepared& prepare(std::vector<std::uint64_t> key);
  void drop(Prepared& prepared);
  void capture(Prepared& prepared);
  gpuGraphExec captured(Prepared& prepared);

  std::unique_ptr<LoadedPlan> loaded_;
  std::vector<TaskMemory> task_memories_;
  std::size_t prepared_max_;
  std::list<Prepared> prepared_;  ///< the last used first
  bool captures_ = false;         ///< whether calls are graphs; decided at the first call
  bool has_run_ = false;
};

}  // namespace hone_gpu
