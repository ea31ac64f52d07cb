// Warden: the launcher's event loop and its table of jailed processes.
#pragma once

#include <sys/resource.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "sandbox/cgroup.hpp"
#include "sandbox/jail.hpp"
#include "sandbox/messages.hpp"
#include "sandbox/output_tail.hpp"

namespace hone {

/// [one thread] Serves one host on `socket` until the host closes it or `*stop` is set.
///
/// Theory of operation. A jailed process has these phases: starting (the child sets itself up; its failure
/// pipe is open), running, draining (its program has ended; leftover processes are being killed), gone. The
/// loop never blocks on a process, because a process may be in an uninterruptible sleep. The launcher is a
/// subreaper: a process that escapes its jail's supervisor becomes a child of the launcher, is unknown, and
/// is killed.
class Warden {
 public:
  /// `image`: started processes continue in it (jail.hpp); null: they execute programs.
  Warden(UniqueFd socket, const LauncherOptions& options, const CgroupRoots& roots,
         const Capabilities& capabilities, Image image);
  ~Warden();
  Warden(const Warden&) = delete;
  Warden& operator=(const Warden&) = delete;
  /// Sends kReady; false when it refuses to serve.
  bool announce();
  void run(const volatile int* stop);

 private:
  enum class Phase { kStarting, kRunning, kDraining };
  struct Jailed {
    std::int64_t id = 0;
    int slot = 0;
    SpawnRequest request;
    Phase phase = Phase::kStarting;
    bool ending = false;    ///< was asked to end
    bool failed = false;    ///< kFailed was sent, so no kExited follows
    bool has_user = false;  ///< runs as the user of its slot
    bool polls_memory = false;
    bool polls_folder = false;  ///< nothing else limits the size of its work folder
    bool out_of_memory = false;
    std::int64_t oom_kills_before = 0;  ///< machine_oom_kills() when it started
    std::string failure;
    std::unique_ptr<Cgroup> cgroup;
    JailStart start;
    OutputTail output;
    ProcessExit exit;
    std::string work_folder;
  };

  /// A packet for the host. Its last part is the output of a process.
  struct Outgoing {
    std::string bytes;
    OutputTail output;
    std::vector<UniqueFd> fds;
  };

  void serve_host();
  void spawn(std::int64_t id, SpawnRequest request, std::vector<UniqueFd> fds);
  Status start(Jailed& jailed, std::vector<UniqueFd> fds);
  Status make_work_folder(Jailed& jailed);
  void hear_failure(Jailed& jailed);
  void announce_start(Jailed& jailed);
  void fail_start(Jailed& jailed);
  void refuse(std::int64_t id, const Error& error);
  void end(Jailed& jailed);
  void reap();
  void record_exit(Jailed& jailed, int status, const rusage& usage);
  void poll_memory(Jailed& jailed);
  void poll_folder(Jailed& jailed);
  /// True once the process and its leftovers are gone.
  bool drain(Jailed& jailed);
  void finish(Jailed& jailed);
  void poll_once(int timeout_ms);
  void tick();
  int timeout_ms() const;
  void send(PacketWriter& packet, std::vector<int> fds, OutputTail output = {});
  void flush();
  uid_t user_of(int slot) const { return first_uid_ + static_cast<uid_t>(slot); }
  Status choose_users();

  UniqueFd socket_;
  LauncherOptions options_;
  const Image image_;
  CgroupRoots roots_;
  Ready ready_;
  std::string name_;  ///< prefix of this launcher's groups and folders: "<pid>-<random>-"
  uid_t first_uid_ = 0;
  std::vector<UniqueFd> users_locks_;  ///< one for each block of users
  std::vector<bool> slot_taken_;
  std::map<std::int64_t, std::unique_ptr<Jailed>> jailed_;
  std::deque<Outgoing> outgoing_;
  bool host_gone_ = false;
};

}  // namespace hone
