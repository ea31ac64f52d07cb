// A folder with the emulated device's libraries, in which a test can limit, fill and remove devices and their memory at run
// time.
#pragma once

#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "places.hpp"

namespace hone::test {

namespace fs = std::filesystem;

class EmulatedDeviceFolder {
 public:
  EmulatedDeviceFolder() {
    std::string pattern = (fs::temp_directory_path() / "hone-device-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    fs::permissions(folder_, fs::perms(0755));
    for (const auto& entry : fs::directory_iterator(build_dir() / "tests/gpu")) {
      if (entry.path().extension() == ".so")
        fs::copy_file(entry.path(), folder_ / entry.path().filename());
    }
    std::ofstream(folder_ / "emulated_memory_used").flush();
  }
  ~EmulatedDeviceFolder() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  EmulatedDeviceFolder(const EmulatedDeviceFolder&) = delete;
  EmulatedDeviceFolder& operator=(const EmulatedDeviceFolder&) = delete;

  void set_devices(int count) { write("emulated_devices", std::to_string(count)); }
  void set_memory(std::uint64_t bytes) { write("emulated_memory", std::to_string(bytes)); }
  /// Of the allocations from now on the first `after` succeed and the next `count` fail.
  void fail(std::uint64_t after, std::uint64_t count) {
    write("emulated_failures", std::to_string(allocations() + after) + " " + std::to_string(count));
  }
  /// Processes that have opened a device cannot allocate memory any more.
  void lose_contexts() { write("emulated_contexts_lost", ""); }
  void fail_no_more() { fs::remove(folder_ / "emulated_failures"); }
  /// That there have been.
  std::uint64_t allocations() const {
    std::uint64_t count = 0;
    std::ifstream(folder_ / "emulated_memory_used", std::ios::binary)
        .read(reinterpret_cast<char*>(&count), sizeof count);
    return count;
  }
  /// Judges of devices with these numbers do not start, or hang at their start.
  void let_fail(const std::string& numbers) { write("emulated_devices_that_fail", numbers); }
  void let_hang(const std::string& numbers) { write("emulated_devices_that_hang", numbers); }
  const fs::path& path() const { return folder_; }
  /// SIGKILL to the judges of this folder's devices, or of one of them; how many there were.
  int kill_judges(int device = -1) const {
    const std::vector<int> pids = judges(device);
    for (const int pid : pids) ::kill(pid, SIGKILL);
    return static_cast<int>(pids.size());
  }
  /// Their processes.
  std::vector<int> judges(int device = -1) const {
    std::vector<int> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
      const int pid = std::atoi(entry.path().filename().c_str());
      if (pid <= 0) continue;
      std::ifstream file(entry.path() / "cmdline", std::ios::binary);
      const std::string line((std::istreambuf_iterator<char>(file)), {});
      const bool is_judge = line.substr(0, line.find('\0')).ends_with("/hone-judge");
      const std::size_t library = line.find(folder_.string() + "/");
      if (!is_judge || library == std::string::npos) continue;
      const int number = std::atoi(line.c_str() + line.find('\0', library) + 1);
      if (device < 0 || device == number) found.push_back(pid);
    }
    return found;
  }

 private:
  /// In one step, for processes that read it at any time.
  void write(const char* name, const std::string& text) {
    const fs::path whole = folder_ / (std::string(name) + ".new");
    std::ofstream(whole) << text;
    fs::rename(whole, folder_ / name);
  }

  fs::path folder_;
};

}  // namespace hone::test
