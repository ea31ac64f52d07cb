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
  std::string label;                   ///< name in log lines: "candidate 12"
  std::filesystem::path program;       ///< absolute
  std::vector<std::string> arguments;  ///< without argv[0]
  std::vector<int> fds;                ///< become 3, 4, 5, … in the child; borrowed
  std::vector<int> cpus;               ///< affinity; empty: as the launcher
  ProcessLimits limits;
  bool device = false;  ///< uses a device, so it can access the device's nodes and driver
  /// With `device`: nodes that it does not see. At the level `private` only.
  std::vector<std::string> hidden_nodes;
  /// Candidates: size of a writable folder (bytes), which is the working folder and TMPDIR; 0: none. Builders
  /// always have one.
  std::int64_t scratch_bytes = 0;
  std::vector<std::string>
      readable;  ///< builders: folders to read and execute, in addition to the toolchain
};

/// How a process ended.
struct ProcessExit {
  int exit_code = -1;  ///< -1 when killed by a signal
  int signal = 0;
  bool out_of_memory = false;  ///< the memory limit killed the process or a child
  /// It ended by SIGKILL within its own memory limit, and the kernel counted an out-of-memory kill on this
  /// machine while it ran. False without such evidence, because a SIGKILL alone does not show its sender.
  bool killed_by_machine = false;
  double cpu_seconds = 0;
  std::int64_t peak_bytes = 0;
  std::string output;  ///< the last 64 KiB of stdout and stderr together
};
/// "SIGSEGV"; "signal 77" for a signal without a name.
std::string signal_name(int signal);

/// A started process. The destructor kills it and all its descendants, and frees its slot.
class Process {
 public:
  virtual ~Process() = default;
  virtual pid_t pid() const = 0;
  virtual const std::string& label() const = 0;
  /// Readable once the process has ended. Borrowed.
  virtual int pidfd() const = 0;
  /// Descriptors for a Freezer (freezer.hpp); -1 without a cgroup. Borrowed.
  virtual int freeze_fd() const = 0;
  virtual int frozen_events_fd() const = 0;
  /// Sends SIGKILL to the process and all its descendants. Returns at once.
  virtual void kill() = 0;
  /// Waits until the process and all its descendants have ended.
  virtual Result<ProcessExit> wait(double timeout_s) = 0;
};

struct LauncherOptions {
  IsolationLevel minimum = IsolationLevel::kFiltered;  ///< refuse to start below this level
  IsolationLevel maximum = IsolationLevel::kPrivate;   ///< do not use more than this level (tests)
  std::string freezer =
      "auto";  ///< "auto", "cgroup" or "ptrace"; the last behaves as without cgroup v2
  std::filesystem::path workdir;    ///< scratch folder for builders; on its own tmpfs if possible
  int slots = 64;                   ///< most processes at a time
  std::uint32_t first_uid = 61000;  ///< first user id of the slots, for root
  std::filesystem::path root;       ///< folder of plugins and libraries; start() sets it
  DeviceFiles device;               ///< visible to processes with SpawnRequest::device
  /// Program and arguments of a process that loads an image and then runs the launcher (hone-launcher.so).
  /// The processes that it starts are copies of that image, in jails like all others. Empty: hone-launcher.
  std::vector<std::string> image;
  double image_seconds = 120;  ///< time limit for loading the image
  int given_up = -1;  ///< a descriptor that becomes readable to cancel start(); -1: none. Borrowed
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
  virtual const LauncherOptions& options() const = 0;  ///< the options of start()
  virtual const Capabilities& capabilities() const = 0;
  virtual IsolationLevel level() const = 0;  ///< in use
  virtual std::string freezer() const = 0;   ///< in use: "cgroup" or "ptrace"
  /// False after the launcher process has ended; nothing can be started then.
  virtual bool alive() const = 0;
};

}  // namespace hone
