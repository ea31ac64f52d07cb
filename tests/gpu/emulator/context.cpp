// Start-up, the device's description, the primary context and the names of errors.
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <semaphore>

#include "driver.hpp"

namespace hone_emulated {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kSharedMapped = (kSharedBytesMax + kPage - 1) / kPage * kPage;
constexpr int kDriverVersion = 13000;
constexpr int kSpareFiles = 32;  // each is a module that a sealed process may still load

thread_local bool t_current = false;

struct ErrorText {
  CUresult code;
  const char* name;
  const char* text;
};
constexpr ErrorText kErrors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_UNSUPPORTED_LIMIT, "CUDA_ERROR_UNSUPPORTED_LIMIT",
     "limit is not supported on this architecture"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED",
     "shared object initialization failed"},
    {CUDA_ERROR_OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM",
     "OS call failed or operation not supported on this OS"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT",
     "the launch timed out and was terminated"},
    {CUDA_ERROR_ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
     "an illegal instruction was encountered"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "too many blocks in cooperative launch"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
     "capturing stream has unjoined work"},
    {CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "dependency created on uncaptured work in another stream"},
    {CUDA_ERROR_INVALID_CLUSTER_SIZE, "CUDA_ERROR_INVALID_CLUSTER_SIZE",
     "cluster misconfiguration"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const ErrorText* find_error(CUresult code) {
  for (const ErrorText& error : kErrors) {
    if (error.code == code) return &error;
  }
  return nullptr;
}

struct Attribute {
  CUdevice_attribute what;
  int value;
};
/// As an H200's where code depends on it; small where tests would otherwise take long (multiprocessors, cache).
constexpr Attribute kAttributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kBlockThreadsMax},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0x7fffffff},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, kSharedBytesDefault},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, HONE_EMULATED_WARP},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 0x7fffffff},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, kMultiprocessors},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, 0},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0},
    {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0},
    {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 256 << 10},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, kThreadsPerMultiprocessor},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 << 10},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 0},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, kSharedBytesMax},
    {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
};

unsigned char* make_shared() {
  void* memory = mmap(nullptr, kSharedMapped + 2 * kPage, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  auto* begin = static_cast<unsigned char*>(memory) + kPage;
  mprotect(begin, kSharedMapped, PROT_READ | PROT_WRITE);
  return begin + kSharedMapped;
}

std::unique_ptr<Context> make_context() {
  auto context = std::make_unique<Context>();
  for (int i = 0; i < kSpareFiles; ++i) {
    const int fd = memfd_create("hone-emulated-module", MFD_CLOEXEC);
    if (fd >= 0) context->spare_files.push_back(fd);
  }
  return context;
}

/// A thread of the driver's own, which does nothing: real drivers have some, and a process that is sealed or counted
/// must cope. It takes no signal, and holds no lock of an allocator once this returns: who forks next may not wait for
/// one for ever.
void start_thread() {
  static std::binary_semaphore is_idle(0);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const auto idle = [](void*) -> void* {
    is_idle.release();
    for (;;) pause();
  };
  if (pthread_create(&thread, nullptr, idle, nullptr) == 0) {
    pthread_detach(thread);
    is_idle.acquire();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

CUresult wait_for_all() {
  const std::lock_guard lock(driver().mutex);
  const CUresult result = ready();
  if (driver().context != nullptr) flush_print(*driver().context);
  return result;
}

Context::Context() : shared(make_shared()) {}

Context::~Context() {
  for (const int fd : spare_files) close(fd);
  munmap(shared - kSharedMapped - kPage, kSharedMapped + 2 * kPage);
}

Driver& driver() {
  static Driver the_driver;
  return the_driver;
}

bool is_current() { return t_current; }

CUresult ready(bool despite_fault) {
  const Driver& all = driver();
  if (!all.initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!t_current || all.retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
  return despite_fault ? CUDA_SUCCESS : all.fault;
}

}  // namespace hone_emulated

using namespace hone_emulated;

// NOLINTBEGIN(readability-identifier-naming): the driver's names.
HONE_EMULATED_API CUresult cuInit(unsigned flags) {
  const std::lock_guard lock(driver().mutex);
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (!driver().initialised) start_thread();
  driver().initialised = true;
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = kDriverVersion;
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuDeviceGetCount(int* count) {
  const std::lock_guard lock(driver().mutex);
  if (!driver().initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = device_count();
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  while (is_listed("emulated_devices_that_hang", ordinal)) usleep(10'000);
  if (is_listed("emulated_devices_that_fail", ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard lock(driver().mutex);
  if (!driver().initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (ordinal < 0 || ordinal >= device_count()) return CUDA_ERROR_INVALID_DEVICE;
  *device = 0;  // a process uses one of them
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  if (name == nullptr || size <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(name, static_cast<std::size_t>(size), "hone emulated device");
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute what,
                                                CUdevice device) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  if (what == CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS && lies_beside("emulated_pageable")) {
    *value = 1;
    return CUDA_SUCCESS;
  }
  for (const Attribute& attribute : kAttributes) {
    if (attribute.what != what) continue;
    *value = attribute.value;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

HONE_EMULATED_API CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = memory_bytes();
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned) {
  return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

HONE_EMULATED_API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) try {
  const std::lock_guard lock(driver().mutex);
  if (!driver().initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  if (driver().context == nullptr) driver().context = make_context();
  ++driver().retained;
  *context = reinterpret_cast<CUcontext>(driver().context.get());
  return CUDA_SUCCESS;
} catch (const std::bad_alloc&) {
  return CUDA_ERROR_OUT_OF_MEMORY;
}

HONE_EMULATED_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  const std::lock_guard lock(driver().mutex);
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  if (driver().retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (--driver().retained == 0) driver().context.reset();
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuCtxSetCurrent(CUcontext context) {
  const std::lock_guard lock(driver().mutex);
  if (!driver().initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (context != nullptr && reinterpret_cast<Context*>(context) != driver().context.get())
    return CUDA_ERROR_INVALID_CONTEXT;
  t_current = context != nullptr;
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuCtxSynchronize() { return wait_for_all(); }

HONE_EMULATED_API CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  Context& context = *driver().context;
  switch (limit) {
    case CU_LIMIT_STACK_SIZE:
      return CUDA_SUCCESS;  // stacks here have one size
    case CU_LIMIT_PRINTF_FIFO_SIZE:
      if (context.has_printed) return CUDA_ERROR_INVALID_VALUE;
      context.print_bytes_max = value;
      return CUDA_SUCCESS;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
      if (context.heap.used()) return CUDA_ERROR_INVALID_VALUE;
      return context.heap.resize(value) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  }
  return CUDA_ERROR_UNSUPPORTED_LIMIT;
}

HONE_EMULATED_API CUresult cuGetErrorName(CUresult code, const char** name) {
  const ErrorText* found = find_error(code);
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = found != nullptr ? found->name : nullptr;
  return found != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

HONE_EMULATED_API CUresult cuGetErrorString(CUresult code, const char** text) {
  const ErrorText* found = find_error(code);
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = found != nullptr ? found->text : nullptr;
  return found != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
// NOLINTEND(readability-identifier-naming)
