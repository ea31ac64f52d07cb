// Warden, second part: plans, starts and empties one jail.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <sstream>
#include <string_view>

#include "base/files.hpp"
#include "base/memory.hpp"
#include "sandbox/level.hpp"
#include "sandbox/process_watch.hpp"
#include "sandbox/supervisor.hpp"
#include "sandbox/warden.hpp"

namespace hone {
namespace {

/// Number of threads of all processes of our user, which RLIMIT_NPROC counts if jails have no user of their
/// own.
int count_own_threads() {
  int count = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    struct stat info {};
    const std::string path = entry.path().string();
    if (path.find_first_not_of("0123456789", 6) != std::string::npos) continue;
    if (::stat(path.c_str(), &info) != 0 || info.st_uid != ::geteuid()) continue;
    const std::string status = read_kernel_file(path + "/status");
    const std::size_t line = status.find("\nThreads:");
    if (line != std::string::npos) count += std::atoi(status.c_str() + line + 9);
  }
  return count;
}

/// Allowance for processes that count_own_threads() cannot see. RLIMIT_NPROC counts the processes of a user in all
/// process namespaces, and containers often share a user. A server has 40 to 300 processes and threads, so this
/// is enough for more than ten neighbours.
constexpr int kHiddenProcessesMax = 4096;

/// Whether /proc shows only the processes of a container.
bool in_process_namespace() {
  constexpr ino_t kInitial = 0xEFFFFFFC;  // PROC_PID_INIT_INO of the kernel
  struct stat info {};
  return ::stat("/proc/self/ns/pid", &info) == 0 && info.st_ino != kInitial;
}

constexpr std::int64_t kTooMany = std::int64_t{1} << 50;

/// Bytes used by a folder and everything below it; an empty file counts as a page. Rationale: uses
/// descriptors, because a path may be longer than the kernel accepts. Entries that cannot be read or are
/// nested very deeply count as too many bytes.
std::int64_t bytes_below(int parent, const char* name, int depth = 0) {
  constexpr int kDepthMax = 64;
  constexpr std::int64_t kBlock = 512, kPage = 4096;
  const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? 0 : kTooMany;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(fdopendir(fd), closedir);
  if (folder == nullptr) {
    close(fd);
    return kTooMany;
  }
  std::int64_t bytes = 0;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string_view each = entry->d_name;
    struct stat info {};
    if (each == "." || each == "..") continue;
    if (fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno != ENOENT) return kTooMany;
      continue;
    }
    bytes += std::max<std::int64_t>(info.st_blocks * kBlock, kPage);
    if (!S_ISDIR(info.st_mode)) continue;
    bytes += depth < kDepthMax ? bytes_below(fd, entry->d_name, depth + 1) : kTooMany;
    if (bytes >= kTooMany) return kTooMany;
  }
  return bytes;
}

/// Resident bytes of a process and all its descendants.
std::int64_t resident_bytes_of_all(pid_t root) {
  std::int64_t bytes = 0;
  std::vector<pid_t> left = {root};
  for (int visited = 0; !left.empty() && visited < 4096; ++visited) {
    const pid_t each = left.back();
    left.pop_back();
    bytes += memory_of(each).resident;
    for (const pid_t child : children_of(each)) left.push_back(child);
  }
  return bytes;
}

/// Removes a folder and its contents. Its owner has ended, and may have removed access rights, without which
/// an unprivileged launcher could never delete the folder.
void remove_tree(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) return;
  fs::permissions(folder, fs::perms::owner_all, error);
  fs::recursive_directory_iterator next(folder, fs::directory_options::skip_permission_denied,
                                        error);
  for (; !error && next != fs::recursive_directory_iterator(); next.increment(error)) {
    std::error_code ignored;
    if (next->symlink_status(ignored).type() == fs::file_type::directory)
      fs::permissions(next->path(), fs::perms::owner_all, ignored);  // before the folder is entered
  }
  fs::remove_all(folder, error);
}

}  // namespace

void Warden::spawn(std::int64_t id, SpawnRequest request, std::vector<UniqueFd> fds) {
  const auto free = std::find(slot_taken_.begin(), slot_taken_.end(), false);
  if (free == slot_taken_.end()) {
    refuse(id, resource_exhausted(request.label + ": all " + std::to_string(slot_taken_.size()) +
                                  " slots are taken"));
    return;
  }
  auto jailed = std::make_unique<Jailed>();
  jailed->id = id;
  jailed->slot = static_cast<int>(free - slot_taken_.begin());
  jailed->request = std::move(request);
  if (const Status started = start(*jailed, std::move(fds)); !started) {
    refuse(id, started.error().in(jailed->request.label));
    if (!jailed->work_folder.empty()) remove_tree(jailed->work_folder);
    return;
  }
  *free = true;
  jailed_.emplace(id, std::move(jailed));
}

Status Warden::start(Jailed& jailed, std::vector<UniqueFd> fds) {
  const SpawnRequest& request = jailed.request;
  JailPlan plan;
  plan.request = &request;
  plan.fds = std::move(fds);
  if (request.jail != Jail::kJudge) {
    const IsolationLevel level = ready_.level;
    const std::int64_t memory = request.limits.memory_bytes;
    HONE_ASSIGN(jailed.cgroup, Cgroup::make(roots_, name_ + std::to_string(jailed.slot), memory,
                                            request.limits.processes + 1));
    plan.cgroup = jailed.cgroup.get();
    jailed.polls_memory = memory > 0 && !plan.cgroup->limits_memory();
    plan.limit_data = jailed.polls_memory;
    plan.private_root = level == IsolationLevel::kPrivate;
    plan.user_namespace = level >= IsolationLevel::kSeparated && !ready_.capabilities.root;
    plan.pid_namespace =
        plan.private_root && request.jail == Jail::kBuilder && ready_.capabilities.pid_namespace;
    plan.change_user = jailed.has_user = uses_slot_user(ready_, options_, request.jail);
    plan.user = user_of(jailed.slot);
    if (!plan.change_user && !plan.user_namespace && !ready_.capabilities.root) {
      plan.processes_of_others = count_own_threads();
    }
    if (!plan.user_namespace && in_process_namespace()) {
      plan.processes_of_others += kHiddenProcessesMax;
    }
    plan.device = &options_.device;
    plan.plugins = (options_.root / "plugins").string();
    plan.libraries = (options_.root / "lib").string();
    plan.image = image_;
    if (has_work_folder(request) && !plan.private_root) {
      HONE_TRY(make_work_folder(jailed));
      plan.work_folder = jailed.work_folder;
      jailed.polls_folder = request.scratch_bytes > 0;
    }
  }
  jailed.oom_kills_before = machine_oom_kills();
  HONE_ASSIGN(jailed.start, start_jail(plan));
  return {};
}

Status Warden::make_work_folder(Jailed& jailed) {
  // Its name contains the jail's number, so that a folder that cannot be removed never blocks another jail.
  jailed.work_folder = options_.workdir / ("hone-" + name_ + std::to_string(jailed.id));
  const char* path = jailed.work_folder.c_str();
  if (::mkdir(path, 0700) != 0) return system_error("make " + jailed.work_folder, errno);
  const uid_t user = user_of(jailed.slot);
  if (jailed.has_user && ::chown(path, user, user) != 0) {
    return system_error("change the owner of " + jailed.work_folder, errno);
  }
  return {};
}

void Warden::poll_memory(Jailed& jailed) {
  const std::int64_t bytes = resident_bytes_of_all(jailed.start.pid);
  jailed.exit.peak_bytes = std::max(jailed.exit.peak_bytes, bytes);
  if (bytes <= jailed.request.limits.memory_bytes || jailed.ending) return;
  jailed.out_of_memory = true;
  end(jailed);
}

/// Rationale: a tmpfs mount limits the size, but only a private root has one.
void Warden::poll_folder(Jailed& jailed) {
  if (jailed.ending ||
      bytes_below(AT_FDCWD, jailed.work_folder.c_str()) <= jailed.request.scratch_bytes)
    return;
  jailed.out_of_memory = true;
  end(jailed);
}

bool Warden::drain(Jailed& jailed) {
  bool left = false;
  if (jailed.cgroup != nullptr && jailed.cgroup->populated()) {
    jailed.cgroup->kill_all();
    left = true;
  } else if (jailed.has_user && (jailed.cgroup == nullptr || jailed.cgroup->v2_fd() < 0)) {
    left = kill_all_of_user(user_of(jailed.slot));
  }
  std::vector<pid_t> known;
  for (const auto& [id, each] : jailed_) {
    if (each->phase != Phase::kDraining) known.push_back(each->start.pid);
  }
  if (end_children(known)) left = true;
  if (left) return false;
  if (jailed.start.output && jailed.output.drain(jailed.start.output.get())) {
    // All writers are gone, so an empty pipe is the end. If one round could not read all, there is more to do.
    pollfd more{jailed.start.output.get(), POLLIN, 0};
    if (::poll(&more, 1, 0) > 0 && (more.revents & POLLIN) != 0) return false;
  }
  return true;
}

void Warden::finish(Jailed& jailed) {
  if (!jailed.work_folder.empty()) remove_tree(jailed.work_folder);
  ProcessExit& exit = jailed.exit;
  exit.out_of_memory = jailed.out_of_memory;
  if (jailed.cgroup != nullptr) {
    exit.out_of_memory = exit.out_of_memory || jailed.cgroup->out_of_memory();
    if (const std::int64_t peak = jailed.cgroup->peak_bytes(); peak > 0) exit.peak_bytes = peak;
  }
  exit.killed_by_machine = exit.signal == SIGKILL && !exit.out_of_memory && !jailed.ending &&
                           machine_oom_kills() > jailed.oom_kills_before;
  slot_taken_[static_cast<std::size_t>(jailed.slot)] = false;
  if (jailed.failed) return;
  PacketWriter packet;
  packet.number(static_cast<std::int64_t>(MessageKind::kExited)).number(jailed.id);
  put(packet, exit, jailed.output.bytes().size());
  send(packet, {}, std::move(jailed.output));
}

}  // namespace hone
