// Loads a plan in steps. If a step fails, the destructor releases the resources of the steps before.
#include "recorded/loaded_plan.hpp"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "errors.hpp"
#include "hone/recorded_plan_reader.hpp"
#include "recorded/issue.hpp"
#include "recorded/layout.hpp"
#include "recorded/memory_pool.hpp"

namespace hone_gpu {
namespace {

using hone::plugin::fail;
using hone::plugin::Value;
using hone::recorded::Memory;
using hone::recorded::MemoryKind;
using hone::recorded::Operator;
using hone::recorded::Plan;
using hone::recorded::Step;

/// The architecture without its suffix: a device of "sm_90a" also runs code for "sm_90".
std::string family(std::string architecture) {
  if (architecture.rfind("sm_", 0) == 0 && architecture.back() == 'a') architecture.pop_back();
  return architecture;
}

void check_architecture(const LoadedPlan& loaded) {
  const std::string& here = loaded.device.facts.at("architecture").as_string();
  if (family(loaded.plan.architecture) == family(here)) return;
  fail(HONE_INVALID_ARGUMENT,
       "the plan was recorded for " + loaded.plan.architecture + ", the device is " + here);
}

/// Rationale: the driver gets no size with an image, and also accepts PTX, which it would compile. So
/// an image must be an ELF file whose tables lie within its bytes.
void check_image(const std::string& bytes, std::size_t number) {
  Elf64_Ehdr header{};
  const bool has_header = bytes.size() >= sizeof header;
  if (has_header) std::memcpy(&header, bytes.data(), sizeof header);
  const bool is_elf = has_header && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                      header.e_ident[EI_CLASS] == ELFCLASS64;
  const auto holds = [&](std::uint64_t at, std::uint64_t count, std::uint64_t size) {
    return count == 0 || (at <= bytes.size() && count * size <= bytes.size() - at);
  };
  if (!is_elf || !holds(header.e_shoff, header.e_shnum, header.e_shentsize) ||
      !holds(header.e_phoff, header.e_phnum, header.e_phentsize)) {
    fail(HONE_INVALID_ARGUMENT, "recorded plan/images/" + std::to_string(number) +
                                    ": expected a whole ELF file of 64 bits, found " +
                                    std::to_string(bytes.size()) + " bytes of something else");
  }
}

void load_images(LoadedPlan& loaded) {
  const Driver& gpu = loaded.device.gpu;
  for (hone::recorded::Image& image : loaded.plan.images) {
    check_image(image.bytes, loaded.modules.size());
    gpuModule module = nullptr;
    check(gpu, gpu.gpuModuleLoadData(&module, image.bytes.data()),
          ("recorded plan/images/" + std::to_string(loaded.modules.size())).c_str());
    loaded.modules.push_back(module);
    image.bytes = {};
  }
}

/// The size of a kernel's parameters; 0 if the driver does not report it.
std::uint64_t parameter_bytes(const Driver& gpu, gpuFunction function) {
  std::uint64_t end = 0;
  for (std::size_t i = 0;; ++i) {
    std::size_t at = 0, size = 0;
    bool known = false;
    if (!argument_place(gpu, function, i, &at, &size, &known) || !known) return end;
    end = std::max<std::uint64_t>(end, at + size);
  }
}

void find_kernels(LoadedPlan& loaded) {
  const Driver& gpu = loaded.device.gpu;
  for (const hone::recorded::Kernel& wanted : loaded.plan.kernels) {
    PlanKernel kernel;
    kernel.label = "kernel '" + wanted.name.substr(0, 128) + "'";
    check(gpu,
          gpu.gpuModuleGetFunction(&kernel.function, loaded.modules[wanted.image],
                                   wanted.name.c_str()),
          kernel.label.c_str());
    kernel.parameter_bytes = parameter_bytes(gpu, kernel.function);
    grant_shared(loaded.device, kernel.function, kernel.label, wanted.shared_bytes_max,
                 kernel.shared_allowed);
    if (wanted.carveout >= 0) {
      check(gpu, prefer_shared(gpu, kernel.function, wanted.carveout), kernel.label.c_str());
    }
    if (wanted.nonportable_clusters) {
      check(gpu, allow_large_clusters(gpu, kernel.function), kernel.label.c_str());
    }
    loaded.kernels.push_back(std::move(kernel));
  }
}

std::uint64_t find_global(const LoadedPlan& loaded, const Memory& memory) {
  const Driver& gpu = loaded.device.gpu;
  const std::string label = "variable '" + memory.name.substr(0, 128) + "'";
  gpuAddress address{};
  std::size_t bytes = 0;
  check(gpu,
        gpu.gpuModuleGetGlobal(&address, &bytes, loaded.modules[memory.image], memory.name.c_str()),
        label.c_str());
  if (bytes < memory.bytes) {
    fail(HONE_INVALID_ARGUMENT, label + " has " + std::to_string(bytes) + " bytes, the plan uses " +
                                    std::to_string(memory.bytes));
  }
  return from_address(address);
}

void place_memory(LoadedPlan& loaded) {
  const Layout layout = lay_out(loaded.plan);
  if (layout.bytes > 0) loaded.private_address = pool_of(loaded.device).take(layout.bytes);
  for (std::size_t i = 0; i < loaded.plan.memories.size(); ++i) {
    const Memory& memory = loaded.plan.memories[i];
    std::uint64_t address = 0;
    if (memory.kind == MemoryKind::kPrivate) address = loaded.private_address + layout.offsets[i];
    if (memory.kind == MemoryKind::kGlobal) address = find_global(loaded, memory);
    loaded.addresses.push_back(address);
  }
}

gpuEvent make_event(const Driver& gpu) {
  gpuEvent event = nullptr;
  check(gpu, gpu.gpuEventCreate(&event, kEventNoTiming), "make an event");
  return event;
}

void make_streams(LoadedPlan& loaded) {
  const Driver& gpu = loaded.device.gpu;
  loaded.streams.push_back(loaded.device.stream);
  for (std::uint32_t i = 0; i < loaded.plan.events; ++i) loaded.events.push_back(make_event(gpu));
  if (loaded.plan.streams == 1) return;
  loaded.fork = make_event(gpu);
  for (std::uint32_t i = 1; i < loaded.plan.streams; ++i) {
    gpuStream stream = nullptr;
    check(gpu, gpu.gpuStreamCreate(&stream, kStreamNonBlocking), "make a stream");
    loaded.streams.push_back(stream);
    loaded.joins.push_back(make_event(gpu));
  }
}

Value described(const Operator& call) {
  Value tensors = Value::array();
  for (const hone::recorded::Tensor& tensor : call.tensors) {
    Value sizes = Value::array(), strides = Value::array();
    for (const std::int64_t size : tensor.sizes) sizes.push(size);
    for (const std::int64_t stride : tensor.strides) strides.push(stride);
    tensors.push(Value::map(
        {{"dtype", tensor.dtype}, {"sizes", std::move(sizes)}, {"strides", std::move(strides)}}));
  }
  Value results = Value::array();
  for (const std::uint32_t result : call.results) results.push(result);
  return Value::map({{"name", call.name},
                     {"arguments", call.arguments},
                     {"keywords", call.keywords},
                     {"settings", call.settings},
                     {"tensors", std::move(tensors)},
                     {"results", std::move(results)}});
}

bool makes_operators(const hone_python* python) {
  constexpr std::size_t kNeeded = offsetof(hone_python, operate) + sizeof(python->operate);
  return python != nullptr && python->struct_size >= kNeeded && python->load_operators != nullptr &&
         python->operate != nullptr;
}

void hand_over_operators(LoadedPlan& loaded) {
  Value calls = Value::array();
  std::string first;
  for (const std::vector<Step>* phase : {&loaded.plan.setup, &loaded.plan.run}) {
    for (const Step& step : *phase) {
      const auto* call = std::get_if<Operator>(&step.work);
      if (call == nullptr) continue;
      if (first.empty()) first = call->name;
      calls.push(described(*call));
    }
  }
  if (first.empty()) return;
  const hone_python* python = loaded.device.python;
  if (!makes_operators(python)) {
    fail(HONE_INVALID_ARGUMENT,
         "the plan calls the operator '" + first + "', and this process has no torch to run it");
  }
  loaded.number = ++loaded.device.plans_loaded;
  const std::string list = hone::plugin::to_msgpack(calls);
  hone_error error{};
  const std::int32_t code = python->load_operators(loaded.number, list.data(), list.size(),
                                                   error.message, sizeof error.message);
  if (code != HONE_OK) fail(static_cast<hone_code>(code), error.message);
}

}  // namespace

std::unique_ptr<LoadedPlan> LoadedPlan::load(hone_device& device, std::string_view file) {
  auto loaded = std::make_unique<LoadedPlan>(device);
  loaded->plan = hone::recorded::read_plan(file);
  loaded->chosen.resize(loaded->plan.tuned.size());
  check_architecture(*loaded);
  hand_over_operators(*loaded);
  load_images(*loaded);
  find_kernels(*loaded);
  place_memory(*loaded);
  make_streams(*loaded);
  issue_setup(*loaded);
  return loaded;
}

LoadedPlan::~LoadedPlan() {
  const Driver& gpu = device.gpu;
  use_context(gpu, device.ordinal, device.context);
  if (number != 0) device.python->load_operators(number, nullptr, 0, nullptr, 0);
  for (const gpuEvent event : events) gpu.gpuEventDestroy(event);
  for (const gpuEvent event : joins) gpu.gpuEventDestroy(event);
  if (fork != nullptr) gpu.gpuEventDestroy(fork);
  for (std::size_t i = 1; i < streams.size(); ++i) gpu.gpuStreamDestroy(streams[i]);
  if (private_address != 0) pool_of(device).give_back(private_address);
  for (const gpuModule module : modules) gpu.gpuModuleUnload(module);
}

}  // namespace hone_gpu
