// Rounds as plain calls between two readings of the clock.
#include "judge/local_runner.hpp"

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/files.hpp"
#include "judge/process_runner.hpp"

namespace hone {
namespace {

Status check(std::int32_t code, const hone_error& error) {
  if (code == HONE_OK) return {};
  return Error{static_cast<Code>(code), error.message};
}

}  // namespace

Result<std::unique_ptr<LocalRunner>> LocalRunner::create(
    const Backend& backend, hone_device* device, const Task& task, std::string_view artifact,
    const std::string& entry, const std::string& second_entry, std::uint64_t arena_bytes) {
  std::unique_ptr<LocalRunner> runner(new LocalRunner());
  runner->backend_ = backend.factory();
  runner->device_ = device;
  runner->bytes_ = page_round(arena_bytes);
  runner->argument_count_ = static_cast<std::uint32_t>(task.arguments.size());
  hone_error error{};
  error.struct_size = sizeof error;
  HONE_TRY(check(runner->backend_->create_buffer(device, runner->bytes_, &runner->buffer_, &error),
                 error));
  runner->base_ = static_cast<char*>(runner->backend_->map_buffer(runner->buffer_));
  HONE_ASSIGN(const UniqueFd fd, memory_file("hone-artifact", artifact));
  hone_artifact* loaded = nullptr;
  HONE_TRY(check(runner->backend_->load(device, fd.get(), &loaded, &error), error));
  const std::vector<std::uint32_t> kinds = argument_kinds(task);
  const std::string* entries[2] = {&entry, &second_entry};
  for (int i = 0; i < 2; ++i) {
    if (entries[i]->empty()) continue;
    HONE_TRY(
        check(runner->backend_->get_kernel(loaded, entries[i]->c_str(), kinds.data(),
                                           runner->argument_count_, &runner->kernels_[i], &error),
              error));
  }
  return runner;
}

LocalRunner::~LocalRunner() { backend_->release_buffer(buffer_); }

Round LocalRunner::timed_round(Order order, std::size_t calls, double) {
  hone_kernel* kernel = kernels_[order == Order::kRunSecond ? 1 : 0];
  hone_error error{};
  error.struct_size = sizeof error;
  hone_launch launch{};
  launch.struct_size = sizeof launch;
  launch.count = argument_count_;
  Round round;
  const std::int64_t start = monotonic_ns();
  for (std::size_t i = 0; order != Order::kNothing && i < calls; ++i) {
    launch.values = values_[i].data();
    if (backend_->launch(kernel, buffer_, &launch, &error) != HONE_OK)
      return {Ending::kFault, 0, error.message};
  }
  if (backend_->wait(device_, &error) != HONE_OK) return {Ending::kFault, 0, error.message};
  round.seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
  return round;
}

Round LocalRunner::plain_round(Order order, std::size_t calls, double timeout_s) {
  return timed_round(order, calls, timeout_s);
}

}  // namespace hone
