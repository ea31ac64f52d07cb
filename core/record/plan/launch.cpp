// Launches: limits of the device, parameters, and the addresses among them.
#include <algorithm>
#include <cstring>
#include <optional>

#include "record/plan/occupancy.hpp"
#include "record/plan/work.hpp"

namespace hone::record {
namespace {

struct Options {
  std::array<std::uint32_t, 3> cluster{};
  bool is_cooperative = false, overlaps = false;
};

/// Reads the attributes of a launch. Those that change only its speed are not recorded.
std::optional<Options> read_attributes(Recording& recording, const LaunchRequest& request) {
  Options options;
  options.is_cooperative = request.is_cooperative;
  for (unsigned i = 0; i < request.attribute_count; ++i) {
    const LaunchAttribute& one = request.attributes[i];
    switch (one.id) {
      case kLaunchCooperative:
        options.is_cooperative = options.is_cooperative || one.value.flag != 0;
        break;
      case kLaunchClusterDimension:
        std::copy(std::begin(one.value.cluster), std::end(one.value.cluster),
                  options.cluster.begin());
        break;
      case kLaunchProgrammaticSerialization:
        options.overlaps = one.value.flag != 0;
        break;
      case kLaunchIgnore:
      case kLaunchAccessPolicyWindow:
      case kLaunchSynchronizationPolicy:
      case kLaunchClusterPreference:
      case kLaunchPriority:
      case kLaunchMemoryDomainMap:
      case kLaunchMemoryDomain:
      case kLaunchPreferredCluster:
      case kLaunchCarveout:
        break;
      default:
        recording.fail("launch attribute " + std::to_string(one.id) + " is not supported");
        return std::nullopt;
    }
  }
  const auto& cluster = options.cluster;
  if (cluster == std::array<std::uint32_t, 3>{1, 1, 1}) options.cluster = {};
  return options;
}

/// The checks that the driver makes before a launch.
Status check(const Recording& recording, const LaunchRequest& request, const Options& options) {
  const Device& device = recording.device;
  const CubinKernel& kernel = *request.function->kernel;
  std::uint64_t threads = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const int dimension = static_cast<int>(i);
    const auto grid_max = static_cast<unsigned>(device.attribute(kGridX + dimension));
    const auto block_max = static_cast<unsigned>(device.attribute(kBlockX + dimension));
    const unsigned grid = request.grid[i], block = request.block[i];
    if (grid == 0 || grid > grid_max || block == 0 || block > block_max) return kInvalidValue;
    const unsigned cluster = options.cluster[i];
    if (cluster != 0 && grid % cluster != 0) return kInvalidValue;
    threads *= block;
  }
  if (threads > static_cast<unsigned>(device.attribute(kBlockThreads))) return kInvalidValue;
  if (threads > kernel.block_threads_max) return kOutOfResources;
  const std::uint64_t shared_max =
      static_cast<std::uint64_t>(dynamic_shared_max(*request.function, device));
  if (request.shared_bytes > shared_max) return kInvalidValue;
  if (options.is_cooperative) {
    const int blocks = blocks_per_multiprocessor(*request.function, device,
                                                 static_cast<int>(threads), request.shared_bytes);
    const std::uint64_t fit = static_cast<std::uint64_t>(blocks) *
                              static_cast<std::uint64_t>(device.attribute(kMultiprocessors));
    if (std::uint64_t{request.grid[0]} * request.grid[1] * request.grid[2] > fit)
      return kCooperativeTooLarge;
  }
  return kOk;
}

/// The bytes of all parameters, as the device gets them.
std::optional<std::string> parameters_of(const LaunchRequest& request) {
  const CubinKernel& kernel = *request.function->kernel;
  std::string bytes(kernel.parameter_bytes, '\0');
  if (request.parameters != nullptr) {
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const Parameter& one = kernel.parameters[i];
      std::memcpy(bytes.data() + one.offset, request.parameters[i], one.bytes);
    }
    return bytes;
  }
  if (request.extra == nullptr) {
    return kernel.parameters.empty() ? std::optional(bytes) : std::nullopt;
  }
  const void* buffer = nullptr;
  std::size_t size = 0;
  for (void** one = request.extra; reinterpret_cast<std::uintptr_t>(*one) != kLaunchEnd; one += 2) {
    const auto what = reinterpret_cast<std::uintptr_t>(*one);
    if (what == kLaunchBuffer)
      buffer = one[1];
    else if (what == kLaunchBufferSize)
      std::memcpy(&size, one[1], sizeof size);
    else
      return std::nullopt;
  }
  if (buffer == nullptr && size > 0) return std::nullopt;
  std::memcpy(bytes.data(), buffer, std::min(size, bytes.size()));
  return bytes;
}

/// Whether the word at `at` is a parameter of its own, not part of a larger one.
bool is_pointer_parameter(const CubinKernel& kernel, std::size_t at) {
  return std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                     [at](const Parameter& p) { return p.offset == at && p.bytes == kWord; });
}

/// Finds tensor maps and addresses among the parameters. False after a problem.
bool find_places(Recording& recording, const CubinKernel& kernel, recorded::Launch& launch) {
  std::string& bytes = launch.parameters;
  for (std::size_t at = 0; at + kWord <= bytes.size(); at += kWord) {
    if (const auto* encoded = recording.tensor_maps.find(bytes, at)) {
      const Pointed pointed = recording.memories.point(encoded->address);
      if (pointed.at != Pointed::At::kMemory) {
        recording.fail("a kernel gets a tensor map of memory that is not there");
        return false;
      }
      recorded::TensorMap map = encoded->map;
      map.at = static_cast<std::uint32_t>(at);
      map.place = pointed.place;
      launch.tensor_maps.push_back(map);
      std::memset(bytes.data() + at, 0, kTensorMapBytes);
      at += kTensorMapBytes - kWord;
      continue;
    }
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    const Pointed pointed = recording.memories.point(word);
    if (pointed.at == Pointed::At::kElsewhere) continue;
    if (pointed.at != Pointed::At::kMemory) {
      if (is_pointer_parameter(kernel, at) || pointed.at == Pointed::At::kHostMemory) {
        recording.fail(pointed.at == Pointed::At::kHostMemory    ? kHostMemory
                       : pointed.at == Pointed::At::kFreedMemory ? kFreedMemory
                                                                 : kNoMemory);
        return false;
      }
      // Rationale: the word may be two numbers, or an old address in a struct member that was never
      // set. If it is an address that the kernel uses, the kernel faults when the plan runs.
      continue;
    }
    std::memset(bytes.data() + at, 0, kWord);
    launch.addresses.push_back({static_cast<std::uint32_t>(at), pointed.place});
  }
  return true;
}

}  // namespace

Status launch(Recording& recording, const LaunchRequest& request) {
  const Stream* stream = recording.streams.find(request.stream);
  if (request.function == nullptr || stream == nullptr) return kInvalidHandle;
  const auto options = read_attributes(recording, request);
  if (!options) return kNotSupported;
  if (const Status status = check(recording, request, *options); status != kOk) return status;
  auto bytes = parameters_of(request);
  if (!bytes) return kInvalidValue;
  recorded::Launch step;
  step.parameters = std::move(*bytes);
  if (!find_places(recording, *request.function->kernel, step)) return kNotSupported;
  step.kernel = recording.kernel_use(*request.function);
  std::copy(request.grid.begin(), request.grid.end(), step.grid.begin());
  std::copy(request.block.begin(), request.block.end(), step.block.begin());
  step.cluster = options->cluster;
  step.shared_bytes = request.shared_bytes;
  step.cooperative = options->is_cooperative;
  step.overlaps = options->overlaps;
  recording.append(stream->id, std::move(step));
  clear_stack();
  return kOk;
}

}  // namespace hone::record
