// Private root: tmpfs, recursive read-only binds, pivot_root.
#include "sandbox/private_root.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "sandbox/cgroup.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

Status failed(const std::string& what) { return system_error(what, errno); }

/// The raw mount_setattr call, because the C library of older systems lacks it.
bool set_read_only_tree(const char* path, bool devices) {
  struct {
    std::uint64_t set, clear, propagation, userns_fd;
  } change{};
  constexpr std::uint64_t kReadOnly = 1, kNoSuid = 2, kNoDev = 4;  // MOUNT_ATTR_*
  change.set = kReadOnly | kNoSuid | (devices ? 0 : kNoDev);
  constexpr long kMountSetattr = 442;
  constexpr unsigned kRecursive = 0x8000;  // AT_RECURSIVE
  return ::syscall(kMountSetattr, AT_FDCWD, path, kRecursive, &change, sizeof change) == 0;
}

/// Before Linux 5.12: remounts only the top mount, and keeps the flags that a user namespace has locked.
Status remount_read_only(const std::string& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) return failed("look at mount " + path);
  unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID;
  if ((info.f_flag & ST_NODEV) != 0) flags |= MS_NODEV;
  if ((info.f_flag & ST_NOEXEC) != 0) flags |= MS_NOEXEC;
  if ((info.f_flag & ST_NOATIME) != 0) flags |= MS_NOATIME;
  if ((info.f_flag & ST_NODIRATIME) != 0) flags |= MS_NODIRATIME;
  if ((info.f_flag & ST_RELATIME) != 0) flags |= MS_RELATIME;
  if (::mount(nullptr, path.c_str(), nullptr, flags, nullptr) != 0) {
    return failed("make " + path + " read-only");
  }
  return {};
}

bool lies_below(std::string_view path, std::string_view folder) {
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

/// The folder in which the tree is built. Until the pivot it hides everything below it, so no source of a
/// bind mount may be there.
Result<std::string> choose_base(const PrivateRoot& root) {
  for (const char* base : {"/mnt", "/tmp", "/media", "/srv", "/var/tmp"}) {
    struct stat info {};
    if (::lstat(base, &info) != 0 || !S_ISDIR(info.st_mode)) continue;
    const bool hides = std::any_of(root.readable.begin(), root.readable.end(),
                                   [&](const std::string& path) { return lies_below(path, base); });
    if (!hides) return std::string(base);
  }
  return failed_precondition("private root: no folder to build it at");
}

/// Makes `path` (which begins with "/") below the new root, as an empty folder or file.
Status make_place(const std::string& base, const std::string& path, bool folder) {
  std::error_code error;
  const fs::path target = base + path;
  fs::create_directories(folder ? target : target.parent_path(), error);
  if (error) return system_error("make " + path + " in the private root", error.value());
  if (folder) return {};
  const int fd = ::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0 && errno == EEXIST) return {};  // must not open a file that is already a bind mount
  if (fd < 0) return system_error("make " + path + " in the private root", errno);
  ::close(fd);
  return {};
}

Status bind(const std::string& base, const std::string& path) {
  std::error_code error;
  const fs::file_status link = fs::symlink_status(path, error);
  if (!fs::exists(link)) return {};
  if (fs::is_symlink(link)) {  // /lib -> usr/lib: the link is enough, its target is in the list too
    HONE_TRY(make_place(base, fs::path(path).parent_path().string(), true));
    fs::copy_symlink(path, base + path, error);
    if (error && error.value() != EEXIST) return system_error("link " + path, error.value());
    return {};
  }
  HONE_TRY(make_place(base, path, fs::is_directory(link)));
  const std::string target = base + path;
  if (::mount(path.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return failed("bind " + path);
  }
  return {};
}

/// Mounts a new /proc that shows only this pid namespace; if that is not allowed, binds the existing one.
Status mount_proc(const std::string& base, bool pid_namespace, bool whole) {
  HONE_TRY(make_place(base, "/proc", true));
  const std::string target = base + "/proc";
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  const char* seen = whole ? "hidepid=invisible" : "hidepid=invisible,subset=pid";
  if (::mount("proc", target.c_str(), "proc", kFlags, seen) == 0) return {};
  if (pid_namespace && ::mount("proc", target.c_str(), "proc", kFlags, nullptr) == 0) return {};
  if (::mount("/proc", target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return failed("bind /proc");
  }
  return {};
}

Status mount_writable(const PrivateRoot& root) {
  const std::string options = "mode=0700,nr_inodes=16384,size=" +
                              std::to_string(std::max<std::int64_t>(root.writable_bytes, 1 << 20));
  const unsigned long flags = MS_NOSUID | MS_NODEV | (root.executable ? 0 : MS_NOEXEC);
  if (::mount("tmpfs", root.writable.c_str(), "tmpfs", flags, options.c_str()) != 0) {
    return failed("mount the work folder");
  }
  if (::chown(root.writable.c_str(), root.owner, root.owner) != 0) {
    return failed("give away the work folder");
  }
  return {};
}

/// Makes the tree at `base` the root and unmounts the old one.
Status pivot(const std::string& base) {
  if (::chdir(base.c_str()) != 0) return failed("enter the private root");
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return failed("pivot_root");
  if (::umount2(".", MNT_DETACH) != 0) return failed("unmount the old root");
  if (::chdir("/") != 0) return failed("enter the new root");
  return {};
}

}  // namespace

Status enter_private_root(const PrivateRoot& root) {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return failed("make mounts private");
  }
  HONE_ASSIGN(const std::string base, choose_base(root));
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV;
  const char* options = "mode=0755,size=1m,nr_inodes=4096";
  if (::mount("tmpfs", base.c_str(), "tmpfs", kFlags, options) != 0) {
    return failed("mount a tmpfs at " + base);
  }
  HONE_TRY(mount_proc(base, root.pid_namespace, root.whole_proc));
  // A path within a folder that is already bound needs no mount.
  std::vector<std::string> bound;
  for (const std::string& path : root.readable) {
    const bool seen = std::any_of(bound.begin(), bound.end(), [&](const std::string& earlier) {
      return lies_below(path, earlier) && fs::is_directory(earlier);
    });
    if (seen) continue;
    HONE_TRY(bind(base, path));
    bound.push_back(path);
  }
  for (const std::string& path : root.devices) HONE_TRY(bind(base, path));
  if (!root.writable.empty()) {
    HONE_TRY(make_place(base, root.writable, true));
  }
  HONE_TRY(pivot(base));
  if (!root.writable.empty()) HONE_TRY(mount_writable(root));
  // Makes all but the writable folder and the device files read-only. If there are none, one call for the whole tree is
  // enough. Otherwise, and on kernels without that call, each bind, /proc and the root get a call of their own.
  const bool recursive = root.writable.empty() && root.devices.empty();
  if (recursive && set_read_only_tree("/", false)) return {};
  for (const std::string& path : bound) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0 || S_ISLNK(info.st_mode)) continue;
    if (!set_read_only_tree(path.c_str(), false)) HONE_TRY(remount_read_only(path));
  }
  if (!root.whole_proc && !set_read_only_tree("/proc", false)) HONE_TRY(remount_read_only("/proc"));
  return remount_read_only("/");
}

Status map_own_user(uid_t user, gid_t group) {
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);  // with the launcher's 0, root would own our /proc files
  (void)write_kernel_file("/proc/self/setgroups", "deny");
  const std::string one = std::to_string(user) + " " + std::to_string(user) + " 1";
  HONE_TRY(write_kernel_file("/proc/self/uid_map", one));
  const std::string group_one = std::to_string(group) + " " + std::to_string(group) + " 1";
  return write_kernel_file("/proc/self/gid_map", group_one);
}

std::vector<std::string> library_folders() {
  return {"/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/local/lib",
          "/lib",     "/lib32",     "/lib64",     "/libx32",     "/etc/ld.so.cache"};
}

std::vector<std::string> toolchain_folders() {
  return {"/usr",
          "/bin",
          "/sbin",
          "/lib",
          "/lib32",
          "/lib64",
          "/libx32",
          "/opt",
          "/etc/alternatives",
          "/etc/ld.so.cache"};
}

}  // namespace hone
