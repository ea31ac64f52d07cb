// Cgroups: finding the hierarchies, making, watching and removing the groups of one process.
#include "sandbox/cgroup.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sstream>

namespace hone {
namespace {

constexpr std::string_view kPrefix = "hone-";

bool has_word(const std::string& text, std::string_view word) {
  std::istringstream words(text);
  for (std::string each; words >> each;) {
    if (each == word) return true;
  }
  return false;
}

/// The number behind a key in "key 12\nother 3\n"; 0 when it is not there.
std::int64_t value_of(const std::string& text, std::string_view key) {
  std::istringstream lines(text);
  std::string name;
  std::int64_t value = 0;
  while (lines >> name >> value) {
    if (name == key) return value;
  }
  return 0;
}

struct Mount {
  std::string folder;
  std::string own;  ///< the folder of the process' own group in it
};

/// Finds the mount of cgroup v2 (controller "") or of a v1 controller, and this process' group in it.
Mount find_mount(std::string_view controller) {
  Mount mount;
  std::istringstream mounts(read_kernel_file("/proc/self/mounts"));
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string device, folder, type, options;
    fields >> device >> folder >> type >> options;
    std::replace(options.begin(), options.end(), ',', ' ');
    const bool wanted =
        controller.empty() ? type == "cgroup2" : type == "cgroup" && has_word(options, controller);
    if (wanted) mount.folder = folder;
  }
  if (mount.folder.empty()) return mount;
  std::istringstream groups(read_kernel_file("/proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string names = line.substr(first + 1, second - first - 1);
    std::replace(names.begin(), names.end(), ',', ' ');
    if (controller.empty() ? names.empty() : has_word(names, controller)) {
      mount.own = mount.folder + line.substr(second + 1);
    }
  }
  while (mount.own.size() > 1 && mount.own.back() == '/') mount.own.pop_back();
  return mount;
}

/// Makes a child group as a trial, and checks whether it has the named files.
struct Trial {
  int error = 0;
  bool joins = false;  ///< a process can join it
  std::string folder;
  explicit Trial(const std::string& root)
      : folder(root + "/" + std::string(kPrefix) + std::to_string(getpid()) + "-trial") {
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) error = errno;
    joins = error == 0 && ::access((folder + "/cgroup.procs").c_str(), W_OK) == 0;
  }
  ~Trial() { ::rmdir(folder.c_str()); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  bool has(const char* file) const { return ::access((folder + "/" + file).c_str(), W_OK) == 0; }
};

std::string find_v1(std::string_view controller, const char* limit) {
  const Mount mount = find_mount(controller);
  if (mount.folder.empty()) return {};
  for (const std::string& root : {mount.own, mount.folder}) {
    if (root.empty()) continue;
    const Trial trial(root);
    if (trial.joins && trial.has(limit)) return root;
  }
  return {};
}

void find_v2(CgroupRoots* found, std::vector<std::string>* notes) {
  const Mount mount = find_mount("");
  if (mount.folder.empty()) {
    notes->push_back("cgroup v2: not mounted");
    return;
  }
  int error = 0;
  for (const std::string& root : {mount.own, mount.folder}) {
    if (root.empty()) continue;
    const Trial trial(root);
    if (trial.error != 0) error = trial.error;
    if (!trial.joins || !trial.has("cgroup.freeze")) continue;
    const bool memory = trial.has("memory.max");
    // Prefers this process' group. The mount's root is used only if nothing else can limit memory.
    if (!found->v2.empty() && !(memory && !found->v2_memory)) continue;
    found->v2 = root;
    found->v2_memory = memory;
    found->v2_pids = trial.has("pids.max");
  }
  if (found->v2.empty()) {
    notes->push_back(system_error("cgroup v2: cannot create a child group below " + mount.folder,
                                  error != 0 ? error : EACCES)
                         .message);
  }
}

void sweep(const std::string& root) {
  if (root.empty()) return;
  DIR* folder = ::opendir(root.c_str());
  if (folder == nullptr) return;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(kPrefix)) continue;
    const int pid = std::atoi(entry->d_name + kPrefix.size());
    if (pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH) {
      ::unlinkat(::dirfd(folder), entry->d_name, AT_REMOVEDIR);  // fails unless it is empty
    }
  }
  ::closedir(folder);
}

Status make_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0755) == 0) return {};
  return system_error("make cgroup " + folder, errno);
}

}  // namespace

std::string read_kernel_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char block[4096];
  for (;;) {
    const ssize_t n = fd ? ::read(fd.get(), block, sizeof block) : -1;
    if (n < 0 && errno == EINTR && fd) continue;
    if (n <= 0) return text;
    text.append(block, static_cast<std::size_t>(n));
  }
}

Status write_kernel_file(const std::string& path, std::string_view text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd || ::write(fd.get(), text.data(), text.size()) < 0) {
    return system_error("write " + path, errno);
  }
  return {};
}

std::int64_t machine_oom_kills() { return value_of(read_kernel_file("/proc/vmstat"), "oom_kill"); }

CgroupRoots find_cgroups(std::vector<std::string>* notes) {
  CgroupRoots found;
  find_v2(&found, notes);
  if (!found.v2_memory) found.v1_memory = find_v1("memory", "memory.limit_in_bytes");
  if (!found.v2_pids) found.v1_pids = find_v1("pids", "pids.max");
  if (!found.v2_memory && found.v1_memory.empty()) {
    notes->push_back(
        "cgroup memory: no delegated controller, so memory is limited by polling; "
        "run hone as root or as a service with Delegate=yes");
  }
  return found;
}

void sweep_cgroups(const CgroupRoots& roots) {
  sweep(roots.v2);
  sweep(roots.v1_memory);
  sweep(roots.v1_pids);
}

Result<std::unique_ptr<Cgroup>> Cgroup::make(const CgroupRoots& roots, const std::string& name,
                                             std::int64_t memory_bytes, int processes) {
  std::unique_ptr<Cgroup> made(new Cgroup);
  const std::string child = "/" + std::string(kPrefix) + name;
  if (!roots.v2.empty()) {
    HONE_TRY(make_folder(roots.v2 + child));
    made->v2_ = roots.v2 + child;
    made->v2_fd_.reset(::open(made->v2_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!made->v2_fd_) return system_error("open " + made->v2_, errno);
    if (roots.v2_memory && memory_bytes > 0) {
      HONE_TRY(write_kernel_file(made->v2_ + "/memory.max", std::to_string(memory_bytes)));
      // The file is missing without swap; then there is nothing to limit.
      (void)write_kernel_file(made->v2_ + "/memory.swap.max", "0");
      made->limits_memory_ = true;
    }
    if (roots.v2_pids && processes > 0) {
      HONE_TRY(write_kernel_file(made->v2_ + "/pids.max", std::to_string(processes)));
    }
  }
  if (!roots.v1_memory.empty() && memory_bytes > 0) {
    HONE_TRY(make_folder(roots.v1_memory + child));
    made->v1_memory_ = roots.v1_memory + child;
    const std::string limit = std::to_string(memory_bytes);
    HONE_TRY(write_kernel_file(made->v1_memory_ + "/memory.limit_in_bytes", limit));
    (void)write_kernel_file(made->v1_memory_ + "/memory.memsw.limit_in_bytes", limit);
    made->limits_memory_ = true;
  }
  if (!roots.v1_pids.empty() && processes > 0) {
    HONE_TRY(make_folder(roots.v1_pids + child));
    made->v1_pids_ = roots.v1_pids + child;
    HONE_TRY(write_kernel_file(made->v1_pids_ + "/pids.max", std::to_string(processes)));
  }
  return made;
}

Status Cgroup::enter(bool in_v2) const {
  if (!v2_.empty() && !in_v2) HONE_TRY(write_kernel_file(v2_ + "/cgroup.procs", "0"));
  // Writing 0 to "tasks" moves the caller without the kernel's global lock; writes to "cgroup.procs" wait for
  // that lock for milliseconds.
  if (!v1_memory_.empty()) HONE_TRY(write_kernel_file(v1_memory_ + "/tasks", "0"));
  if (!v1_pids_.empty()) HONE_TRY(write_kernel_file(v1_pids_ + "/tasks", "0"));
  return {};
}

Result<UniqueFd> Cgroup::open_freeze() const {
  UniqueFd fd(::open((v2_ + "/cgroup.freeze").c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return system_error("open " + v2_ + "/cgroup.freeze", errno);
  return fd;
}

Result<UniqueFd> Cgroup::open_events() const {
  UniqueFd fd(::open((v2_ + "/cgroup.events").c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return system_error("open " + v2_ + "/cgroup.events", errno);
  return fd;
}

void Cgroup::kill_all() const {
  if (v2_.empty() || write_kernel_file(v2_ + "/cgroup.kill", "1")) return;
  std::istringstream pids(read_kernel_file(v2_ + "/cgroup.procs"));  // before Linux 5.14
  for (pid_t pid = 0; pids >> pid;) {
    if (pid > 0) ::kill(pid, SIGKILL);
  }
}

bool Cgroup::populated() const {
  return !v2_.empty() && value_of(read_kernel_file(v2_ + "/cgroup.events"), "populated") != 0;
}

bool Cgroup::out_of_memory() const {
  if (!limits_memory_) return false;
  const std::string events = !v1_memory_.empty()
                                 ? read_kernel_file(v1_memory_ + "/memory.oom_control")
                                 : read_kernel_file(v2_ + "/memory.events");
  return value_of(events, "oom_kill") > 0;
}

std::int64_t Cgroup::peak_bytes() const {
  if (!limits_memory_) return 0;
  const std::string text = !v1_memory_.empty()
                               ? read_kernel_file(v1_memory_ + "/memory.max_usage_in_bytes")
                               : read_kernel_file(v2_ + "/memory.peak");
  return std::atoll(text.c_str());
}

bool Cgroup::remove() {
  for (std::string* folder : {&v2_, &v1_memory_, &v1_pids_}) {
    if (folder->empty()) continue;
    if (::rmdir(folder->c_str()) == 0 || errno == ENOENT) folder->clear();
  }
  return v2_.empty() && v1_memory_.empty() && v1_pids_.empty();
}

}  // namespace hone
