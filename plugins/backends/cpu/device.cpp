// Arenas are sealed memory files; artifacts are shared libraries loaded from a descriptor; calls go
// through libffi. Where there is an interpreter, artifacts are Python's, and so are calls.
#include "device.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <ffi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "artifact_file.hpp"
#include "hone/plugin.hpp"

struct hone_device {
  uint32_t index;
  std::vector<std::unique_ptr<char[]>> pinned;
  const hone_python* python = nullptr;
};

struct hone_buffer {
  int fd;
  uint64_t bytes;
  char* base;
};

struct hone_kernel {
  const hone_python* python = nullptr;  ///< or null, and then the function
  int32_t number = 0;                   ///< of `python`
  void (*entry)() = nullptr;
  ffi_cif call;
  uint32_t count;
  uint32_t kinds[HONE_ARGUMENTS_MAX];
  ffi_type* types[HONE_ARGUMENTS_MAX];
};

struct hone_artifact {
  const hone_python* python = nullptr;  ///< or null, and then the library
  void* library = nullptr;
  std::vector<std::unique_ptr<hone_kernel>> kernels = {};
};

namespace hone_cpu {
namespace {

__attribute__((format(printf, 3, 4))) int32_t fail(hone_error* error, int32_t code,
                                                   const char* format, ...) {
  if (error != nullptr) {
    error->code = code;
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
  }
  return code;
}

/// No load and store unit is faster, caches or not: 128 bytes a cycle at 6 GHz.
constexpr double kCoreBytesPerSecond = 128 * 6e9;

int32_t map(int fd, uint64_t bytes, hone_buffer** out, hone_error* error) {
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) {
    const int reason = errno;
    close(fd);
    return fail(error, HONE_UNAVAILABLE, "map %llu bytes: %s",
                static_cast<unsigned long long>(bytes), std::strerror(reason));
  }
  *out = new (std::nothrow) hone_buffer{fd, bytes, static_cast<char*>(base)};
  return *out != nullptr ? HONE_OK : fail(error, HONE_RESOURCE_EXHAUSTED, "out of memory");
}

bool outside(const hone_buffer* buffer, uint64_t at, uint64_t size) {
  return at > buffer->bytes || size > buffer->bytes - at;
}

ffi_type* ffi_type_of(uint32_t kind) {
  switch (kind) {
    case HONE_ARGUMENT_BUFFER:
    case HONE_ARGUMENT_ADDRESS:
      return &ffi_type_pointer;
    case HONE_ARGUMENT_I32:
      return &ffi_type_sint32;
    case HONE_ARGUMENT_I64:
      return &ffi_type_sint64;
    case HONE_ARGUMENT_F32:
      return &ffi_type_float;
    case HONE_ARGUMENT_F64:
      return &ffi_type_double;
    default:
      return nullptr;
  }
}

}  // namespace

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t at = line.find(": ");
    return at == std::string::npos ? line : line.substr(at + 2);
  }
  return "unknown processor";
}

hone::plugin::Value device_facts(const hone_device& device) {
  using hone::plugin::Value;
  const auto none = [] { return Value::array({0, 0, 0}); };
  const auto cores = static_cast<std::int64_t>(sysconf(_SC_NPROCESSORS_ONLN));
  const auto memory = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * 4096;
  return Value::map({{"index", static_cast<std::int64_t>(device.index)},
                     {"name", processor_name()},
                     {"architecture", "x86-64"},
                     {"driver", ""},
                     {"memory_bytes", memory},
                     {"cache_bytes", 0},
                     {"multiprocessors", cores},
                     {"bytes_per_second_max", kCoreBytesPerSecond * static_cast<double>(cores)},
                     {"dram_bytes_per_second", 0.0},
                     {"host_memory_reachable", true},
                     {"limits", Value::map({{"grid", none()},
                                            {"block", none()},
                                            {"block_threads", 0},
                                            {"shared_bytes", 0},
                                            {"cluster", 0}})},
                     {"throttled", Value::array()}});
}

int32_t facts(hone_device* device, hone_sink* out, hone_error* error) {
  return hone::plugin::guard(error, [&] { hone::plugin::write(out, device_facts(*device)); });
}

int32_t open_device(const hone_host*, uint32_t index, hone_device** out, hone_error* error) {
  *out = new (std::nothrow) hone_device{index, {}, nullptr};
  return *out != nullptr ? HONE_OK : fail(error, HONE_RESOURCE_EXHAUSTED, "out of memory");
}

void close_device(hone_device* device) { delete device; }

int32_t create_buffer(hone_device*, uint64_t bytes, hone_buffer** out, hone_error* error) {
  if (bytes == 0) return fail(error, HONE_INVALID_ARGUMENT, "a buffer of 0 bytes");
  const int fd = memfd_create("hone-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return fail(error, HONE_UNAVAILABLE, "memfd_create: %s", std::strerror(errno));
  // Rationale: without the seals a candidate could shrink the file, and the judge would die of
  // SIGBUS.
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0 ||
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    const int reason = errno;
    close(fd);
    return fail(error, HONE_UNAVAILABLE, "arena of %llu bytes: %s",
                static_cast<unsigned long long>(bytes), std::strerror(reason));
  }
  return map(fd, bytes, out, error);
}

int32_t export_buffer(hone_buffer* buffer, int32_t* fd, hone_error* error) {
  *fd = fcntl(buffer->fd, F_DUPFD_CLOEXEC, 3);
  return *fd >= 0 ? HONE_OK : fail(error, HONE_UNAVAILABLE, "dup: %s", std::strerror(errno));
}

int32_t import_buffer(hone_device*, int32_t fd, uint64_t bytes, hone_buffer** out,
                      hone_error* error) {
  if (bytes == 0 || !holds(fd, bytes)) {
    return fail(error, HONE_INVALID_ARGUMENT, "the descriptor is no arena of %llu bytes",
                static_cast<unsigned long long>(bytes));
  }
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (own < 0) return fail(error, HONE_UNAVAILABLE, "dup: %s", std::strerror(errno));
  return map(own, bytes, out, error);
}

void* map_buffer(hone_buffer* buffer) { return buffer->base; }

int32_t write_buffer(hone_buffer* buffer, uint64_t at, const void* data, uint64_t size,
                     hone_error* error) {
  if (outside(buffer, at, size))
    return fail(error, HONE_INVALID_ARGUMENT, "write beyond the buffer");
  std::memcpy(buffer->base + at, data, size);
  return HONE_OK;
}

int32_t read_buffer(hone_buffer* buffer, uint64_t at, void* data, uint64_t size,
                    hone_error* error) {
  if (outside(buffer, at, size))
    return fail(error, HONE_INVALID_ARGUMENT, "read beyond the buffer");
  std::memcpy(data, buffer->base + at, size);
  return HONE_OK;
}

int32_t copy_buffer(hone_buffer* to, uint64_t to_at, hone_buffer* from, uint64_t from_at,
                    uint64_t size, hone_error* error) {
  if (outside(to, to_at, size) || outside(from, from_at, size))
    return fail(error, HONE_INVALID_ARGUMENT, "copy beyond the buffer");
  if (to == from && to_at < from_at + size && from_at < to_at + size)
    return fail(error, HONE_INVALID_ARGUMENT, "copy onto itself");
  // Two buffers may be one memory, imported twice.
  std::memmove(to->base + to_at, from->base + from_at, size);
  return HONE_OK;
}

int32_t read_rows(hone_buffer* buffer, uint64_t at, uint64_t pitch, uint64_t width, uint64_t rows,
                  void* data, hone_error* error) {
  if (rows == 0) return HONE_OK;
  uint64_t size = 0;
  if (__builtin_mul_overflow(rows - 1, pitch, &size) ||
      __builtin_add_overflow(size, width, &size) || width > pitch || outside(buffer, at, size)) {
    return fail(error, HONE_INVALID_ARGUMENT, "rows beyond the buffer");
  }
  for (uint64_t row = 0; row < rows; ++row) {
    std::memcpy(static_cast<char*>(data) + row * width, buffer->base + at + row * pitch, width);
  }
  return HONE_OK;
}

int32_t pin_memory(hone_device* device, uint64_t bytes, void** out, hone_error* error) {
  std::unique_ptr<char[]> memory(new (std::nothrow) char[bytes]);
  if (memory == nullptr) return fail(error, HONE_RESOURCE_EXHAUSTED, "out of memory");
  *out = memory.get();
  device->pinned.push_back(std::move(memory));
  return HONE_OK;
}

uint64_t buffer_address(hone_buffer* buffer) { return reinterpret_cast<uint64_t>(buffer->base); }

int32_t guard_buffer(hone_buffer* buffer, uint64_t at, uint64_t bytes, int32_t on,
                     hone_error* error) {
  if (outside(buffer, at, bytes))
    return fail(error, HONE_INVALID_ARGUMENT, "guard beyond the buffer");
  if (mprotect(buffer->base + at, bytes, on ? PROT_NONE : PROT_READ | PROT_WRITE) != 0) {
    return fail(error, HONE_UNAVAILABLE, "mprotect: %s", std::strerror(errno));
  }
  return HONE_OK;
}

void release_buffer(hone_buffer* buffer) {
  if (buffer == nullptr) return;
  munmap(buffer->base, buffer->bytes);
  close(buffer->fd);
  delete buffer;
}

int32_t prepare_load(hone_device*, uint32_t threads, hone_error*) {
  // What a submission may link with besides libc and libstdc++; a machine without OpenMP simply has
  // none to offer.
  if (threads > 1) {
    for (const char* name : {"libgomp.so.1", "libomp.so.5"}) dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  return HONE_OK;
}

namespace {

int32_t load_python(const hone_python* python, int32_t fd, hone_artifact** out, hone_error* error) {
  const std::string text = whole_file(fd);
  error->code = python->load(text.data(), text.size(), error->message, sizeof error->message);
  if (error->code != HONE_OK) return error->code;
  *out = new (std::nothrow) hone_artifact{python};
  return *out != nullptr ? HONE_OK : fail(error, HONE_RESOURCE_EXHAUSTED, "out of memory");
}

int32_t python_kernel(hone_artifact* artifact, const char* entry, uint32_t count, hone_kernel** out,
                      hone_error* error) {
  auto kernel = std::make_unique<hone_kernel>();
  kernel->python = artifact->python;
  kernel->count = count;
  error->code =
      kernel->python->get_kernel(entry, &kernel->number, error->message, sizeof error->message);
  if (error->code != HONE_OK) return error->code;
  *out = kernel.get();
  artifact->kernels.push_back(std::move(kernel));
  return HONE_OK;
}

}  // namespace

int32_t use_python(hone_device* device, const hone_python* python, hone_error*) {
  device->python = python;
  return HONE_OK;
}

int32_t load(hone_device* device, int32_t fd, hone_artifact** out, hone_error* error) {
  if (device->python != nullptr) return load_python(device->python, fd, out, error);
  if (!is_whole_library(fd))
    return fail(error, HONE_INVALID_ARGUMENT, "load: no shared library, or one cut short");
  void* library = dlopen(unused_path(fd).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return fail(error, HONE_INVALID_ARGUMENT, "load: %s",
                reason != nullptr ? reason : "no reason given");
  }
  *out = new (std::nothrow) hone_artifact{nullptr, library};
  return *out != nullptr ? HONE_OK : fail(error, HONE_RESOURCE_EXHAUSTED, "out of memory");
}

void unload(hone_artifact* artifact) {
  // The library stays: the threads and handlers of foreign code outlive any promise.
  delete artifact;
}

int32_t get_kernel(hone_artifact* artifact, const char* entry, const uint32_t* kinds,
                   uint32_t count, hone_kernel** out, hone_error* error) {
  if (count > HONE_ARGUMENTS_MAX)
    return fail(error, HONE_INVALID_ARGUMENT, "%u arguments, at most 16 allowed", count);
  if (artifact->python != nullptr) return python_kernel(artifact, entry, count, out, error);
  void* symbol = dlsym(artifact->library, entry);
  if (symbol == nullptr)
    return fail(error, HONE_NOT_FOUND, "no function '%s'; declare it extern \"C\"", entry);
  auto kernel = std::make_unique<hone_kernel>();
  std::memcpy(&kernel->entry, &symbol, sizeof symbol);
  kernel->count = count;
  for (uint32_t i = 0; i < count; ++i) {
    kernel->kinds[i] = kinds[i];
    kernel->types[i] = ffi_type_of(kinds[i]);
    if (kernel->types[i] == nullptr)
      return fail(error, HONE_INVALID_ARGUMENT, "argument kind %u", kinds[i]);
  }
  if (ffi_prep_cif(&kernel->call, FFI_DEFAULT_ABI, count, &ffi_type_void, kernel->types) !=
      FFI_OK) {
    return fail(error, HONE_INTERNAL, "ffi_prep_cif");
  }
  *out = kernel.get();
  artifact->kernels.push_back(std::move(kernel));
  return HONE_OK;
}

int32_t launch(hone_kernel* kernel, hone_buffer* buffer, const hone_launch* launch,
               hone_error* error) {
  if (launch->count != kernel->count) {
    return fail(error, HONE_INVALID_ARGUMENT, "%u arguments, the kernel takes %u", launch->count,
                kernel->count);
  }
  if (kernel->python != nullptr) {
    error->code =
        kernel->python->launch(kernel->number, buffer->base, buffer->bytes, launch->values,
                               launch->count, error->message, sizeof error->message);
    return error->code;
  }
  void* pointers[HONE_ARGUMENTS_MAX];
  void* values[HONE_ARGUMENTS_MAX];
  uint64_t scalars[HONE_ARGUMENTS_MAX];
  for (uint32_t i = 0; i < kernel->count; ++i) {
    if (kernel->kinds[i] == HONE_ARGUMENT_BUFFER) {
      pointers[i] = buffer->base + launch->values[i];
      values[i] = &pointers[i];
    } else {
      scalars[i] = launch->values[i];
      values[i] = &scalars[i];  // little-endian: a smaller scalar lies in the low bytes
    }
  }
  ffi_call(&kernel->call, kernel->entry, nullptr, values);
  return HONE_OK;
}

int32_t wait(hone_device*, hone_error*) { return HONE_OK; }

}  // namespace hone_cpu
