// Artifacts: images that the driver loads, their kernels, and launches of these.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "device.hpp"
#include "errors.hpp"
#include "module.hpp"
#include "recorded/replay.hpp"

namespace hone_gpu {
namespace {

using hone::plugin::fail;
using hone::plugin::guard;

constexpr std::uint64_t kArtifactMax = std::uint64_t{256} << 20;
constexpr std::uint32_t kSharedAlways = 48 * 1024;  // dynamic shared memory that needs no leave

std::string read_artifact(int fd) {
  struct stat about {};
  if (fstat(fd, &about) != 0)
    fail(HONE_UNAVAILABLE, std::string("artifact: ") + std::strerror(errno));
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (size > kArtifactMax)
    fail(HONE_RESOURCE_EXHAUSTED, "artifact of " + std::to_string(size) + " bytes");
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = pread(fd, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(HONE_UNAVAILABLE, "artifact: cut short");
    at += static_cast<std::size_t>(n);
  }
  return bytes;
}

std::size_t size_of(std::uint32_t kind) {
  return kind == HONE_ARGUMENT_I32 || kind == HONE_ARGUMENT_F32 ? 4 : 8;
}

/// Compares the kernel's own arguments with those that it will be given, where the driver can tell.
void check_arguments(const hone_kernel& kernel) {
  const Driver& gpu = kernel.device.gpu;
  const auto count = kernel.kinds.size();
  const std::string& whose = kernel.label;
  for (std::size_t i = 0; i <= count; ++i) {
    std::size_t at = 0, size = 0;
    bool known = false;
    const bool there = argument_place(gpu, kernel.function, i, &at, &size, &known);
    if (!known) return;
    if (!there && i < count) {
      fail(HONE_INVALID_ARGUMENT, whose + " takes " + std::to_string(i) +
                                      " arguments, its launch gives " + std::to_string(count));
    }
    if (there && i == count) {
      fail(HONE_INVALID_ARGUMENT, whose + " takes more than the " + std::to_string(count) +
                                      " arguments that its launch gives");
    }
    if (there && size != size_of(kernel.kinds[i])) {
      fail(HONE_INVALID_ARGUMENT, whose + ": argument " + std::to_string(i + 1) + " has " +
                                      std::to_string(size) + " bytes, its launch gives " +
                                      std::to_string(size_of(kernel.kinds[i])));
    }
  }
}

LaunchShape shape_of(const hone_launch& launch) {
  LaunchShape shape{};
  std::copy_n(launch.grid, 3, shape.grid);
  std::copy_n(launch.block, 3, shape.block);
  std::copy_n(launch.cluster, 3, shape.cluster);
  shape.shared_bytes = launch.shared_bytes;
  shape.cooperative = (launch.flags & HONE_LAUNCH_COOPERATIVE) != 0;
  if (shape.cluster[0] != 0) {
    for (unsigned& side : shape.cluster) side = std::max(side, 1u);
  }
  return shape;
}

/// A recorded plan has one entry, of whatever name.
int32_t get_plan(hone_artifact* artifact, const char* entry, const uint32_t* kinds, uint32_t count,
                 hone_kernel** out, hone_error* error) {
  return guard(error, [&] {
    artifact->replay->check_arguments(kinds, count);
    auto kernel = std::make_unique<hone_kernel>(artifact->device, entry);
    kernel->kinds.assign(kinds, kinds + count);
    kernel->replay = artifact->replay.get();
    artifact->kernels.push_back(std::move(kernel));
    *out = artifact->kernels.back().get();
  });
}

void require_count(const hone_kernel& kernel, const hone_launch& launch) {
  if (launch.count == kernel.kinds.size()) return;
  fail(HONE_INVALID_ARGUMENT, std::to_string(launch.count) + " arguments, the kernel takes " +
                                  std::to_string(kernel.kinds.size()));
}

int32_t call_plan(hone_kernel* kernel, hone_buffer* buffer, const hone_launch* launch,
                  hone_error* error) {
  return guard(error, [&] {
    require_count(*kernel, *launch);
    kernel->replay->call(*buffer, launch->values);
  });
}

}  // namespace

void grant_shared(const hone_device& device, gpuFunction function, const std::string& label,
                  std::uint32_t bytes, std::uint32_t& allowed) {
  if (bytes <= std::max(kSharedAlways, allowed)) return;
  if (bytes > device.shared_max || allow_shared_bytes(device.gpu, function, bytes) != 0) {
    int fixed = 0;
    device.gpu.gpuFuncGetAttribute(&fixed, kFunctionSharedStatic, function);
    fail(HONE_RESOURCE_EXHAUSTED, label + ": " + std::to_string(bytes) +
                                      " bytes of shared memory a block, and " +
                                      std::to_string(fixed) + " declared; the device has " +
                                      std::to_string(device.shared_max));
  }
  allowed = bytes;
}

// Rationale: the first fill, copy and strided read of a context each set something up in the
// driver; here it costs no round, and happens while files may still be opened.
int32_t prepare_load(hone_device* device, uint32_t, hone_error* error) {
  hone_buffer* buffer = nullptr;
  constexpr uint64_t kRow = 128;
  constexpr uint64_t kRows = 512;
  int32_t code = create_buffer(device, 2 * kRow * kRows, &buffer, error);
  if (code != HONE_OK) return code;
  void* pinned = nullptr;
  code = pin_memory(device, kRow * kRows, &pinned, error);
  if (code == HONE_OK) code = write_buffer(buffer, 0, pinned, kRow * kRows, error);
  if (code == HONE_OK) code = copy_buffer(buffer, kRow * kRows, buffer, 0, kRow * kRows, error);
  if (code == HONE_OK) code = read_rows(buffer, 0, 2 * kRow, kRow, kRows, pinned, error);
  if (code == HONE_OK) code = read_buffer(buffer, 0, pinned, kRow * kRows, error);
  if (code == HONE_OK) code = wait(device, error);
  release_buffer(buffer);
  return code;
}

int32_t load(hone_device* device, int32_t fd, hone_artifact** out, hone_error* error) {
  int32_t said = HONE_OK;  // by an interpreter, with its words in `error`
  const int32_t code = guard(error, [&] {
    use(*device);
    const std::string bytes = read_artifact(fd);
    if (is_recorded_plan(bytes)) {
      auto replay = std::make_shared<Replay>(LoadedPlan::load(*device, bytes));
      *out = new hone_artifact{*device, nullptr, {}, {}, std::move(replay)};
      return;
    }
    if (runs_modules(*device)) {
      said = load_module(device, bytes, out, error);
      return;
    }
    const hone::plugin::Value content = hone::plugin::from_msgpack(std::string_view(bytes));
    const std::string& image = content.at("image").as_bytes();
    auto artifact = std::make_unique<hone_artifact>(
        hone_artifact{*device, nullptr, content.at("entries"), {}, nullptr});
    check(device->gpu, device->gpu.gpuModuleLoadData(&artifact->module, image.data()),
          "load the image");
    *out = artifact.release();
  });
  return said != HONE_OK ? said : code;
}

void unload(hone_artifact* artifact) {
  if (artifact == nullptr) return;
  const Driver& gpu = artifact->device.gpu;
  use_context(gpu, artifact->device.ordinal, artifact->device.context);
  if (artifact->module != nullptr) gpu.gpuModuleUnload(artifact->module);
  delete artifact;
}

int32_t get_kernel(hone_artifact* artifact, const char* entry, const uint32_t* kinds,
                   uint32_t count, hone_kernel** out, hone_error* error) {
  if (artifact->replay != nullptr) return get_plan(artifact, entry, kinds, count, out, error);
  if (runs_modules(artifact->device)) return get_module_kernel(artifact, entry, count, out, error);
  return guard(error, [&] {
    hone_device& device = artifact->device;
    use(device);
    if (count > HONE_ARGUMENTS_MAX) {
      fail(HONE_INVALID_ARGUMENT, std::to_string(count) + " arguments, at most " +
                                      std::to_string(HONE_ARGUMENTS_MAX) + " allowed");
    }
    const hone::plugin::Value* symbol = artifact->entries.find(entry);
    if (symbol == nullptr) {
      fail(HONE_NOT_FOUND, std::string("no kernel '") + entry + "' in the artifact");
    }
    auto kernel = std::make_unique<hone_kernel>(device, entry);
    for (uint32_t i = 0; i < count; ++i) {
      if (kinds[i] > HONE_ARGUMENT_ADDRESS) {
        fail(HONE_INVALID_ARGUMENT, "argument kind " + std::to_string(kinds[i]));
      }
      kernel->kinds.push_back(kinds[i]);
    }
    check(device.gpu,
          device.gpu.gpuModuleGetFunction(&kernel->function, artifact->module,
                                          symbol->as_string().c_str()),
          kernel->label.c_str());
    check_arguments(*kernel);
    artifact->kernels.push_back(std::move(kernel));
    *out = artifact->kernels.back().get();
  });
}

int32_t launch(hone_kernel* kernel, hone_buffer* buffer, const hone_launch* launch,
               hone_error* error) {
  if (kernel->replay != nullptr) return call_plan(kernel, buffer, launch, error);
  if (runs_modules(kernel->device)) return launch_module(kernel, buffer, launch, error);
  return guard(error, [&] {
    const hone_device& device = kernel->device;
    require_count(*kernel, *launch);
    use(device);
    grant_shared(device, kernel->function, kernel->label, launch->shared_bytes,
                 kernel->shared_allowed);
    for (std::uint32_t i = 0; i < launch->count; ++i) {
      std::uint64_t value = launch->values[i];  // a smaller scalar lies in the low bytes
      if (kernel->kinds[i] == HONE_ARGUMENT_BUFFER) value += buffer->address;
      kernel->values[i] = value;
    }
    check(device.gpu,
          launch_kernel(device.gpu, kernel->function, shape_of(*launch), device.stream,
                        kernel->pointers.data()),
          kernel->label.c_str(), true);
  });
}

int32_t chosen_configurations(hone_kernel* kernel, uint32_t* out, uint32_t max, uint32_t* count,
                              hone_error*) {
  *count = 0;
  if (kernel->replay == nullptr) return HONE_OK;
  const std::vector<std::uint32_t>& chosen = kernel->replay->chosen();
  *count = static_cast<std::uint32_t>(chosen.size());
  std::copy_n(chosen.begin(), std::min<std::size_t>(chosen.size(), max), out);
  return HONE_OK;
}

}  // namespace hone_gpu
