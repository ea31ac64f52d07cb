// my_backend: a backend whose device is memory of this machine. The threads of a kernel run one after another.
//
// For your device, replace the compiler in built(), and the bodies below "device" and "running" with calls of its
// driver. hone/backend.h says what each function must do. hone calls describe() in its own process, and build() in
// a sandboxed builder. The judge and the candidate of a submission each open the device, and share buffers by
// file descriptor.
//
// Do not train with this backend as it is. Its kernels are native code in the candidate: they can start threads,
// and change hone's memory in that process. A device must do the work of a process in order, because hone
// withholds inputs by that order.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "hone/plugin.hpp"
#include "hone/plugin/compiler_run.hpp"

/// An entry of an artifact's table `kernel_entries`, as kLanguageText declares it.
struct Entry {
  const char* name;
  void (*run)(const uint32_t grid[3], const uint32_t block[3], const uint64_t* values);
  uint32_t count;  // of arguments
};

struct hone_device {
  std::vector<std::unique_ptr<char[]>> pinned = {};
};
struct hone_buffer {
  int fd;
  uint64_t bytes;
  char* base;
};
struct hone_kernel {
  const Entry* entry;
  std::vector<uint32_t> kinds;  // hone_argument_kind of each argument
};
struct hone_artifact {
  const Entry* entries;
  std::vector<std::unique_ptr<hone_kernel>> kernels = {};
};

namespace {

using hone::plugin::fail;
using hone::plugin::guard;
using hone::plugin::Value;

// ---- the language

constexpr char kLanguage[] = "my_backend", kSuffix[] = ".cpp", kDeviceName[] = "host memory";

/// Precedes each source: C++ with kernels, thread numbers and atomics, but without shared memory and barriers.
/// core/judge/harness/harness.cu needs no more. known_answer.cu does, so kKnownAnswer replaces it.
constexpr char kLanguageText[] = R"text(
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>
#define __global__
#define __device__
#define __constant__ static const
#define __trap __builtin_trap
namespace kernel_language {
struct Numbers { unsigned x, y, z; };
}
static kernel_language::Numbers gridDim, blockDim, blockIdx, threadIdx;
template <typename T> T atomicAdd(T* at, std::type_identity_t<T> by) {
  return std::exchange(*at, *at + by);
}
template <typename T> T atomicMax(T* at, std::type_identity_t<T> by) {
  return std::exchange(*at, *at < by ? by : *at);
}
namespace kernel_language {
template <typename T> T argument(uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
template <auto kernel> struct Kernel;
template <typename... T, void (*kernel)(T...)> struct Kernel<kernel> {
  static constexpr uint32_t kCount = sizeof...(T);
  template <std::size_t... i> static void call(const uint64_t* values, std::index_sequence<i...>) {
    kernel(argument<T>(values[i])...);
  }
  static void run(const uint32_t grid[3], const uint32_t block[3], const uint64_t* values) {
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {block[0], block[1], block[2]};
    Numbers &b = blockIdx, &t = threadIdx;
    for (b.z = 0; b.z < grid[2]; ++b.z)
      for (b.y = 0; b.y < grid[1]; ++b.y)
        for (b.x = 0; b.x < grid[0]; ++b.x)
          for (t.z = 0; t.z < block[2]; ++t.z)
            for (t.y = 0; t.y < block[1]; ++t.y)
              for (t.x = 0; t.x < block[0]; ++t.x) call(values, std::index_sequence_for<T...>());
  }
};
struct Entry {
  const char* name;
  void (*run)(const uint32_t grid[3], const uint32_t block[3], const uint64_t* values);
  uint32_t count;
};
}
)text";

/// Computes the same as core/judge/harness/known_answer.cu, without shared memory and barriers.
constexpr char kKnownAnswer[] = R"text(
__constant__ uint32_t factors[8] = {0x9E3779B1u, 0x85EBCA6Bu, 0x7FEB352Du, 0x846CA68Bu,
                                    0xC2B2AE35u, 0x27D4EB2Fu, 0x165667B1u, 0xD3A2646Du};
extern "C" __global__ void hone_known_answer(const uint32_t* x, uint32_t* y, int64_t n) {
  const int64_t block = int64_t{blockIdx.x} * 256, i = block + threadIdx.x, other = block + 255 - threadIdx.x;
  if (i < n) y[i] = x[other] * factors[other % 256 % 8] ^ (uint32_t)other;
}
)text";

// ---- description

int32_t describe(hone_bytes config, hone_sink* out, hone_error* error) {
  return guard(error, [&] {
    const Value compiler = Value::map({{"type", "str"},
                                       {"default", "/usr/bin/g++"},
                                       {"doc", "compiler of submissions"},
                                       {"path", "file"}});
    const Value flags = Value::map({{"type", "[str]"},
                                    {"default", Value::array({"-O2"})},
                                    {"doc", "further flags of the compiler"}});
    if (!hone::plugin::from_msgpack(config).as_map().empty())
      fail(HONE_INVALID_ARGUMENT, "describe: unknown keys, expected an empty map");
    hone::plugin::write(
        out, Value::map({{"summary", "C++ kernels on memory of this machine"},
                         {"fingerprint", kDeviceName},
                         {"devices", Value::array({Value::map(
                                         {{"index", 0}, {"name", kDeviceName}, {"cores", 1}})})},
                         {"languages", Value::array({kLanguage})},
                         {"suffixes", Value::map({{kLanguage, kSuffix}})},
                         {"withholds", "stream"},
                         {"harness", Value::map({{"known_answer", kKnownAnswer}})},
                         {"parameters", Value::map({{"compiler", compiler}, {"flags", flags}})}}));
  });
}

Value device_facts() {
  const auto none = [] { return Value::array({0, 0, 0}); };  // not limited
  return Value::map(
      {{"index", 0},
       {"name", kDeviceName},
       {"architecture", "host"},
       {"driver", ""},
       {"memory_bytes", int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE)},
       {"cache_bytes", 0},
       {"multiprocessors", 1},
       // No core moves more than 128 bytes a cycle at 6 GHz. A faster measurement is an error.
       {"bytes_per_second_max", 128 * 6e9},
       {"dram_bytes_per_second", 0.0},
       {"host_memory_reachable", true},  // each submission gets a process of its own
       {"limits", Value::map({{"grid", none()},
                              {"block", none()},
                              {"block_threads", 0},
                              {"shared_bytes", 0},
                              {"cluster", 0}})},
       {"throttled", Value::array()}});
}

int32_t probe(const hone_host*, hone_sink* out, hone_error* error) {
  return guard(error, [&] {
    const Value devices = Value::array({device_facts()});
    hone::plugin::write(
        out, Value::map({{"driver", ""}, {"compiler", ""}, {"devices", devices}}));
  });
}

// ---- building, in a sandboxed process whose working folder is empty

constexpr char kArtifact[] = "artifact.so";
/// The last bytes of an artifact. Rationale: dlopen() accepts some files that are cut short, and a later access
/// to the missing part ends the process.
constexpr std::string_view kEnd = "end of an artifact of my_backend";

[[noreturn]] void fail_with_errno(const std::string& what) {
  fail(HONE_UNAVAILABLE, what + ": " + std::strerror(errno));
}

/// Writes the source between the text of the language and the table of entries. The compiler reports lines of the
/// source.
void write_source(const std::string& name, const std::string& text, const Value& entries) {
  std::ofstream file(name, std::ios::binary);
  file << kLanguageText << "#line 1 \"" << name << "\"\n" << text << "\n";
  file << "extern \"C\" __attribute__((visibility(\"default\")))\n"
          "const kernel_language::Entry kernel_entries[] = {";
  for (const Value& entry : entries.as_array()) {
    const std::string kernel = "kernel_language::Kernel<&" + entry.as_string() + ">";
    file << "{R\"name(" << entry.as_string() << ")name\", " << kernel << "::run, " << kernel
         << "::kCount}, ";
  }
  file << "{nullptr, nullptr, 0}};\n";
  file.close();
  if (!file) fail_with_errno("write " + name);
}

std::string read_artifact() {
  std::ifstream file(kArtifact, std::ios::binary);
  if (!file) fail_with_errno(std::string("read ") + kArtifact);
  return std::string(std::istreambuf_iterator<char>(file), {}).append(kEnd);
}

Value built(const Value& request) {
  const Value& options = request.at("options");
  const Value::Array& sources = request.at("sources").as_array();
  if (const std::string& language = request.at("language").as_string(); language != kLanguage)
    fail(HONE_INVALID_ARGUMENT, "language '" + language + "', expected '" + kLanguage + "'");
  if (sources.size() != 1)
    fail(HONE_INVALID_ARGUMENT, std::to_string(sources.size()) + " sources, expected one");
  const std::string& name = sources[0].at("name").as_string();
  if (name.empty() || name[0] == '.' || name.find_first_of("/\"\\") != std::string::npos)
    fail(HONE_INVALID_ARGUMENT, "source name '" + name + "', expected a file name");
  write_source(name, sources[0].at("text").as_string(), request.at("entries"));

  const std::string& compiler = options.at("compiler").as_string();
  const double seconds_max = options.at("seconds").as_double();
  std::vector<std::string> command{compiler, "-std=c++20", "-fPIC", "-shared"};
  for (const Value& flag : options.at("flags").as_array()) command.push_back(flag.as_string());
  // -ffp-contract=off: hone's kernels round after each operation, so that all devices make the same inputs.
  // -z defs: an undefined symbol is an error of the build.
  for (const char* word : {"-ffp-contract=off", "-fvisibility=hidden", "-fdiagnostics-color=never",
                           "-Wl,-z,defs,-z,now", "-o", kArtifact, "-x", "c++"})
    command.emplace_back(word);
  command.push_back(name);
  const hone::plugin::CompilerRun run = hone::plugin::run_compiler(command, seconds_max);
  const std::string failure = hone::plugin::build_failure(run);
  Value result = Value::map({{"ok", failure.empty()},
                             {"failure", failure},
                             {"diagnostics", run.output},
                             {"untrusted_host_code", true},
                             {"artifact", Value::bytes(failure.empty() ? read_artifact() : "")}});
  if (const Value* version = options.find("version"); version != nullptr && version->as_bool()) {
    const std::string output =
        hone::plugin::run_compiler({compiler, "--version"}, seconds_max).output;
    result.set("toolchain", output.substr(0, output.find('\n')));
  }
  return result;
}

int32_t build(const hone_host*, hone_bytes request, hone_sink* out, hone_error* error) {
  return guard(error,
               [&] { hone::plugin::write(out, built(hone::plugin::from_msgpack(request))); });
}

// ---- device: memory that several processes map

int32_t open_device(const hone_host*, uint32_t index, hone_device** out, hone_error* error) {
  return guard(error, [&] {
    if (index != 0)
      fail(HONE_NOT_FOUND, "device " + std::to_string(index) + ", expected device 0");
    *out = new hone_device{};
  });
}

void close_device(hone_device* device) { delete device; }

int32_t facts(hone_device*, hone_sink* out, hone_error* error) {
  return guard(error, [&] { hone::plugin::write(out, device_facts()); });
}

/// Maps memory. Takes the descriptor, and closes it on failure.
hone_buffer* mapped(int fd, uint64_t bytes) {
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base != MAP_FAILED) return new hone_buffer{fd, bytes, static_cast<char*>(base)};
  const int reason = errno;
  close(fd);
  fail(HONE_UNAVAILABLE, "map " + std::to_string(bytes) + " bytes: " + std::strerror(reason));
}

int32_t create_buffer(hone_device*, uint64_t bytes, hone_buffer** out, hone_error* error) {
  return guard(error, [&] {
    if (bytes == 0) fail(HONE_INVALID_ARGUMENT, "a buffer of 0 bytes");
    const int fd = memfd_create("buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) fail_with_errno("memfd_create");
    // Without the seals a candidate could shrink the file, and the judge would end by SIGBUS.
    if (ftruncate(fd, static_cast<off_t>(bytes)) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
      const int reason = errno;
      close(fd);
      fail(HONE_UNAVAILABLE,
           "a buffer of " + std::to_string(bytes) + " bytes: " + std::strerror(reason));
    }
    *out = mapped(fd, bytes);
  });
}

int duplicate(int fd) {
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (own < 0) fail_with_errno("duplicate a descriptor");
  return own;
}

int32_t export_buffer(hone_buffer* buffer, int32_t* fd, hone_error* error) {
  return guard(error, [&] { *fd = duplicate(buffer->fd); });
}

int32_t import_buffer(hone_device*, int32_t fd, uint64_t bytes, hone_buffer** out,
                      hone_error* error) {
  return guard(error, [&] {
    struct stat about {};
    if (bytes == 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) ||
        static_cast<uint64_t>(about.st_size) < bytes)
      fail(HONE_INVALID_ARGUMENT,
           "the descriptor is not a buffer of " + std::to_string(bytes) + " bytes");
    *out = mapped(duplicate(fd), bytes);
  });
}

/// Null: hone accesses the memory only through the functions of this table, as with a device's memory.
void* map_buffer(hone_buffer*) { return nullptr; }

char* inside(hone_buffer* buffer, uint64_t at, uint64_t size) {
  if (at > buffer->bytes || size > buffer->bytes - at)
    fail(HONE_INVALID_ARGUMENT, "bytes beyond the buffer");
  return buffer->base + at;
}

int32_t write_buffer(hone_buffer* buffer, uint64_t at, const void* data, uint64_t size,
                     hone_error* error) {
  return guard(error, [&] { std::memcpy(inside(buffer, at, size), data, size); });
}

int32_t read_buffer(hone_buffer* buffer, uint64_t at, void* data, uint64_t size,
                    hone_error* error) {
  return guard(error, [&] { std::memcpy(data, inside(buffer, at, size), size); });
}

int32_t copy_buffer(hone_buffer* to, uint64_t to_at, hone_buffer* from, uint64_t from_at,
                    uint64_t size, hone_error* error) {
  return guard(error, [&] {
    char* target = inside(to, to_at, size);
    const char* source = inside(from, from_at, size);
    if (to == from && to_at < from_at + size && from_at < to_at + size)
      fail(HONE_INVALID_ARGUMENT, "a copy whose source and target overlap");
    std::memmove(target, source, size);  // two buffers may be one memory, imported twice
  });
}

int32_t read_rows(hone_buffer* buffer, uint64_t at, uint64_t pitch, uint64_t width, uint64_t rows,
                  void* data, hone_error* error) {
  return guard(error, [&] {
    if (rows == 0) return;
    uint64_t size = 0;
    if (width > pitch || __builtin_mul_overflow(rows - 1, pitch, &size) ||
        __builtin_add_overflow(size, width, &size))
      fail(HONE_INVALID_ARGUMENT, "rows beyond the buffer");
    const char* first = inside(buffer, at, size);
    for (uint64_t row = 0; row < rows; ++row)
      std::memcpy(static_cast<char*>(data) + row * width, first + row * pitch, width);
  });
}

int32_t pin_memory(hone_device* device, uint64_t bytes, void** out, hone_error* error) {
  return guard(error, [&] {
    device->pinned.push_back(std::make_unique<char[]>(bytes));
    *out = device->pinned.back().get();
  });
}

uint64_t buffer_address(hone_buffer* buffer) { return reinterpret_cast<uint64_t>(buffer->base); }

void release_buffer(hone_buffer* buffer) {
  if (buffer == nullptr) return;
  munmap(buffer->base, buffer->bytes);
  close(buffer->fd);
  delete buffer;
}

// ---- running: the judge's kernels in a judge, a submission's in a candidate

int32_t prepare_load(hone_device*, uint32_t, hone_error*) { return HONE_OK; }

bool is_complete(int fd) {
  std::string end(kEnd.size(), '\0');
  const off_t size = lseek(fd, 0, SEEK_END), length = static_cast<off_t>(end.size());
  return size > length && pread(fd, end.data(), end.size(), size - length) == length && end == kEnd;
}

int32_t load(hone_device*, int32_t fd, hone_artifact** out, hone_error* error) {
  return guard(error, [&] {
    if (!is_complete(fd))
      fail(HONE_INVALID_ARGUMENT, "load: not an artifact of my_backend, or one that is cut short");
    // The descriptor and the library stay open. dlopen() identifies a library by its path, so a reused descriptor number
    // would give the old library.
    const int own = duplicate(fd);
    void* library = dlopen(("/proc/self/fd/" + std::to_string(own)).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const std::string reason = dlerror();
      close(own);
      fail(HONE_INVALID_ARGUMENT, "load: " + reason);
    }
    const void* entries = dlsym(library, "kernel_entries");
    if (entries == nullptr) {
      dlclose(library);
      close(own);
      fail(HONE_INVALID_ARGUMENT, "load: the library has no entries");
    }
    *out = new hone_artifact{static_cast<const Entry*>(entries)};
  });
}

void unload(hone_artifact* artifact) { delete artifact; }

int32_t get_kernel(hone_artifact* artifact, const char* name, const uint32_t* kinds, uint32_t count,
                   hone_kernel** out, hone_error* error) {
  return guard(error, [&] {
    if (count > HONE_ARGUMENTS_MAX)
      fail(HONE_INVALID_ARGUMENT, std::to_string(count) + " arguments, at most 16 allowed");
    for (uint32_t i = 0; i < count; ++i) {
      if (kinds[i] > HONE_ARGUMENT_ADDRESS)
        fail(HONE_INVALID_ARGUMENT, "argument kind " + std::to_string(kinds[i]));
    }
    const Entry* entry = artifact->entries;
    while (entry->name != nullptr && std::strcmp(entry->name, name) != 0) ++entry;
    if (entry->name == nullptr) fail(HONE_NOT_FOUND, std::string("no kernel '") + name + "'");
    if (entry->count != count)
      fail(HONE_INVALID_ARGUMENT, std::to_string(count) + " arguments, the kernel takes " +
                                      std::to_string(entry->count));
    artifact->kernels.push_back(
        std::make_unique<hone_kernel>(hone_kernel{entry, {kinds, kinds + count}}));
    *out = artifact->kernels.back().get();
  });
}

int32_t launch(hone_kernel* kernel, hone_buffer* buffer, const hone_launch* launch,
               hone_error* error) {
  return guard(error, [&] {
    if (launch->count != kernel->kinds.size())
      fail(HONE_INVALID_ARGUMENT, std::to_string(launch->count) + " arguments, the kernel takes " +
                                      std::to_string(kernel->kinds.size()));
    std::vector<uint64_t> values(launch->values, launch->values + launch->count);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (kernel->kinds[i] == HONE_ARGUMENT_BUFFER) values[i] += buffer_address(buffer);
    }
    kernel->entry->run(launch->grid, launch->block, values.data());
  });
}

/// launch() returns when the work is done.
int32_t wait(hone_device*, hone_error*) { return HONE_OK; }

constexpr hone_backend_factory kBackend = {
    sizeof(hone_backend_factory),
    describe,
    probe,
    build,
    open_device,
    close_device,
    facts,
    create_buffer,
    export_buffer,
    import_buffer,
    map_buffer,
    write_buffer,
    read_buffer,
    copy_buffer,
    read_rows,
    pin_memory,
    buffer_address,
    nullptr,  // guard_buffer: hone finds writes beyond a tensor by patterns around it
    release_buffer,
    prepare_load,
    load,
    unload,
    get_kernel,
    launch,
    wait,
    nullptr,  // mark: the device has no clock of its own
    nullptr,  // between_marks
    nullptr,  // free_memory: it has no memory of its own
    nullptr,  // use_python: it runs no PyTorch modules
    nullptr,  // create_exact_buffer: it has no sanitizer
    nullptr,  // open_counters, and the functions below: it reads no hardware counters
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,  // chosen_configurations: it runs no recorded plans
};

}  // namespace

HONE_EXPORT_BACKEND(kBackend, "my_backend", "1.0.0");
