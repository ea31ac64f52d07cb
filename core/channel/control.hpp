// What judge and candidate share: fixed-size messages over a socket until the candidate is sealed,
// and two pages of memory afterwards.
//
// Theory of operation. The judge makes an arena (through the backend) and two control regions:
//   orders   written by the judge, mapped read-only by the candidate: what to do next
//   answers  written by the candidate: how far it is. Nothing in it is believed: a lie there can
//   only hurt its author,
//            because the verdict comes from the outputs and the clock from the freeze.
// 1. The candidate opens its device and reports. The judge sends one Setup with the descriptors
// {orders, answers, arena, artifact}.
// 2. The candidate maps them, seals itself, reports; loads the artifact, and reports again.
// 3. From then on the judge puts an order into `orders`, raises `go`, and the candidate raises
// `done` to the same number.
// 4. Where an artifact is device code alone, the candidate is our own code still: told to reload,
// it unloads the artifact, and the judge sends another Setup.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/enum_names.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "hone/backend.h"

namespace hone {

inline constexpr std::uint32_t kChannelVersion = 8;
inline constexpr std::size_t kCallsMax = 64;  ///< calls of the entry in one round
inline constexpr std::size_t kGuardsMax = 16;
inline constexpr std::size_t kNameMax = 128;
inline constexpr std::size_t kKernelsMax = 16;   ///< of one artifact
inline constexpr std::size_t kLaunchesMax = 16;  ///< of one call
inline constexpr std::size_t kObservedMax = 3072;
inline constexpr std::size_t kTunedKernelsMax = 16;  ///< autotuned kernels of one artifact
/// The packet that tells a module's process to open its device before its setup arrives.
inline constexpr std::string_view kOpenAhead = "o";

/// A kernel to look up.
struct KernelName {
  char name[kNameMax];
  std::uint32_t argument_count;
  std::uint32_t argument_kinds[HONE_ARGUMENTS_MAX];
};

/// From judge to candidate, with four descriptors: orders, answers, arena, artifact. The Setup after a
/// kReload reuses the first one's orders and answers.
struct Setup {
  std::uint32_t version;
  std::uint64_t arena_bytes;
  std::uint64_t memory_bytes;  ///< address space the submission may add; 0: no limit
  std::uint32_t threads;       ///< cores granted
  std::uint32_t weaken;        ///< test builds: 1: no seccomp, 2: no Landlock, 4: done said early
  std::uint32_t populate;      ///< 1: all of the arena will be used
  std::uint32_t kernel_count;
  KernelName kernels[kKernelsMax];
};

/// From candidate to judge, three times: when it has opened its device, when it is sealed, and when it has
/// loaded the artifact. A failure before the seal is a fault, because no untrusted code has run. After
/// loading, a false report can only hurt the submission.
enum class Report : std::uint32_t { kOpened = 1, kSealed = 2, kLoaded = 3 };
struct Loaded {
  std::uint32_t version;
  Report report;
  std::int32_t code;    ///< hone_code
  std::uint32_t flags;  ///< hone_python_flags
  char message[256];    ///< an error, or a note about a loaded artifact
};

enum class Order : std::uint32_t {
  kRun = 1,      ///< run each of `launches`, for each call
  kNothing = 2,  ///< wait for the device, and answer
  kReload = 3,   ///< unload the artifact and expect a Setup
  kEnd = 4,
  kMarked = 5,    ///< as kRun, and report the time by the device's own clock
  kObserved = 6,  ///< as kRun, and let the interpreter trace the call
  kTrim = 7       ///< release cached device memory of the interpreter
};

/// An argument of a launch: value number `slot` of the call, or `value` if slot is kLiteral.
inline constexpr std::uint32_t kLiteral = 0xffffffff;
struct LaunchArgument {
  std::uint64_t value;
  std::uint32_t slot;
};

/// One launch of a call, as hone_launch.
struct Launch {
  std::uint32_t kernel;  ///< index of the kernel in the Setup
  std::uint32_t grid[3], block[3], cluster[3];
  std::uint32_t shared_bytes, flags;
  std::uint32_t argument_count;
  LaunchArgument arguments[HONE_ARGUMENTS_MAX];
};

struct Guard {
  std::uint64_t at, bytes;  ///< whole pages of the arena
};

/// One page-aligned region that the candidate can only read.
struct Orders {
  std::atomic<std::uint32_t> go;
  Order order;
  std::uint32_t calls;
  std::uint32_t
      wake;  ///< 1: the judge sleeps on a futex until the round is done, so the candidate must wake it
  std::uint32_t
      guard_count;  ///< number of `guards`: regions that must be inaccessible in this round
  std::uint32_t launch_count;
  std::uint64_t values[kCallsMax][HONE_ARGUMENTS_MAX];
  Guard guards[kGuardsMax];
  Launch launches[kLaunchesMax];
  std::atomic<std::uint32_t> awake;  ///< 1: spin while there is no order
};

/// The end of a round, as reported by the candidate.
enum class Answer : std::uint32_t {
  kFine = 0,
  kOutOfMemory = 1,
  kException = 2,  ///< an exception in host code, or a fault in device code
  kFailed = 3,     ///< the device refused the launch
  kFault = 4,      ///< the device or its driver failed
  kMismatch = 5    ///< the outputs do not have the form that the task requires
};

/// Kinds of torch extensions. `kDevice`: with kernels.
enum class ExtensionKind { kHost, kDevice };
template <>
struct EnumNames<ExtensionKind> {
  static constexpr std::string_view kKind = "kind of extension";
  static constexpr std::string_view kNames[] = {"host", "device"};
  static_assert(are_complete(kNames, ExtensionKind::kDevice));
};
/// The kind of extension that the machine may have hindered, of hone_python_flags.
std::optional<ExtensionKind> hindered_kind(std::uint32_t flags);

/// One page that the candidate writes.
struct Answers {
  std::atomic<std::uint32_t> done;
  Answer answer;
  std::uint32_t flags;  ///< hone_python_flags; 0 if `answer` is kFine
  char message[256];
  double marked_seconds;        ///< time by the device's own clock; 0: it has none
  char observed[kObservedMax];  ///< the trace, as hone_python.observe writes it
  /// The configuration (from 0) of each autotuned kernel. The count is 0 until a round has succeeded.
  std::uint32_t chosen_count;
  std::uint32_t chosen[kTunedKernelsMax];
};

constexpr std::size_t page_round(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; }
inline constexpr std::size_t kOrdersBytes = page_round(sizeof(Orders));
inline constexpr std::size_t kAnswersBytes = page_round(sizeof(Answers));

/// A memory file that cannot be resized; `read_only_for_others`: later mappings of it cannot be
/// writable.
Result<UniqueFd> shared_region(const char* name, std::size_t bytes);
Status forbid_further_writers(int fd);
/// Asks the kernel to populate all pages, for writing, at once. If the kernel cannot, each page is populated
/// at its first use.
void populate(char* base, std::size_t bytes);
/// Maps the region; never returns nullptr.
Result<void*> map_region(int fd, std::size_t bytes, bool writable);

/// A connected pair of sockets that preserve message boundaries.
Result<std::pair<UniqueFd, UniqueFd>> packet_pair();

/// Waits on a futex in shared memory; timeout_s < 0: no limit. Spurious returns are normal.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t while_value,
                double timeout_s);
void futex_wake(std::atomic<std::uint32_t>& word);

}  // namespace hone
