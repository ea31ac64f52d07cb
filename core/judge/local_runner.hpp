// LocalRunner: an artifact called in this process, for benchmarks of the sandbox's overhead. Never for untrusted code.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "judge/plans.hpp"
#include "judge/runner.hpp"
#include "model/task.hpp"
#include "plugin/backend.hpp"

namespace hone {

/// The library is never unloaded. One thread.
class LocalRunner : public Runner {
 public:
  static Result<std::unique_ptr<LocalRunner>> create(const Backend& backend, hone_device* device,
                                                     Plans plans, std::string_view artifact,
                                                     std::uint64_t arena_bytes);

  const Arena& arena() const override { return *arena_; }
  Status prepare(Form form, const Dims& dims, std::uint64_t scratch_at) override;
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
  std::unique_ptr<Arena> arena_;
  Plans plans_;
  std::vector<hone_kernel*> kernels_;
  Launch launches_[kLaunchesMax] = {};
  std::uint32_t launch_count_ = 0;
  RoundValues values_[kCallsMax] = {};
};

}  // namespace hone
