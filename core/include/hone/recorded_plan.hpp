// Recorded plans: the device work of a PyTorch or Triton module, as recorded without a device
// (core/record). Header-only; backends replay them, and hone prints them (`hone plan`).
//
// An untrusted process writes a recorded plan. read_plan() checks every index, offset and size, so
// that its callers need not. It does not check kernels: they may do anything on the device.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hone/plugin/failure.hpp"
#include "hone/plugin/msgpack.hpp"
#include "hone/plugin/reader.hpp"
#include "hone/plugin/value.hpp"

namespace hone::recorded {

inline constexpr std::int64_t kVersion = 2;
inline constexpr std::string_view kMagic = "hone-recorded-plan-1\n";  ///< the beginning of a file
inline constexpr std::int64_t kImagesMax = 256;
inline constexpr std::int64_t kKernelsMax = 1024;
inline constexpr std::int64_t kMemoriesMax = 8192;
inline constexpr std::int64_t kStepsMax = 16384;  ///< of one phase
inline constexpr std::int64_t kStreamsMax = 16;
inline constexpr std::int64_t kEventsMax = 4096;
inline constexpr std::int64_t kTunedMax = 16;            ///< autotuned kernels
inline constexpr std::int64_t kConfigurationsMax = 128;  ///< of an autotuned kernel
inline constexpr std::int64_t kConfigurationBytesMax =
    200;  ///< of a key, a configuration's parameters, or a reason
inline constexpr std::int64_t kParameterBytesMax = 32764;  ///< of one launch
inline constexpr std::int64_t kMemoryBytesMax = std::int64_t{1} << 40;
inline constexpr std::int64_t kImageBytesMax = std::int64_t{64} << 20;
inline constexpr std::int64_t kValuesMax = std::int64_t{1} << 22;  ///< MessagePack values of a file
inline constexpr int kTensorMapDims = 5;

/// Device code for one architecture (a cubin).
struct Image {
  std::string bytes;
  /// The file name of the library that contains it ("libtorch_cuda.so"). Empty: the code is not part of a library, such
  /// as Triton's.
  std::string library;
};

struct Kernel {
  std::uint32_t image = 0;
  std::string name;                    ///< as in the image's symbol table
  std::uint32_t shared_bytes_max = 0;  ///< limit of dynamic shared memory that the host has set
  std::int32_t carveout = -1;          ///< preferred share of shared memory (%), -1: the default
  bool nonportable_clusters = false;
};

enum class MemoryKind { kTask, kPrivate, kGlobal };

/// Memory that steps refer to by its index in Plan::memories.
struct Memory {
  MemoryKind kind = MemoryKind::kPrivate;
  std::uint64_t bytes = 0;
  /// kTask: the number of the task's tensor, in the order of the entry's arguments.
  std::uint32_t argument = 0;
  /// kGlobal: a variable of an image.
  std::uint32_t image = 0;
  std::string name;
  /// kPrivate: the steps of `run` that need its contents, [first, last]. Memory that `setup` uses
  /// must have all steps.
  std::uint32_t first = 0, last = 0;
};

/// A place in memory. `offset` may be the memory's size, which is the address of its end.
struct Place {
  std::uint32_t memory = 0;
  std::uint64_t offset = 0;
};

/// The eight bytes at `at` of some data are the address of `place`.
struct Relocation {
  std::uint32_t at = 0;
  Place place;
};

/// A tensor map (TMA descriptor) that the host encodes: 128 bytes at `at` of a launch's parameters.
/// The members are the arguments of cuTensorMapEncodeTiled.
struct TensorMap {
  std::uint32_t at = 0;
  std::uint32_t type = 0, rank = 0;
  Place place;
  std::array<std::uint64_t, kTensorMapDims> sizes{};
  std::array<std::uint64_t, kTensorMapDims> strides{};  ///< rank - 1 of them, in bytes
  std::array<std::uint32_t, kTensorMapDims> box{}, element_strides{};
  std::uint32_t interleave = 0, swizzle = 0, promotion = 0, fill = 0;
};

struct Launch {
  std::uint32_t kernel = 0;
  std::array<std::uint32_t, 3> grid{}, block{}, cluster{};  ///< cluster: all 0 for none
  std::uint32_t shared_bytes = 0;
  bool cooperative = false;
  bool overlaps = false;  ///< may begin before the previous launch has ended (programmatic launch)
  std::string parameters;
  std::vector<Relocation> addresses;
  std::vector<TensorMap> tensor_maps;
};

/// Copies `rows` rows of `bytes` each. Pitches in bytes; ignored for one row.
struct Copy {
  Place to, from;
  std::uint64_t bytes = 0, rows = 1, to_pitch = 0, from_pitch = 0;
};

/// Writes bytes of the plan to memory: a copy from the host.
struct Write {
  Place to;
  std::string bytes;
  std::vector<Relocation> addresses;
};

/// Sets `count` elements of `width` bytes (1, 2 or 4) to `value`, in `rows` rows.
struct Fill {
  Place to;
  std::uint32_t width = 1, value = 0;
  std::uint64_t count = 0, rows = 1, pitch = 0;
};

/// A tensor of an operator's argument or result. Strides in elements; dtype as torch names it.
struct Tensor {
  Place place;
  std::string dtype;
  std::vector<std::int64_t> sizes, strides;
};

/// A call of a torch operator, such as "mm". A trusted process makes it when the plan is replayed. `arguments` and
/// `keywords` are JSON values, in which a tensor is {"tensor": index in `tensors`} and a dtype is {"dtype": name}.
struct Operator {
  std::string name;
  plugin::Value arguments, keywords;
  plugin::Value settings;  ///< torch's settings during the call, by name: {"matmul_tf32": bool}
  std::vector<Tensor> tensors;
  std::vector<std::uint32_t> results;  ///< indices in `tensors`, in the order of the results
};

struct Record {
  std::uint32_t event = 0;
};
struct Wait {
  std::uint32_t event = 0;
};

struct Step {
  std::uint32_t stream = 0;  ///< 0: the default stream; a call begins and ends on it
  std::variant<Launch, Copy, Write, Fill, Operator, Record, Wait> work;
  /// Of a launch, copy, write or fill: the autotuned kernel that it belongs to, from 1, and the number of one of
  /// its configurations, from 0. The step runs only if this configuration is chosen. 0: the step always runs.
  std::uint32_t tuned = 0, configuration = 0;
};

/// An autotuned kernel. The process that replays the plan chooses one of its configurations. The texts come from the
/// module's process and are for people only.
struct Tuned {
  struct LeftOut {
    std::string configuration, reason;
  };
  std::string key;                          ///< arguments that it is tuned for: "n: 1024"
  std::vector<std::string> configurations;  ///< their parameters: "BLOCK: 128, num_warps: 4"
  std::vector<LeftOut> left_out;            ///< configurations that cannot be used
};

/// Steps are in the order in which the host issued them. All steps may also run on one stream in this order.
struct Plan {
  std::string architecture;  ///< "sm_90a"
  std::vector<Image> images;
  std::vector<Kernel> kernels;
  std::vector<Memory> memories;
  std::uint32_t streams = 1, events = 0;
  std::vector<Tuned> tuned;
  std::vector<Step> setup;  ///< runs once, when the plan is loaded; uses no tensors of the task
  std::vector<Step> run;    ///< runs at every call
};

/// Whether a step runs. `chosen`: the configuration of each autotuned kernel.
inline bool runs(const Step& step, const std::vector<std::uint32_t>& chosen) {
  return step.tuned == 0 || chosen[step.tuned - 1] == step.configuration;
}

/// The name of the first kernel that an autotuned kernel (from 0) launches; empty if it launches none. A kernel of a
/// library, which a pre_hook may launch, does not count.
inline std::string tuned_kernel_name(const Plan& plan, std::size_t number) {
  for (const Step& step : plan.run) {
    const auto* launch = std::get_if<Launch>(&step.work);
    if (launch == nullptr || step.tuned != number + 1) continue;
    const Kernel& kernel = plan.kernels[launch->kernel];
    if (plan.images[kernel.image].library.empty()) return kernel.name;
  }
  return "";
}

/// Whether a process needs torch to replay the plan.
inline bool has_operators(const Plan& plan) {
  const auto calls = [](const Step& step) { return std::holds_alternative<Operator>(step.work); };
  return std::any_of(plan.setup.begin(), plan.setup.end(), calls) ||
         std::any_of(plan.run.begin(), plan.run.end(), calls);
}

}  // namespace hone::recorded
