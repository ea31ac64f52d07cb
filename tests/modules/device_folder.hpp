// A folder with the emulated device's libraries, in which a test can limit, fill and remove device memory at run
// time.
#pragma once

#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "modules/device_case.hpp"
#include "places.hpp"

namespace hone::test {

class DeviceFolder {
 public:
  DeviceFolder() {
    std::string pattern = (fs::temp_directory_path() / "hone-device-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    fs::permissions(folder_, fs::perms(0755));
    for (const auto& entry : fs::directory_iterator(build_dir() / "tests/gpu")) {
      if (entry.path().extension() == ".so")
        fs::copy_file(entry.path(), folder_ / entry.path().filename());
    }
    std::ofstream(folder_ / "emulated_memory_used").flush();
  }
  ~DeviceFolder() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  DeviceFolder(const DeviceFolder&) = delete;
  DeviceFolder& operator=(const DeviceFolder&) = delete;

  void set_devices(int count) { write("emulated_devices", std::to_string(count)); }
  void set_memory(std::uint64_t bytes) { write("emulated_memory", std::to_string(bytes)); }
  /// Of the allocations from now on the first `after` succeed and the next `count` fail.
  void fail(std::uint64_t after, std::uint64_t count) {
    write("emulated_failures", std::to_string(allocations() + after) + " " + std::to_string(count));
  }
  void fail_no_more() { fs::remove(folder_ / "emulated_failures"); }
  /// That there have been.
  std::uint64_t allocations() const {
    std::uint64_t count = 0;
    std::ifstream(folder_ / "emulated_memory_used", std::ios::binary)
        .read(reinterpret_cast<char*>(&count), sizeof count);
    return count;
  }
  /// SIGKILL to the judges of this device; how many there were.
  int kill_judges() const {
    int killed = 0;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
      const int pid = std::atoi(entry.path().filename().c_str());
      if (pid <= 0) continue;
      std::ifstream file(entry.path() / "cmdline", std::ios::binary);
      const std::string line((std::istreambuf_iterator<char>(file)), {});
      const bool is_judge = line.substr(0, line.find('\0')).ends_with("/hone-judge");
      if (is_judge && line.find(folder_.string() + "/") != std::string::npos &&
          ::kill(pid, SIGKILL) == 0)
        ++killed;
    }
    return killed;
  }
  EvaluatorOptions options(std::size_t lanes) const {
    EvaluatorOptions options = device_options();
    options.backend_library = folder_ / "backend_cuda_emulated.so";
    add_lanes(options, lanes);
    options.installed_max = 2 * lanes;
    return options;
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

inline Result<std::unique_ptr<Machine>> machine_of(EvaluatorOptions options) {
  HONE_TRY(use_interpreter("cuda.python", std::getenv("HONE_MODULES_PYTHON"), options));
  return Machine::start(std::move(options));
}

/// The layer of module_task("linear") with `rows` rows of 16 floats: x and out have 64 bytes each a row.
inline Task linear_of(int rows, const std::string& id) {
  auto task = module_task("linear");
  EXPECT_TRUE(task.ok());
  task->id = id;
  const auto with_rows = [rows](std::string text, const std::string& before) {
    const std::string shape = before + std::to_string(rows) + ", 16";
    for (std::size_t at = 0; (at = text.find(before + "8, 16", at)) != std::string::npos;
         at += shape.size())
      text.replace(at, before.size() + 5, shape);
    return text;
  };
  for (Tensor& tensor : task->tensors) {
    if (tensor.shape.size() == 2) tensor.shape[0] = std::to_string(rows);
  }
  for (auto& [backend, sources] : task->backends) {
    for (Source& file : sources.support)
      file.text = with_rows(file.text, file.name == "module.json" ? "[" : "(");
    sources.reference.text = with_rows(sources.reference.text, "(");
    sources.baseline.text = with_rows(sources.baseline.text, "(");
  }
  return std::move(*task);
}

inline std::string honest_text() { return text_of_file(kHere / "submissions/model.py"); }

}  // namespace hone::test
