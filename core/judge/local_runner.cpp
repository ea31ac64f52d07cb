// Rounds as direct calls between two readings of the clock.
#include "judge/local_runner.hpp"

#include "base/clock.hpp"
#include "base/files.hpp"
#include "channel/launch.hpp"
#include "plugin/call.hpp"

namespace hone {
namespace {

Status check(std::int32_t code, const hone_error& error) {
  if (code == HONE_OK) return {};
  return Error{static_cast<Code>(code), error.message};
}

}  // namespace

Result<std::unique_ptr<LocalRunner>> LocalRunner::create(const Backend& backend,
                                                         hone_device* device, Plans plans,
                                                         std::string_view artifact,
                                                         std::uint64_t arena_bytes) {
  std::unique_ptr<LocalRunner> runner(new LocalRunner());
  runner->backend_ = backend.factory();
  runner->device_ = device;
  runner->plans_ = std::move(plans);
  HONE_ASSIGN(runner->arena_, Arena::create(backend, device, arena_bytes, false));
  HONE_ASSIGN(const UniqueFd fd, memory_file("hone-artifact", artifact));
  hone_error error = empty_error();
  hone_artifact* loaded = nullptr;
  HONE_TRY(check(runner->backend_->load(device, fd.get(), &loaded, &error), error));
  const auto setup = std::make_unique<Setup>();
  runner->plans_.list_kernels(*setup);
  for (std::uint32_t i = 0; i < setup->kernel_count; ++i) {
    const KernelName& name = setup->kernels[i];
    hone_kernel* kernel = nullptr;
    HONE_TRY(check(runner->backend_->get_kernel(loaded, name.name, name.argument_kinds,
                                                name.argument_count, &kernel, &error),
                   error));
    runner->kernels_.push_back(kernel);
  }
  return runner;
}

Status LocalRunner::prepare(Form form, const Dims& dims, std::uint64_t scratch_at) {
  return plans_.order(form, dims, scratch_at, launches_, &launch_count_);
}

Round LocalRunner::timed_round(Order order, std::size_t calls, double) {
  hone_error error = empty_error();
  Round round;
  const std::int64_t start = monotonic_ns();
  for (std::size_t i = 0; order == Order::kRun && i < calls; ++i) {
    for (std::uint32_t l = 0; l < launch_count_; ++l) {
      const Launch& launch = launches_[l];
      if (launch_call(*backend_, kernels_[launch.kernel], arena_->buffer(), launch,
                      values_[i].data(), &error) != HONE_OK)
        return {Ending::kFault, 0, error.message};
    }
  }
  if (backend_->wait(device_, &error) != HONE_OK) return {Ending::kFault, 0, error.message};
  round.seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
  return round;
}

Round LocalRunner::plain_round(Order order, std::size_t calls, double timeout_s) {
  return timed_round(order, calls, timeout_s);
}

}  // namespace hone
