// Cgroups: where groups may be made on this machine, and one group per jailed process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace hone {

/// Folders under which children may be made; empty where there is none. v1 and v2 may stand side by
/// side (hybrid).
struct CgroupRoots {
  std::string v2;          ///< its children have cgroup.freeze
  bool v2_memory = false;  ///< and memory.max
  bool v2_pids = false;    ///< and pids.max
  std::string v1_memory;
  std::string v1_pids;
};

/// Tries the process' own group first, then the root of the mount. Never touches
/// cgroup.subtree_control. Says in `notes` what is missing and why.
CgroupRoots find_cgroups(std::vector<std::string>* notes);

/// Processes that the kernel has ended since it booted because memory ran out, in any control group or in none; 0 where
/// the kernel does not count them.
std::int64_t machine_oom_kills();

/// Removes empty groups named hone-<pid>-… whose launcher is no more.
void sweep_cgroups(const CgroupRoots& roots);

/// The groups of one process. Made before it starts; removed by remove() once everything in them is
/// gone.
class Cgroup {
 public:
  static Result<std::unique_ptr<Cgroup>> make(const CgroupRoots& roots, const std::string& name,
                                              std::int64_t memory_bytes, int processes);
  ~Cgroup() { remove(); }
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  /// A descriptor for clone3's CLONE_INTO_CGROUP; -1 without cgroup v2.
  int v2_fd() const { return v2_fd_.get(); }
  /// [in the child, before it drops its user] Moves the calling process in. `in_v2`: clone3 has put
  /// it there.
  Status enter(bool in_v2) const;
  Result<UniqueFd> open_freeze() const;
  Result<UniqueFd> open_events() const;
  /// SIGKILL to everything in the v2 group.
  void kill_all() const;
  /// Whether something in the v2 group is alive. False without cgroup v2.
  bool populated() const;
  bool limits_memory() const { return limits_memory_; }
  bool out_of_memory() const;
  /// Bytes; 0 when not known.
  std::int64_t peak_bytes() const;
  /// True once no folder is left.
  bool remove();

 private:
  Cgroup() = default;
  std::string v2_, v1_memory_, v1_pids_;
  UniqueFd v2_fd_;
  bool limits_memory_ = false;
};

/// Small kernel files: the whole text, or "" when it cannot be read.
std::string read_kernel_file(const std::string& path);
Status write_kernel_file(const std::string& path, std::string_view text);

}  // namespace hone
