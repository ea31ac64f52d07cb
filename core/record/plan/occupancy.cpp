// Occupancy by the rules that the vendor documents in its public occupancy calculator.
#include "record/plan/occupancy.hpp"

#include <algorithm>

namespace hone::record {
namespace {

constexpr int kThreadsOfWarp = 32;
constexpr int kRegistersOfUnit = 256;  // registers are given to a warp in units of this many
constexpr int kRegistersOfThread = 8;
constexpr int kSharedUnit = 128;  // bytes
constexpr int kSchedulers = 4;    // each has a quarter of the registers

int rounded_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

int dynamic_shared_max(const Function& function, const Device& device) {
  if (function.shared_bytes_max >= 0) return function.shared_bytes_max;
  const int used = static_cast<int>(function.kernel->shared_bytes);
  return std::max(device.attribute(kSharedBytesDefault) - used, 0);
}

int blocks_per_multiprocessor(const Function& function, const Device& device, int threads,
                              std::size_t shared_bytes) {
  const CubinKernel& kernel = *function.kernel;
  if (threads <= 0 || static_cast<std::uint32_t>(threads) > kernel.block_threads_max) return 0;
  const int warps = (threads + kThreadsOfWarp - 1) / kThreadsOfWarp;
  int blocks = device.attribute(kMultiprocessorBlocks);
  blocks = std::min(blocks, device.attribute(kMultiprocessorThreads) / kThreadsOfWarp / warps);
  const int registers =
      rounded_up(static_cast<int>(kernel.registers), kRegistersOfThread) * kThreadsOfWarp;
  const int warps_of_scheduler = device.attribute(kMultiprocessorRegisters) / kSchedulers /
                                 rounded_up(registers, kRegistersOfUnit);
  blocks = std::min(blocks, warps_of_scheduler * kSchedulers / warps);
  const std::size_t wanted = kernel.shared_bytes + shared_bytes +
                             static_cast<std::size_t>(device.attribute(kSharedBytesReserved));
  const auto available = static_cast<std::size_t>(device.attribute(kMultiprocessorSharedBytes));
  if (wanted > available) return 0;
  const int shared = rounded_up(static_cast<int>(wanted), kSharedUnit);
  return shared == 0 ? blocks : std::min(blocks, static_cast<int>(available) / shared);
}

}  // namespace hone::record
