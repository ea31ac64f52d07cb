// LocalRunner: an artifact called in this very process, for benchmarks of what the walls cost.
// Never for a stranger's code.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "judge/runner.hpp"
#include "model/task.hpp"
#include "plugin/backend.hpp"

namespace hone {

/// The library stays loaded for good. One thread.
class LocalRunner : public Runner {
 public:
  static Result<std::unique_ptr<LocalRunner>> create(const Backend& backend, hone_device* device,
                                                     const Task& task, std::string_view artifact,
                                                     const std::string& entry,
                                                     const std::string& second_entry,
                                                     std::uint64_t arena_bytes);
  ~LocalRunner() override;

  char* arena() const override { return base_; }
  std::uint64_t arena_bytes() const override { return bytes_; }
  Status freeze() override { return {}; }
  Status thaw() override { return {}; }
  RoundValues& values(std::size_t call) override { return values_[call]; }
  Round timed_round(Order order, std::size_t calls, double timeout_s) override;
  Round plain_round(Order order, std::size_t calls, double timeout_s) override;
  void set_guards(const std::vector<Guard>&) override {}

 private:
  LocalRunner() = default;

  const hone_backend_factory* backend_ = nullptr;
  hone_device* device_ = nullptr;
  hone_buffer* buffer_ = nullptr;
  char* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint32_t argument_count_ = 0;
  hone_kernel* kernels_[2] = {nullptr, nullptr};
  RoundValues values_[kCallsMax] = {};
};

}  // namespace hone
