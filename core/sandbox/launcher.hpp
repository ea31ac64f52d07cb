// Launcher: the host's handle of the process that starts, sandboxes, watches and ends all other processes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "sandbox/device_files.hpp"
#include "sandbox/probe.hpp"

namespace hone {

/// The kind of sandbox that a process gets.
enum class Jail {
  kJudge,      ///< none: trusted; own session, parent-death signal, PR_SET_DUMPABLE 0, empty
               ///< environment
  kBuilder,    ///< sees the toolchain read-only and one empty writable folder, has a pid namespace,
               ///< no network
  kCandidate,  ///< sees the libraries it is linked with, nothing writable; seals itself (seal.hpp)
               ///< before it runs anything foreign
};

struct ProcessLimits {
  std::int64_t memory_bytes = 0;  ///< 0: no limit. By cgroup where there is one, else by polling
  double cpu_seconds = 0;         ///< RLIMIT_CPU; 0: no limit
  std::int64_t file_bytes = 64 << 20;  ///< RLIMIT_FSIZE, and the size of the writable folder
  int processes = 64;                  ///< threads and processes
};

struct SpawnRequest {
  Jail jail = Jail::kCandidate;
  std::string label;                   ///< for logs: "candidate 12"
  std::filesystem::path program;       ///< absolute
  std::vector<std::string> arguments;  ///< without argv[0]
  std::vector<int> fds;                ///< become 3, 4, 5, … in the child; borrowed
  std::vector<int> cpus;               ///< affinity; empty: as the launcher
  ProcessLimits limits;
  bool device = false;  ///< drives a device, whose nodes and driver it sees
  /// Candidates: bytes of a writable folder, its working folder and TMPDIR; 0: no such folder. Builders always have one.
  std::int64_t scratch_bytes = 0;
  std::vector<std::string>
      readable;  ///< builders: folders seen besides the toolchain (read and execute)
};

/// How a process ended.
struct ProcessExit {
  int exit_code = -1;  ///< -1 when killed by a signal
  int signal = 0;
  bool out_of_memory = false;  ///< the memory limit killed it (or something in it)
  /// It ended by SIGKILL, was within its own limit, and the kernel counted an out-of-memory kill on this machine while it
  /// ran. False where nothing shows that: a SIGKILL alone does not say who sent it.
  bool killed_by_machine = false;
  double cpu_seconds = 0;
  std::int64_t peak_bytes = 0;
  std::string output;  ///< the last 64 KiB of stdout and stderr together
};
/// "SIGSEGV"; "signal 77" for one without a name.
std::string signal_name(int signal);

/// A started process. Dropping it kills it and everything it started, and frees its slot.
class Process {
 public:
  virtual ~Process() = default;
  virtual pid_t pid() const = 0;
  virtual const std::string& label() const = 0;
  /// Readable once the process has ended. Borrowed.
  virtual int pidfd() const = 0;
  /// Descriptors that a Freezer (freezer.hpp) works on; -1 where there is no cgroup. Borrowed.
  virtual int freeze_fd() const = 0;
  virtual int frozen_events_fd() const = 0;
  /// SIGKILL to it and all it started. Returns at once.
  virtual void kill() = 0;
  /// Waits until it and all it started are gone.
  virtual Result<ProcessExit> wait(double timeout_s) = 0;
};

struct LauncherOptions {
  IsolationLevel minimum = IsolationLevel::kFiltered;  ///< refuse to start below
  IsolationLevel maximum = IsolationLevel::kPrivate;   ///< use less than the machine allows (tests)
  std::string freezer = "auto";     ///< "auto", "cgroup"; "ptrace": as without cgroup v2
  std::filesystem::path workdir;    ///< scratch for builders; on a tmpfs of its own where possible
  int slots = 64;                   ///< processes at a time
  std::uint32_t first_uid = 61000;  ///< users of the slots, when root
  std::filesystem::path root;       ///< of plugins and libraries; start() fills it in
  DeviceFiles device;               ///< what processes with SpawnRequest::device see
  /// A program and its arguments that has loaded an image and runs the launcher (hone-launcher.so): what it starts
  /// are copies of that image, jailed as any program is. Empty: hone-launcher.
  std::vector<std::string> image;
  double image_seconds = 120;  ///< in which an image must have loaded
  int given_up =
      -1;  ///< readable once start() need not wait for an image any longer; -1: never. Borrowed
};

/// [any thread] All members. Start it before the process has threads, sockets or a device open.
///
///   HONE_ASSIGN(auto launcher, Launcher::start({}));
///   SpawnRequest request; request.program = install_root() / "libexec/hone-candidate";
///   HONE_ASSIGN(auto process, launcher->spawn(request));
///   HONE_ASSIGN(ProcessExit exit, process->wait(5.0));
class Launcher {
 public:
  static Result<std::unique_ptr<Launcher>> start(const LauncherOptions& options);
  virtual ~Launcher() = default;
  virtual Result<std::unique_ptr<Process>> spawn(const SpawnRequest& request) = 0;
  virtual const LauncherOptions& options() const = 0;  ///< as it was started
  virtual const Capabilities& capabilities() const = 0;
  virtual IsolationLevel level() const = 0;  ///< in use
  virtual std::string freezer() const = 0;   ///< in use: "cgroup" or "ptrace"
  /// False after the launcher process has ended; nothing can be started then.
  virtual bool alive() const = 0;
};

}  // namespace hone
