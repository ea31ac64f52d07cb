// Launches: checks that a device would make, the loop over blocks, and faults of device code.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "driver.hpp"
#include "module.hpp"
#include "streams.hpp"

namespace hone_emulated {
namespace {

constexpr std::array<int, 4> kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// Where a fault of device code leads. Rationale: the compiler's jump, because a sanitizer looks at the C library's, and
// takes calls for it that a sealed process has not.
void* g_escape[5];
CUresult g_fault = CUDA_SUCCESS;
volatile sig_atomic_t g_running = 0;
Context* g_context = nullptr;    // whose kernel runs
char g_signal_stack[64 * 1024];  // for the handler, as the kernel\'s own may be full

[[noreturn, gnu::noinline]] void leave(CUresult fault) {
  g_running = 0;
  g_fault = fault;
  __builtin_longjmp(g_escape, 1);
}

CUresult fault_of(int number, const siginfo_t& what) {
  switch (number) {
    case SIGILL:  // how the compiler's check of alignment ends
      return CUDA_ERROR_MISALIGNED_ADDRESS;
    case SIGFPE:
      return CUDA_ERROR_LAUNCH_FAILED;
    default:
      return g_context->block.in_stack_gap(what.si_addr) ? CUDA_ERROR_HARDWARE_STACK_ERROR
                                                         : CUDA_ERROR_ILLEGAL_ADDRESS;
  }
}

void on_signal(int number, siginfo_t* what, void*) {
  if (g_running == 0 || what->si_code <= 0) {  // the host's own, or sent by somebody
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  leave(fault_of(number, *what));
}

/// Catches faults while it lives.
class FaultCatcher {
 public:
  FaultCatcher() {
    stack_t stack{};
    stack.ss_sp = g_signal_stack;
    stack.ss_size = sizeof g_signal_stack;
    sigaltstack(&stack, &old_stack_);
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;  // never returns: blocks nothing
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &old_[i]);
    g_running = 1;
  }
  ~FaultCatcher() {
    g_running = 0;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &old_[i], nullptr);
    sigaltstack(&old_stack_, nullptr);
  }
  FaultCatcher(const FaultCatcher&) = delete;
  FaultCatcher& operator=(const FaultCatcher&) = delete;

 private:
  stack_t old_stack_{};
  std::array<struct sigaction, kSignals.size()> old_{};
};

void run_blocks(Context& context, const hone_emulated_module& module,
                const hone_emulated_kernel& kernel, const CUlaunchConfig& config,
                void** arguments) {
  for (unsigned z = 0; z < config.gridDimZ; ++z) {
    for (unsigned y = 0; y < config.gridDimY; ++y) {
      for (unsigned x = 0; x < config.gridDimX; ++x) {
        *module.block = {x, y, z};
        context.block.run(module, kernel.call, arguments);
      }
    }
  }
}

struct Shape {
  std::uint64_t x, y, z;
  std::uint64_t all() const { return x * y * z; }
  bool empty() const { return x == 0 || y == 0 || z == 0; }
  bool within(const Shape& most) const { return x <= most.x && y <= most.y && z <= most.z; }
};

constexpr Shape kGridMax{0x7fffffff, 65535, 65535};
constexpr Shape kBlockMax{1024, 1024, 64};
constexpr std::uint64_t kClusterMax = 8;
constexpr std::uint64_t kClusterNonPortableMax = 16;

CUresult check_cluster(const Function& function, const Shape& grid, const CUlaunchAttribute& set) {
  const auto& dim = set.value.clusterDim;
  const Shape cluster{dim.x, dim.y, dim.z};
  if (cluster.empty()) return CUDA_ERROR_INVALID_VALUE;
  if (cluster.all() > (function.non_portable_cluster ? kClusterNonPortableMax : kClusterMax))
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  const bool divides =
      grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0;
  return divides ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult check_cooperative(const Shape& grid, const Shape& block, std::uint64_t shared) {
  std::uint64_t resident = kThreadsPerMultiprocessor / block.all();
  if (shared > 0) resident = std::min(resident, std::uint64_t{kSharedBytesMax} / shared);
  return grid.all() <= resident * kMultiprocessors ? CUDA_SUCCESS
                                                   : CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

CUresult check(const CUlaunchConfig& config, const Function& function) {
  const Shape grid{config.gridDimX, config.gridDimY, config.gridDimZ};
  const Shape block{config.blockDimX, config.blockDimY, config.blockDimZ};
  if (grid.empty() || block.empty() || !grid.within(kGridMax) || !block.within(kBlockMax) ||
      block.all() > kBlockThreadsMax || config.sharedMemBytes > function.shared_bytes_max ||
      (config.numAttrs > 0 && config.attrs == nullptr)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttribute& set = config.attrs[i];
    CUresult result = CUDA_SUCCESS;
    if (set.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      result = check_cluster(function, grid, set);
    } else if (set.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
      if (set.value.cooperative != 0)
        result = check_cooperative(grid, block, config.sharedMemBytes);
    } else if (set.id != CU_LAUNCH_ATTRIBUTE_IGNORE &&
               set.id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) {
      result = CUDA_ERROR_NOT_SUPPORTED;
    }
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

int device_print(const char* format, va_list arguments) {
  char text[1024];
  g_context->has_printed = true;
  const int size = std::vsnprintf(text, sizeof text, format, arguments);
  const std::size_t kept = std::min(static_cast<std::size_t>(std::max(size, 0)), sizeof text - 1);
  if (g_context->printed.size() + kept <= g_context->print_bytes_max)
    g_context->printed.append(text, kept);
  return size;
}

unsigned long long nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<unsigned long long>(now.tv_sec) * 1000000000ull +
         static_cast<unsigned long long>(now.tv_nsec);
}

/// The bytes behind CU_LAUNCH_PARAM_BUFFER_POINTER (1) and CU_LAUNCH_PARAM_BUFFER_SIZE (2).
struct Packed {
  const char* bytes = nullptr;
  std::size_t size = 0;
};
Packed read_extra(void** extra) {
  Packed packed;
  for (; *extra != nullptr; extra += 2) {
    const auto what = reinterpret_cast<std::uintptr_t>(*extra);
    if (what == 1) packed.bytes = static_cast<const char*>(extra[1]);
    if (what == 2) packed.size = *static_cast<const std::size_t*>(extra[1]);
  }
  return packed;
}

/// Copies the arguments as a packed buffer has them; false where it is too short.
bool pack(const hone_emulated_kernel& kernel, void** arguments, void** extra,
          std::vector<char>& out) {
  const Packed packed = extra != nullptr ? read_extra(extra) : Packed{};
  for (unsigned i = 0; i < kernel.count; ++i) {
    const auto& [at, size] = kernel.places[i];
    out.resize(at + size);
    if (extra != nullptr && (packed.bytes == nullptr || packed.size < at + size)) return false;
    std::memcpy(out.data() + at, extra != nullptr ? packed.bytes + at : arguments[i], size);
  }
  return true;
}

CUresult run(const Function& function, const CUlaunchConfig& config, std::vector<char> packed) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  std::vector<void*> arguments;
  for (unsigned i = 0; i < function.kernel->count; ++i)
    arguments.push_back(packed.data() + function.kernel->places[i][0]);
  run_grid(*driver().context, *function.module, *function.kernel, config, arguments.data());
  return CUDA_SUCCESS;  // a fault is told by whoever comes next, as the real driver does
}

}  // namespace

const hone_emulated_runtime& runtime() {
  static const hone_emulated_runtime table = {
      [](int predicate, hone_emulated_barrier kind) {
        return g_context->block.barrier(predicate, kind);
      },
      [](unsigned mask, unsigned long long value, unsigned source, hone_emulated_meeting kind)
          -> unsigned long long { return g_context->block.meet(mask, value, source, kind); },
      [] { g_context->block.yield(); },
      [](int fault) { leave(fault); },
      [](unsigned long bytes) { return g_context->heap.allocate(bytes); },
      [](void* memory) {
        if (memory != nullptr && !g_context->heap.release(memory))
          leave(CUDA_ERROR_ILLEGAL_ADDRESS);
      },
      device_print,
      nanoseconds,
  };
  return table;
}

void flush_print(Context& context) {
  const char* at = context.printed.data();
  for (std::size_t left = context.printed.size(); left > 0;) {
    const ssize_t n = write(STDOUT_FILENO, at, left);
    if (n <= 0) break;
    at += n;
    left -= static_cast<std::size_t>(n);
  }
  context.printed.clear();
}

void run_grid(Context& context, const hone_emulated_module& module,
              const hone_emulated_kernel& kernel, const CUlaunchConfig& config, void** arguments) {
  g_context = &context;
  *module.grid_size = {config.gridDimX, config.gridDimY, config.gridDimZ};
  *module.block_size = {config.blockDimX, config.blockDimY, config.blockDimZ};
  constexpr std::uint32_t kAlignment = 1024;
  *module.shared =
      context.shared - (config.sharedMemBytes + kAlignment - 1) / kAlignment * kAlignment;
  const FaultCatcher catcher;
  if (__builtin_setjmp(g_escape) != 0) {
    driver().fault = g_fault;
    return;
  }
  run_blocks(context, module, kernel, config, arguments);
}

}  // namespace hone_emulated

using namespace hone_emulated;

// NOLINTBEGIN(readability-identifier-naming): the driver's names.
HONE_EMULATED_API CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function,
                                            void** arguments, void** extra) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto* found = reinterpret_cast<const Function*>(function);
  std::vector<char> packed;
  {
    const std::lock_guard lock(driver().mutex);
    if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
    if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const bool given = arguments != nullptr || extra != nullptr;
    if ((arguments != nullptr && extra != nullptr) || (!given && found->kernel->count > 0) ||
        !pack(*found->kernel, arguments, extra, packed)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (const CUresult result = check(*config, *found); result != CUDA_SUCCESS) return result;
  }
  return in_order(config->hStream, [found, config = *config, packed = std::move(packed)] {
    return run(*found, config, packed);
  });
}
// NOLINTEND(readability-identifier-naming)
