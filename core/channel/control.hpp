// What judge and candidate share: fixed-size messages over a socket until the candidate is sealed,
// and two pages of memory afterwards.
//
// Theory of operation. The judge makes an arena (through the backend) and two control regions:
//   orders   written by the judge, mapped read-only by the candidate: what to do next
//   answers  written by the candidate: how far it is. Nothing in it is believed: a lie there can
//   only hurt its author,
//            because the verdict comes from the outputs and the clock from the freeze.
// 1. The judge sends one Setup with the descriptors {orders, answers, arena, artifact}.
// 2. The candidate maps them, seals itself, reports; loads the artifact, and reports again.
// 3. From then on the judge puts an order into `orders`, raises `go`, and the candidate raises
// `done` to the same number.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "hone/backend.h"

namespace hone {

inline constexpr std::uint32_t kChannelVersion = 2;
inline constexpr std::size_t kCallsMax = 64;  ///< calls of the entry in one round
inline constexpr std::size_t kGuardsMax = 16;
inline constexpr std::size_t kNameMax = 128;

/// Judge to candidate, once, with four descriptors: orders, answers, arena, artifact.
struct Setup {
  std::uint32_t version;
  std::uint32_t device;
  std::uint64_t arena_bytes;
  std::uint64_t memory_bytes;  ///< address space the submission may add; 0: no limit
  std::uint32_t threads;       ///< cores granted
  std::uint32_t weaken;        ///< 1: no seccomp, 2: no Landlock; obeyed in test builds only
  std::uint32_t populate;      ///< 1: all of the arena will be used
  std::uint32_t argument_count;
  std::uint32_t argument_kinds[HONE_ARGUMENTS_MAX];
  char entry[kNameMax];
  char second_entry[kNameMax];  ///< a reference's other form ("exact"); empty without
};

/// Candidate to judge, twice: when it is sealed (until then a failure is ours; nothing foreign has
/// run) and when it has loaded the artifact (from then on, what it says can only hurt it).
enum class Report : std::uint32_t { kSealed = 1, kLoaded = 2 };
struct Loaded {
  std::uint32_t version;
  Report report;
  std::int32_t code;  ///< hone_code
  char message[256];
};

enum class Order : std::uint32_t { kRun = 1, kRunSecond = 2, kNothing = 3, kEnd = 4 };

struct Guard {
  std::uint64_t at, bytes;  ///< whole pages of the arena
};

/// One page-aligned region that the candidate can only read.
struct Orders {
  std::atomic<std::uint32_t> go;
  Order order;
  std::uint32_t calls;
  std::uint32_t wake;         ///< 1: `done` is waited for with a futex, so wake it
  std::uint32_t guard_count;  ///< of `guards`, which are to be inaccessible in this round
  std::uint64_t values[kCallsMax][HONE_ARGUMENTS_MAX];
  Guard guards[kGuardsMax];
};

/// How a round ended, in the candidate's words.
enum class Answer : std::uint32_t { kFine = 0, kOutOfMemory = 1, kException = 2, kFailed = 3 };

/// One page that the candidate writes.
struct Answers {
  std::atomic<std::uint32_t> done;
  Answer answer;
  char message[256];
};

constexpr std::size_t page_round(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; }
inline constexpr std::size_t kOrdersBytes = page_round(sizeof(Orders));
inline constexpr std::size_t kAnswersBytes = page_round(sizeof(Answers));

/// A memory file that cannot be resized; `read_only_for_others`: later mappings of it cannot be
/// writable.
Result<UniqueFd> shared_region(const char* name, std::size_t bytes);
Status forbid_further_writers(int fd);
/// Has the kernel bring in all pages at once, for writing, where it can; else they come one by one.
void populate(char* base, std::size_t bytes);
/// Maps it; nullptr never comes back. `writable` as asked.
Result<void*> map_region(int fd, std::size_t bytes, bool writable);

/// A pair of sockets that keep the bounds of messages.
Result<std::pair<UniqueFd, UniqueFd>> packet_pair();

/// Futex waits over shared memory; timeout_s < 0: for ever. Spurious returns are normal.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t while_value,
                double timeout_s);
void futex_wake(std::atomic<std::uint32_t>& word);

}  // namespace hone
