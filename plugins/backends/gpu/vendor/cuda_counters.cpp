// Reads hardware counters with CUPTI's range profiler: each launch between the start and the stop of a pass is a range.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "counters.hpp"
#include "device.hpp"
#include "errors.hpp"
#include "hone/plugin/failure.hpp"
#include "vendor/cupti.h"

namespace hone_gpu {

using hone::plugin::fail;
using hone::plugin::guard;

namespace cupti {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr int kPassesMax = 64;  // of a count; 13 metrics take 5 on an H200
constexpr double kSectorBytes = 32, kPercent = 0.01, kNanoseconds = 1e-9;

/// One of CUPTI's metrics, and the member to which `factor` times its value is added.
struct Metric {
  const char* name;
  double hone_launch_counters::*member;
  double factor;
};

constexpr Metric kMetrics[] = {
    {"gpu__time_duration.sum", &hone_launch_counters::seconds, kNanoseconds},
    {"dram__bytes_read.sum", &hone_launch_counters::memory_read_bytes, 1},
    {"dram__bytes_write.sum", &hone_launch_counters::memory_written_bytes, 1},
    {"lts__t_sectors_srcunit_tex_op_read.sum", &hone_launch_counters::cache_read_bytes,
     kSectorBytes},
    {"lts__t_sectors_srcunit_tex_op_write.sum", &hone_launch_counters::cache_written_bytes,
     kSectorBytes},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", &hone_launch_counters::load_sectors, 1},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", &hone_launch_counters::load_requests, 1},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", &hone_launch_counters::store_sectors, 1},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", &hone_launch_counters::store_requests, 1},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", &hone_launch_counters::local_bytes,
     kSectorBytes},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", &hone_launch_counters::local_bytes,
     kSectorBytes},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", &hone_launch_counters::bank_conflicts,
     1},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", &hone_launch_counters::active_warps,
     kPercent},
};

/// The size of a parameter structure up to and with its last member, without padding, as CUPTI counts it.
template <typename Parameters, typename Member>
constexpr std::size_t size_to(const Parameters& parameters, const Member& last) {
  return static_cast<std::size_t>(reinterpret_cast<const char*>(&last + 1) -
                                  reinterpret_cast<const char*>(&parameters));
}

/// CUPTI, loaded. It stays loaded, because it hooks into the driver.
class Library {
 public:
  explicit Library(const char* path) : library_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) {
      const char* reason = dlerror();
      fail(HONE_UNAVAILABLE, std::string("CUPTI: ") + (reason != nullptr ? reason : "not loaded"));
    }
  }

  /// Returns CUPTI's result.
  template <typename Parameters, typename Member>
  int try_call(const char* name, Parameters& parameters, const Member& last) const {
    int (*function)(Parameters*) = nullptr;
    void* const symbol = dlsym(library_, name);
    if (symbol == nullptr)
      fail(HONE_UNAVAILABLE, std::string("CUPTI is too old: it has no ") + name);
    std::memcpy(&function, &symbol, sizeof symbol);
    parameters.size = size_to(parameters, last);
    return function(&parameters);
  }
  template <typename Parameters, typename Member>
  void call(const char* name, Parameters& parameters, const Member& last) const {
    const int result = try_call(name, parameters, last);
    if (result != kSuccess) refuse(name, result);
  }

  [[noreturn]] void refuse(const char* name, int result) const {
    if (result == kNoPermission || result == kNoPermissionVirtual) {
      fail(HONE_UNAVAILABLE,
           "the driver lets only administrators read hardware counters; to let all users, load its "
           "kernel module with NVreg_RestrictProfilingToAdminUsers=0");
    }
    int (*text_of)(int, const char**) = nullptr;
    void* const symbol = dlsym(library_, "cuptiGetResultString");
    std::memcpy(&text_of, &symbol, sizeof symbol);
    const char* text = nullptr;
    if (text_of != nullptr) text_of(result, &text);
    fail(HONE_UNAVAILABLE,
         std::string(name) + ": " + (text != nullptr ? std::string(text) : std::to_string(result)));
  }

 private:
  void* library_;
};

}  // namespace cupti
}  // namespace hone_gpu

/// Owns CUPTI's objects. Its members are in the order in which they are made.
struct hone_counters {
  hone_counters(hone_device& of, const char* library, std::uint32_t most);
  ~hone_counters();
  hone_counters(const hone_counters&) = delete;
  hone_counters& operator=(const hone_counters&) = delete;

  void begin_pass();
  bool end_pass();
  void read(std::uint32_t launch, hone_launch_counters& out);

 private:
  void* host_object(const char* chip) const;
  void drop(void* host) const;
  bool accepts(void* host, const char** names, std::size_t count) const;
  void choose_metrics(const char* chip);
  void make_config();
  void enable();
  void configure();
  void warm_up();
  void decode();

  hone_device& device_;
  const hone_gpu::cupti::Library cupti_;
  const std::uint32_t launches_max_;
  void* host_ = nullptr;
  void* profiler_ = nullptr;
  std::vector<const char*> names_;
  std::vector<const hone_gpu::cupti::Metric*> metrics_;  ///< those that the device counts
  std::vector<std::uint8_t> config_, data_;
  std::size_t launches_ = 0;  ///< of a pass
  bool is_decoded_ = false;
};

namespace cupti = hone_gpu::cupti;

hone_counters::hone_counters(hone_device& of, const char* library, std::uint32_t most)
    : device_(of), cupti_(library), launches_max_(most) {
  hone_gpu::use(device_);
  cupti::Initialize start{};
  cupti_.call("cuptiProfilerInitialize", start, start.reserved);
  cupti::ChipName chip{};
  chip.device = static_cast<std::size_t>(device_.ordinal);
  cupti_.call("cuptiDeviceGetChipName", chip, chip.name);
  choose_metrics(chip.name);
  make_config();
  warm_up();
}

hone_counters::~hone_counters() {
  if (profiler_ != nullptr) {
    cupti::Profiler end{};
    end.profiler = profiler_;
    cupti_.try_call("cuptiRangeProfilerDisable", end, end.profiler);
  }
  if (host_ != nullptr) drop(host_);
}

void* hone_counters::host_object(const char* chip) const {
  cupti::HostInitialize made{};
  made.profiler = cupti::kRangeProfiler;
  made.chip = chip;
  cupti_.call("cuptiProfilerHostInitialize", made, made.host);
  return made.host;
}

void hone_counters::drop(void* host) const {
  cupti::HostEnd end{};
  end.host = host;
  cupti_.try_call("cuptiProfilerHostDeinitialize", end, end.host);
}

bool hone_counters::accepts(void* host, const char** names, std::size_t count) const {
  cupti::AddMetrics add{};
  add.host = host;
  add.names = names;
  add.count = count;
  return cupti_.try_call("cuptiProfilerHostConfigAddMetrics", add, add.count) == cupti::kSuccess;
}

/// All metrics, or without those that the chip does not know.
void hone_counters::choose_metrics(const char* chip) {
  for (const cupti::Metric& metric : cupti::kMetrics) {
    names_.push_back(metric.name);
    metrics_.push_back(&metric);
  }
  host_ = host_object(chip);
  if (accepts(host_, names_.data(), names_.size())) return;
  names_.clear();
  metrics_.clear();
  for (const cupti::Metric& metric : cupti::kMetrics) {
    void* const trial = host_object(chip);
    const char* name = metric.name;
    if (accepts(trial, &name, 1)) {
      names_.push_back(metric.name);
      metrics_.push_back(&metric);
    }
    drop(trial);
  }
  drop(host_);
  host_ = host_object(chip);
  if (names_.empty() || !accepts(host_, names_.data(), names_.size()))
    hone_gpu::fail(HONE_UNAVAILABLE, std::string("CUPTI has no counters for the chip ") + chip);
}

/// Makes the image that says what to count. Does not use the device.
void hone_counters::make_config() {
  cupti::ConfigSize size{};
  size.host = host_;
  cupti_.call("cuptiProfilerHostGetConfigImageSize", size, size.config_size);
  config_.resize(size.config_size);
  cupti::ConfigImage image{};
  image.host = host_;
  image.config_size = config_.size();
  image.config = config_.data();
  cupti_.call("cuptiProfilerHostGetConfigImage", image, image.config);
}

/// Reserves the device's counters, and makes passes without launches. Rationale: the first pass of a process takes 0.3 s on an
/// H200, so a process makes it before its submission comes. It makes all passes of a count, because SetConfig does not reset a
/// count that has passes left.
void hone_counters::warm_up() {
  enable();
  configure();
  int passes = 0;
  bool is_over = false;
  for (; !is_over && passes < cupti::kPassesMax; ++passes) {
    begin_pass();
    is_over = end_pass();
  }
  if (!is_over)
    hone_gpu::fail(HONE_UNAVAILABLE, "CUPTI needs more than " + std::to_string(passes) + " passes");
  configure();
}

void hone_counters::enable() {
  cupti::Enable enable{};
  enable.context = device_.context;
  cupti_.call("cuptiRangeProfilerEnable", enable, enable.profiler);
  profiler_ = enable.profiler;
  cupti::DataSize needed{};
  needed.profiler = profiler_;
  needed.names = names_.data();
  needed.count = names_.size();
  needed.ranges_max = launches_max_;
  needed.nodes_max = launches_max_;
  cupti_.call("cuptiRangeProfilerGetCounterDataSize", needed, needed.data_size);
  data_.resize(needed.data_size);
}

/// Begins a new count. The results of earlier passes are lost.
void hone_counters::configure() {
  cupti::DataInitialize initialize{};
  initialize.profiler = profiler_;
  initialize.data_size = data_.size();
  initialize.data = data_.data();
  cupti_.call("cuptiRangeProfilerCounterDataImageInitialize", initialize, initialize.data);
  cupti::SetConfig set{};
  set.profiler = profiler_;
  set.config_size = config_.size();
  set.config = config_.data();
  set.data_size = data_.size();
  set.data = data_.data();
  set.range = cupti::kRangeForEachLaunch;
  set.replay = cupti::kCallerRepeats;
  set.ranges_max = launches_max_;
  set.levels = set.level_min = set.target_level = 1;
  cupti_.call("cuptiRangeProfilerSetConfig", set, set.target_level);
}

void hone_counters::begin_pass() {
  hone_gpu::use(device_);
  cupti::Profiler begin{};
  begin.profiler = profiler_;
  cupti_.call("cuptiRangeProfilerStart", begin, begin.profiler);
}

bool hone_counters::end_pass() {
  hone_gpu::use(device_);
  hone_gpu::check(device_.gpu, device_.gpu.gpuStreamSynchronize(device_.stream), "kernel", true);
  cupti::Stop end{};
  end.profiler = profiler_;
  cupti_.call("cuptiRangeProfilerStop", end, end.is_last);
  return end.is_last != 0;
}

void hone_counters::decode() {
  cupti::Decode decode{};
  decode.profiler = profiler_;
  cupti_.call("cuptiRangeProfilerDecodeData", decode, decode.dropped);
  cupti::DataInfo info{};
  info.data = data_.data();
  info.data_size = data_.size();
  cupti_.call("cuptiRangeProfilerGetCounterDataInfo", info, info.ranges);
  launches_ = info.ranges;
  is_decoded_ = true;
}

void hone_counters::read(std::uint32_t launch, hone_launch_counters& out) {
  if (!is_decoded_) decode();
  if (launch >= launches_) {
    hone_gpu::fail(HONE_NOT_FOUND, "launch " + std::to_string(launch) + ": counted " +
                                       std::to_string(launches_) + " launches");
  }
  std::vector<double> values(names_.size());
  cupti::Evaluate evaluate{};
  evaluate.host = host_;
  evaluate.data = data_.data();
  evaluate.data_size = data_.size();
  evaluate.range = launch;
  evaluate.names = names_.data();
  evaluate.count = names_.size();
  evaluate.values = values.data();
  cupti_.call("cuptiProfilerHostEvaluateToGpuValues", evaluate, evaluate.values);
  const std::uint32_t size = out.struct_size;
  out = {};
  out.struct_size = size;
  for (const cupti::Metric& metric : cupti::kMetrics) out.*metric.member = cupti::kUnknown;
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    double& member = out.*metrics_[i]->member;
    if (std::isnan(member)) member = 0;
    member += values[i] * metrics_[i]->factor;
  }
}

namespace hone_gpu {

std::int32_t open_counters(hone_device* device, const char* library, std::uint32_t launches_max,
                           hone_counters** out, hone_error* error) {
  return guard(error, [&] {
    if (launches_max == 0) fail(HONE_INVALID_ARGUMENT, "counters: expected at least one launch");
    *out = std::make_unique<hone_counters>(*device, library, launches_max).release();
  });
}

std::int32_t begin_pass(hone_counters* counters, hone_error* error) {
  return guard(error, [&] { counters->begin_pass(); });
}

std::int32_t end_pass(hone_counters* counters, std::uint32_t* is_last, hone_error* error) {
  return guard(error, [&] { *is_last = counters->end_pass() ? 1 : 0; });
}

std::int32_t read_counters(hone_counters* counters, std::uint32_t launch, hone_launch_counters* out,
                           hone_error* error) {
  return guard(error, [&] {
    if (out->struct_size < sizeof *out)
      fail(HONE_INVALID_ARGUMENT, "counters: struct_size is too small");
    counters->read(launch, *out);
  });
}

void close_counters(hone_counters* counters) { delete counters; }

}  // namespace hone_gpu
