// Cgroups: finds where this process may make control groups, and makes one group for each jailed process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace hone {

/// Folders in which child groups can be made; empty: none. v1 and v2 may exist at the same time (hybrid).
struct CgroupRoots {
  std::string v2;          ///< its children have cgroup.freeze
  bool v2_memory = false;  ///< and memory.max
  bool v2_pids = false;    ///< and pids.max
  std::string v1_memory;
  std::string v1_pids;
};

/// Tries this process' own group first, then the root of the mount. Never changes cgroup.subtree_control.
/// `notes` gets the reason for each missing feature.
CgroupRoots find_cgroups(std::vector<std::string>* notes);

/// Number of processes that the kernel has killed for lack of memory since boot, in any control group or
/// none; 0 if the kernel does not count them.
std::int64_t machine_oom_kills();

/// Removes empty groups named hone-<pid>-… whose launcher has ended.
void sweep_cgroups(const CgroupRoots& roots);

/// The groups of one process. Made before it starts; remove() removes them once they are empty.
class Cgroup {
 public:
  static Result<std::unique_ptr<Cgroup>> make(const CgroupRoots& roots, const std::string& name,
                                              std::int64_t memory_bytes, int processes);
  ~Cgroup() { remove(); }
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  /// A descriptor for clone3's CLONE_INTO_CGROUP; -1 without cgroup v2.
  int v2_fd() const { return v2_fd_.get(); }
  /// [in the child, before it drops its user] Moves the calling process into the groups. `in_v2`: clone3 has
  /// already put it into the v2 group.
  Status enter(bool in_v2) const;
  Result<UniqueFd> open_freeze() const;
  Result<UniqueFd> open_events() const;
  /// Sends SIGKILL to all processes in the v2 group.
  void kill_all() const;
  /// Whether a process in the v2 group is alive. False without cgroup v2.
  bool populated() const;
  bool limits_memory() const { return limits_memory_; }
  bool out_of_memory() const;
  /// Bytes; 0 if unknown.
  std::int64_t peak_bytes() const;
  /// True once no folder is left.
  bool remove();

 private:
  Cgroup() = default;
  std::string v2_, v1_memory_, v1_pids_;
  UniqueFd v2_fd_;
  bool limits_memory_ = false;
};

/// The text of a small kernel file; empty if it cannot be read.
std::string read_kernel_file(const std::string& path);
Status write_kernel_file(const std::string& path, std::string_view text);

}  // namespace hone
