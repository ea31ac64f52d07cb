// GpuCourt: judges attacks in device code the whole way, over the emulated driver or on a device;
// one evaluator at a time, kept between tests.
//
// HONE_GPU_BACKEND names the backend of a device (cuda.so); without it the emulator is used. README.md in this folder lists other variables.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "adversarial/gpu/gpu_attack.hpp"
#include "evaluate/make_evaluator.hpp"
#include "sandbox/launcher.hpp"

namespace hone::test {

class GpuCourt {
 public:
  /// Another one, of other defences or isolation, is ended first.
  static GpuCourt& without(const std::vector<std::string>& off, const std::string& isolation);

  /// Submissions of one client share a process where the isolation is "client".
  Result<Verdict> judge(const std::string& name, const std::string& client);
  const std::string& failure() const { return failure_; }

 private:
  GpuCourt(const std::vector<std::string>& off, const std::string& isolation);
  Status start();

  std::vector<std::string> off_;
  std::string isolation_, failure_;
  std::unique_ptr<Launcher> launcher_;
  std::unique_ptr<Evaluator> evaluator_;
  std::shared_ptr<const Task> task_;
  std::uint64_t seed_ = 0;
};

/// Whether attacks run on a device, by HONE_GPU_BACKEND.
bool on_a_device();
/// The folder of the submissions: HONE_GPU_ATTACKS, "submissions" next to the program, or the tree's.
std::filesystem::path gpu_submissions();
/// Of an attack: its file, without .cu, and the microseconds that it waits.
std::pair<std::string, std::string> file_and_delay(const std::string& name);
/// A submission with "inside.cuh" put in, its sizes and its delay replaced.
Result<std::string> gpu_source(const std::string& name);

}  // namespace hone::test
