// The recording of a process: its device work, in phases.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "hone/recorded_plan.hpp"
#include "record/driver/device.hpp"
#include "record/plan/images.hpp"
#include "record/plan/memories.hpp"
#include "record/plan/streams.hpp"
#include "record/plan/tensor_maps.hpp"

namespace hone::record {

/// A kernel with its attributes at a launch. Steps refer to it by its number.
struct KernelUse {
  Function* function;
  std::uint32_t shared_bytes_max;
  std::int32_t carveout;
  bool nonportable_clusters;
};

/// Theory of operation. Steps have the types of recorded::Plan, but the numbers of the process;
/// build_plan() (build.hpp) replaces these by the plan's numbers. All steps before the first run are
/// setup. When another run begins, the steps of the run before it, and the steps since, become setup.
/// Steps after the last run are not part of the plan. After the first problem, steps are dropped.
///
/// One object in a process, used under its lock (driver/api.hpp).
class Recording {
 public:
  Device device;
  Memories memories;
  Images images;
  Streams streams;
  TensorMaps tensor_maps;

  bool has_begun() const { return has_begun_; }
  bool is_in_run() const { return phase_ == Phase::kRun; }
  void begin(Device facts);
  void begin_run();
  void end_run();

  /// Keeps the first reason why the recording cannot become a plan.
  void fail(std::string_view reason);
  const std::string& problem() const { return problem_; }

  /// Adds an autotuned kernel to the run. Returns its number (recorded::Step::tuned), or 0 if that fails.
  std::uint32_t add_tuned(recorded::Tuned tuned);
  /// Assigns further steps of a run to this configuration of an autotuned kernel (recorded::Step::tuned). 0: to none.
  void begin_configuration(std::uint32_t tuned, std::uint32_t configuration);

  /// Records work on the stream with this Stream::id.
  void append(std::uint32_t stream, decltype(recorded::Step::work) work);
  void record(Event& event, std::uint32_t stream);
  void wait(const Event& event, std::uint32_t stream);
  /// The host has waited for the device: all later work comes after all earlier work.
  void synchronize();

  /// The number of a kernel with its present attributes.
  std::uint32_t kernel_use(Function& function);
  const KernelUse& kernel(std::uint32_t use) const { return kernels_[use]; }

  const std::vector<recorded::Step>& setup() const { return setup_; }
  const std::vector<recorded::Step>& run() const { return run_; }
  /// The autotuned kernels of the run.
  const std::vector<recorded::Tuned>& tuned_kernels() const { return tuned_kernels_; }
  /// 1 for the first run, also after its end; 0 before.
  std::uint64_t run_number() const { return run_number_; }

 private:
  enum class Phase { kSetup, kRun, kAfterRun };

  std::vector<recorded::Step>& steps();
  void push(std::uint32_t stream, decltype(recorded::Step::work) work);
  bool make_room_in_setup();
  /// Drops steps of setup that no memory still allocated depends on.
  void forget_what_is_freed();

  bool has_begun_ = false;
  std::string problem_;
  Phase phase_ = Phase::kSetup;
  std::uint64_t run_number_ = 0;
  std::vector<recorded::Step> setup_, run_, after_run_;
  std::uint64_t kept_bytes_ = 0;
  std::vector<KernelUse> kernels_;
  std::map<std::tuple<Function*, std::uint32_t, std::int32_t, bool>, std::uint32_t> kernel_uses_;

  std::vector<recorded::Tuned> tuned_kernels_;
  std::uint32_t tuned_ = 0, configuration_ = 0;  ///< of the next step

  // Of the present run.
  std::vector<std::uint32_t> used_streams_;
  std::uint32_t last_record_ = 0;
  std::uint32_t barrier_ = 0;  ///< the event record that all streams must wait for; 0: none
  std::size_t steps_at_barrier_ = 0;
};

}  // namespace hone::record
