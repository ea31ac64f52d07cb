// The list of gaps.
#include "sandbox/gaps.hpp"

namespace hone {
namespace {

constexpr int kLandlockKnowsSignals = 6;

bool applies(const Gap& gap, IsolationLevel level, const Capabilities& c) {
  const bool same_user = level == IsolationLevel::kFiltered || !c.slot_users;
  switch (gap.where) {
    case Gap::kAlways:
      return true;
    case Gap::kSameUser:
      return same_user;
    case Gap::kOldLandlock:
      return same_user && c.landlock_abi < kLandlockKnowsSignals;
    case Gap::kPtraceFreezer:
      return c.freezer() == "ptrace";
    case Gap::kMemoryPolled:
      return !c.cgroup_memory;
  }
  return true;
}

}  // namespace

const std::vector<Gap>& all_gaps() {
  using enum IsolationLevel;
  static const std::vector<Gap> all = {
      {kPrivate, Gap::kAlways, "a bug of the kernel behind an allowed call", ""},
      {kPrivate, Gap::kAlways, "caches, memory bandwidth and frequency, which all slots share", ""},
      {kPrivate, Gap::kPtraceFreezer,
       "threads are frozen one after another, within tens of µs that the clock includes",
       "Adversarial/Stopped"},
      {kPrivate, Gap::kMemoryPolled, "a process can exceed its memory limit for some milliseconds",
       "Jails.MemoryLimit_KillsTheProcessAndIsReported"},
      {kSeparated, Gap::kAlways,
       "a submission can query names, sizes and times of files by path, but not their contents",
       "Neighbours.Gaps_ExistAtTheirLevel"},
      {kSeparated, Gap::kAlways,
       "an attacker who controls a compiler can fill the disk of isolation.workdir",
       "Neighbours.Gaps_ExistAtTheirLevel"},
      {kSeparated, Gap::kAlways, "only the system call filter keeps processes off the network",
       "Neighbours.NamesOfTheKernel_AreNotShared"},
      {kSeparated, Gap::kSameUser,
       "sandboxes have hone's user: only the filter and Landlock protect its processes",
       "Neighbours.WithoutTheSeal_MostAttacksWork"},
      {kSeparated, Gap::kOldLandlock,
       "an attacker who controls a compiler can end hone's processes (Landlock below ABI 6)",
       "Builder.OtherProcess_CannotBeTouched"},
      {kNone, Gap::kAlways, "everything else on this machine", ""},
  };
  return all;
}

std::vector<Gap> open_gaps(IsolationLevel level, const Capabilities& capabilities) {
  std::vector<Gap> open;
  for (const Gap& gap : all_gaps()) {
    if (level <= gap.highest && applies(gap, level, capabilities)) open.push_back(gap);
  }
  return open;
}

}  // namespace hone
