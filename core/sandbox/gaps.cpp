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
       "threads are frozen one after another, some tens of µs apart, inside the clock",
       "Adversarial/Stopped"},
      {kPrivate, Gap::kMemoryPolled,
       "memory above the grant for some milliseconds, until it is noticed",
       "Jails.TheMemoryLimitEndsABombAndSaysSo"},
      {kSeparated, Gap::kAlways,
       "names, sizes and times of files can be asked by path (not what is in them)",
       "Neighbours.WhatALevelDoesNotStop"},
      {kSeparated, Gap::kAlways,
       "a compiler that was taken over can fill the disk that isolation.workdir is on",
       "Neighbours.WhatALevelDoesNotStop"},
      {kSeparated, Gap::kAlways,
       "no second wall before the network: the filter alone refuses sockets",
       "Neighbours.ShareNoName"},
      {kSeparated, Gap::kSameUser,
       "jails have hone's user: the filter and Landlock alone keep them off its processes",
       "Neighbours.WithoutTheSealMostOfItWorks"},
      {kSeparated, Gap::kOldLandlock,
       "a compiler that was taken over can end hone's processes (Landlock below ABI 6)",
       "Builder.CannotTouchAnotherProcess"},
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
