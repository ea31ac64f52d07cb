// One function for each kind of step.
#include "recorded/issue.hpp"

#include <algorithm>
#include <cstring>

#include "errors.hpp"
#include "recorded/layout.hpp"
#include "recorded/memory_pool.hpp"

namespace hone_gpu {
namespace {

using hone::plugin::fail;
using hone::recorded::Copy;
using hone::recorded::Fill;
using hone::recorded::Launch;
using hone::recorded::Operator;
using hone::recorded::Place;
using hone::recorded::Record;
using hone::recorded::Relocation;
using hone::recorded::Step;
using hone::recorded::TensorMap;
using hone::recorded::Wait;
using hone::recorded::Write;

constexpr std::uint64_t kStagedAlign = 256;

/// "recorded plan/run/3": a step in messages.
std::string step_name(const char* phase, std::size_t step) {
  return std::string("recorded plan/") + phase + "/" + std::to_string(step);
}

std::uint64_t address_of(const std::vector<std::uint64_t>& addresses, const Place& place) {
  return addresses[place.memory] + place.offset;
}

void relocate(std::string& bytes, const std::vector<Relocation>& relocations,
              const std::vector<std::uint64_t>& addresses) {
  for (const Relocation& relocation : relocations) {
    const std::uint64_t address = address_of(addresses, relocation.place);
    std::memcpy(bytes.data() + relocation.at, &address, sizeof address);
  }
}

void encode(const LoadedPlan& loaded, const TensorMap& map,
            const std::vector<std::uint64_t>& addresses, char* out, const std::string& step) {
  alignas(64) char encoded[128];
  const TensorShape shape{static_cast<int>(map.type),
                          map.rank,
                          map.sizes.data(),
                          map.strides.data(),
                          map.box.data(),
                          map.element_strides.data(),
                          static_cast<int>(map.interleave),
                          static_cast<int>(map.swizzle),
                          static_cast<int>(map.promotion),
                          static_cast<int>(map.fill)};
  const Driver& gpu = loaded.device.gpu;
  check(gpu, encode_tensor_map(gpu, encoded, to_address(address_of(addresses, map.place)), shape),
        (step + ": tensor map").c_str(), true);
  std::memcpy(out, encoded, sizeof encoded);
}

std::string bound_parameters(const LoadedPlan& loaded, const Launch& launch,
                             const std::vector<std::uint64_t>& addresses, const std::string& step) {
  const PlanKernel& kernel = loaded.kernels[launch.kernel];
  if (launch.parameters.size() < kernel.parameter_bytes) {
    fail(HONE_INVALID_ARGUMENT,
         step + ": " + kernel.label + " takes " + std::to_string(kernel.parameter_bytes) +
             " bytes of parameters, the launch gives " + std::to_string(launch.parameters.size()));
  }
  std::string parameters = launch.parameters;
  relocate(parameters, launch.addresses, addresses);
  for (const TensorMap& map : launch.tensor_maps) {
    encode(loaded, map, addresses, parameters.data() + map.at, step);
  }
  return parameters;
}

/// Issues the steps of one phase in order.
class Issue {
 public:
  /// `one_stream`: issues all steps to the device's stream.
  Issue(LoadedPlan& loaded, Binding& binding, const char* phase, bool one_stream)
      : loaded_(loaded),
        gpu_(loaded.device.gpu),
        binding_(binding),
        phase_(phase),
        one_stream_(one_stream) {}

  void steps(const std::vector<Step>& steps, std::uint32_t first_operator) {
    operator_ = first_operator;
    for (step_ = 0; step_ < steps.size(); ++step_) {
      const Step& step = steps[step_];
      if (!hone::recorded::runs(step, loaded_.chosen)) continue;
      stream_ = loaded_.streams[one_stream_ ? 0 : step.stream];
      std::visit([&](const auto& work) { issue(work); }, step.work);
    }
  }

 private:
  std::string name() const { return step_name(phase_, step_); }
  std::uint64_t at(const Place& place) const { return address_of(binding_.addresses, place); }
  void expect(gpuResult result, const char* what) {
    if (result != 0) check(gpu_, result, (name() + ": " + what).c_str(), true);
  }

  void issue(const Launch& launch) {
    PlanKernel& kernel = loaded_.kernels[launch.kernel];
    grant_shared(loaded_.device, kernel.function, kernel.label, launch.shared_bytes,
                 kernel.shared_allowed);
    LaunchShape shape{};
    std::copy(launch.grid.begin(), launch.grid.end(), shape.grid);
    std::copy(launch.block.begin(), launch.block.end(), shape.block);
    std::copy(launch.cluster.begin(), launch.cluster.end(), shape.cluster);
    shape.shared_bytes = launch.shared_bytes;
    shape.cooperative = launch.cooperative;
    // Rationale: the first launch of a call must not begin before the call before has ended.
    shape.overlaps = launch.overlaps && has_launched_;
    has_launched_ = true;
    std::string& parameters = binding_.parameters[step_];
    expect(
        launch_packed(gpu_, kernel.function, shape, stream_, parameters.data(), parameters.size()),
        kernel.label.c_str());
  }

  void issue(const Copy& copy) {
    if (copy.bytes == 0 || copy.rows == 0) return;
    if (copy.rows == 1) {
      expect(gpu_.gpuMemcpyDtoDAsync(to_address(at(copy.to)), to_address(at(copy.from)), copy.bytes,
                                     stream_),
             "copy");
      return;
    }
    if (std::max(copy.to_pitch, copy.from_pitch) > loaded_.device.pitch_max) {
      for (std::uint64_t row = 0; row < copy.rows; ++row) {
        expect(gpu_.gpuMemcpyDtoDAsync(to_address(at(copy.to) + row * copy.to_pitch),
                                       to_address(at(copy.from) + row * copy.from_pitch),
                                       copy.bytes, stream_),
               "copy of a row");
      }
      return;
    }
    gpuCopy2D rows{};
    rows.from_kind = kCopyDevice;
    rows.from_device = to_address(at(copy.from));
    rows.from_pitch = copy.from_pitch;
    rows.to_kind = kCopyDevice;
    rows.to_device = to_address(at(copy.to));
    rows.to_pitch = copy.to_pitch;
    rows.width = copy.bytes;
    rows.height = copy.rows;
    expect(gpu_.gpuMemcpy2DAsync(&rows, stream_), "copy of rows");
  }

  void issue(const Write& write) {
    if (write.bytes.empty()) return;
    expect(gpu_.gpuMemcpyDtoDAsync(to_address(at(write.to)), to_address(binding_.staged[step_]),
                                   write.bytes.size(), stream_),
           "write");
  }

  void issue(const Fill& fill) {
    if (fill.count == 0 || fill.rows == 0) return;
    if (fill.rows > 1 && fill.pitch <= loaded_.device.pitch_max) {
      expect(fill_rows(gpu_, to_address(at(fill.to)), fill.pitch, fill.width, fill.value,
                       fill.count, fill.rows, stream_),
             "fill of rows");
      return;
    }
    for (std::uint64_t row = 0; row < fill.rows; ++row) {
      fill_row(fill, to_address(at(fill.to) + row * fill.pitch));
    }
  }
  void fill_row(const Fill& fill, gpuAddress to) {
    if (fill.width == 4) {
      expect(gpu_.gpuMemsetD32Async(to, fill.value, fill.count, stream_), "fill");
    } else if (fill.width == 2) {
      const auto value = static_cast<unsigned short>(fill.value);
      expect(gpu_.gpuMemsetD16Async(to, value, fill.count, stream_), "fill");
    } else {
      const auto value = static_cast<unsigned char>(fill.value);
      expect(gpu_.gpuMemsetD8Async(to, value, fill.count, stream_), "fill");
    }
  }

  void issue(const Operator& call) {
    std::vector<std::uint64_t> addresses;
    for (const hone::recorded::Tensor& tensor : call.tensors) addresses.push_back(at(tensor.place));
    hone_error error{};
    const std::int32_t code = loaded_.device.python->operate(
        loaded_.number, operator_++, addresses.data(), addresses.size(),
        reinterpret_cast<std::uintptr_t>(stream_), error.message, sizeof error.message);
    if (code != HONE_OK) {
      fail(static_cast<hone_code>(code),
           name() + ": operator '" + call.name + "': " + error.message);
    }
  }

  void issue(const Record& record) {
    if (one_stream_) return;
    expect(gpu_.gpuEventRecord(loaded_.events[record.event], stream_), "record an event");
  }
  void issue(const Wait& wait) {
    if (one_stream_) return;
    expect(gpu_.gpuStreamWaitEvent(stream_, loaded_.events[wait.event], 0), "wait for an event");
  }

  LoadedPlan& loaded_;
  const Driver& gpu_;
  Binding& binding_;
  const char* const phase_;
  const bool one_stream_;
  std::size_t step_ = 0;
  std::uint32_t operator_ = 0;
  bool has_launched_ = false;
  gpuStream stream_ = nullptr;
};

std::uint32_t operators_in(const std::vector<Step>& steps) {
  return static_cast<std::uint32_t>(std::count_if(steps.begin(), steps.end(), [](const Step& step) {
    return std::holds_alternative<Operator>(step.work);
  }));
}

/// Copies the bytes of all write steps to device memory.
void stage(LoadedPlan& loaded, Binding& binding, const std::vector<Step>& steps) {
  std::string all;
  binding.staged.assign(steps.size(), 0);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto* write = std::get_if<Write>(&steps[i].work);
    if (write == nullptr || write->bytes.empty()) continue;
    all.resize(round_up(all.size(), kStagedAlign));
    binding.staged[i] = all.size();
    std::string bytes = write->bytes;
    relocate(bytes, write->addresses, binding.addresses);
    all += bytes;
  }
  if (all.empty()) return;
  const hone_device& device = loaded.device;
  binding.staging = pool_of(loaded.device).take(all.size());
  for (std::uint64_t& at : binding.staged) at += binding.staging;
  check(device.gpu,
        device.gpu.gpuMemcpyHtoDAsync(to_address(binding.staging), all.data(), all.size(),
                                      device.stream),
        "bytes that the plan writes");
  check(device.gpu, device.gpu.gpuStreamSynchronize(device.stream), "bytes that the plan writes");
}

Binding bind_phase(LoadedPlan& loaded, std::vector<std::uint64_t> addresses, const char* phase,
                   const std::vector<Step>& steps) {
  Binding binding;
  binding.addresses = std::move(addresses);
  binding.parameters.resize(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto* launch = std::get_if<Launch>(&steps[i].work);
    if (launch == nullptr) continue;
    binding.parameters[i] =
        bound_parameters(loaded, *launch, binding.addresses, step_name(phase, i));
  }
  try {
    stage(loaded, binding, steps);
  } catch (...) {
    unbind(loaded, binding);
    throw;
  }
  return binding;
}

}  // namespace

Binding bind(LoadedPlan& loaded, std::vector<std::uint64_t> addresses) {
  return bind_phase(loaded, std::move(addresses), "run", loaded.plan.run);
}

void unbind(LoadedPlan& loaded, Binding& binding) {
  if (binding.staging != 0) pool_of(loaded.device).give_back(binding.staging);
  binding.staging = 0;
}

void issue_setup(LoadedPlan& loaded) {
  const std::vector<Step>& steps = loaded.plan.setup;
  const hone_device& device = loaded.device;
  Binding binding = bind_phase(loaded, loaded.addresses, "setup", steps);
  try {
    Issue(loaded, binding, "setup", true).steps(steps, 0);
    check(device.gpu, device.gpu.gpuStreamSynchronize(device.stream), "setup of the plan", true);
  } catch (...) {
    unbind(loaded, binding);
    throw;
  }
  unbind(loaded, binding);
}

void issue_run(LoadedPlan& loaded, Binding& binding) {
  const Driver& gpu = loaded.device.gpu;
  const gpuStream first = loaded.streams[0];
  if (loaded.fork != nullptr) check(gpu, gpu.gpuEventRecord(loaded.fork, first), "begin of a call");
  for (std::size_t i = 1; i < loaded.streams.size(); ++i) {
    check(gpu, gpu.gpuStreamWaitEvent(loaded.streams[i], loaded.fork, 0), "begin of a call");
  }
  Issue(loaded, binding, "run", false).steps(loaded.plan.run, operators_in(loaded.plan.setup));
  for (std::size_t i = 1; i < loaded.streams.size(); ++i) {
    check(gpu, gpu.gpuEventRecord(loaded.joins[i - 1], loaded.streams[i]), "end of a call");
    check(gpu, gpu.gpuStreamWaitEvent(first, loaded.joins[i - 1], 0), "end of a call");
  }
}

}  // namespace hone_gpu
