// Limits the device nodes and driver folders that a backend can show to sandboxed processes.
#include "sandbox/device_files.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace hone {
namespace {

namespace fs = std::filesystem;

/// Major numbers of drivers of devices (Linux, Documentation/admin-guide/devices.txt): three fixed ones, and the two ranges
/// from which drivers get theirs when they are loaded. Rationale: the other numbers are of the kernel's own interfaces:
/// memory (1), terminals (4, 5, 136), kvm and tun (10), input (13), raw disks (21, 162).
struct Majors {
  unsigned first, last;
};
constexpr Majors kDriverMajors[] = {{195, 195}, {226, 226}, {234, 254}, {261, 261}, {384, 511}};

/// Absolute, with no part that is empty, "." or "..".
bool is_plain_path(const std::string& path) {
  const fs::path named(path);
  return named.is_absolute() && named.lexically_normal().string() == path && named.has_filename() &&
         path.find('\0') == std::string::npos;
}

bool lies_inside(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() + 1 && path.starts_with(folder + "/");
}

Status check_node(const std::string& pattern) {
  const std::string name = pattern.ends_with('*') ? pattern.substr(0, pattern.size() - 1) : pattern;
  if (is_plain_path(name) && lies_inside(name, "/dev") && name.find('*') == std::string::npos)
    return {};
  return invalid_argument("device node: found '" + pattern + "', expected /dev/NAME or /dev/NAME*");
}

Status check_folder(const std::string& folder) {
  for (const char* root : {"/usr", "/opt", "/sys"}) {
    if (is_plain_path(folder) && lies_inside(folder, root)) return {};
  }
  return invalid_argument("driver folder: found '" + folder +
                          "', expected a folder below /usr, /opt or /sys");
}

/// Rationale: asks for the node itself, because in a private root it is bound over a plain file.
Status add_node(const std::string& path, std::vector<std::string>& nodes) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISCHR(info.st_mode)) return {};
  const unsigned number = major(info.st_rdev);
  const bool is_drivers = std::any_of(
      std::begin(kDriverMajors), std::end(kDriverMajors),
      [&](const Majors& majors) { return number >= majors.first && number <= majors.last; });
  if (!is_drivers) {
    return invalid_argument("device node " + path + ": found major number " +
                            std::to_string(number) + ", expected one of a device's driver");
  }
  nodes.push_back(path);
  return {};
}

}  // namespace

Status check_device_files(const DeviceFiles& files) {
  for (const std::string& folder : files.folders) HONE_TRY(check_folder(folder));
  HONE_TRY(device_nodes(files.nodes));
  return {};
}

Result<std::vector<std::string>> device_nodes(const std::vector<std::string>& patterns) {
  std::vector<std::string> nodes;
  for (const std::string& pattern : patterns) {
    HONE_TRY(check_node(pattern));
    if (!pattern.ends_with('*')) {
      HONE_TRY(add_node(pattern, nodes));
      continue;
    }
    const std::string begin = pattern.substr(0, pattern.size() - 1);
    std::vector<std::string> found;
    std::error_code error;
    for (fs::directory_iterator at(fs::path(begin).parent_path(), error), end; !error && at != end;
         at.increment(error)) {
      if (at->path().string().starts_with(begin)) found.push_back(at->path().string());
    }
    std::sort(found.begin(), found.end());
    for (const std::string& path : found) HONE_TRY(add_node(path, nodes));
  }
  return nodes;
}

std::vector<std::string> driver_folders(const DeviceFiles& files) {
  std::vector<std::string> folders = files.folders;
  folders.insert(folders.end(), {"/etc/OpenCL", "/sys/devices"});
  return folders;
}

}  // namespace hone
