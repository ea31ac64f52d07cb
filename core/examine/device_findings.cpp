// Findings about native code of a device, from its plan, the compiler's lines about registers, and PTX.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "base/readable.hpp"
#include "examine/finding_rules.hpp"

namespace hone {
namespace {

using examine::number_fact;
using examine::number_text;
using examine::percent_text;
using examine::place_text;
using examine::time_text;

// Time of a launch (µs) up to which launch overhead dominates. With 132 multiprocessors, a call with one launch
// takes 4.3 µs, and one with eight takes 5.6 to 18 µs for each.
constexpr double kLaunchBoundUs = 6;
constexpr double kBusy = 0.4;  // of a peak rate; above it, short launches do useful work
constexpr double kThreadsOfUnit = 2048;
constexpr double kShortWaves = 4;  // a wave: the threads that a device runs at a time

double blocks_of(const ReadyLaunch& launch) {
  return static_cast<double>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
}
double threads_of(const ReadyLaunch& launch) {
  return static_cast<double>(launch.block[0]) * launch.block[1] * launch.block[2];
}

/// Whether all launches are short: no kernel has a loop or a call, and no launch has more than kShortWaves waves of threads.
bool are_short(const FindingList& list, const std::vector<ReadyLaunch>& launches) {
  const double units = number_fact(list.input.device, "multiprocessors");
  const auto& blocks = list.input.code.blocks;
  const bool has_loop_or_call =
      std::any_of(blocks.begin(), blocks.end(),
                  [](const CodeBlock& block) { return block.is_loop || block.calls > 0; });
  return !blocks.empty() && !has_loop_or_call && list.input.code.left_out.empty() &&
         std::all_of(launches.begin(), launches.end(), [units](const ReadyLaunch& launch) {
           return blocks_of(launch) * threads_of(launch) <= kShortWaves * units * kThreadsOfUnit;
         });
}

/// Whether launch overhead takes most of the time: launches are short, and neither memory nor arithmetic is busy.
bool is_launch_bound(const FindingList& list) {
  const std::vector<ReadyLaunch> launches = timed_launches(list.input);
  const auto count = static_cast<double>(launches.size());
  if (list.figures.memory_share >= kBusy || list.figures.flops_share >= kBusy) return false;
  return list.input.verdict.speedup->time_us <= count * kLaunchBoundUs ||
         (count > 1 && are_short(list, launches));
}

/// Findings about the addresses of memory accesses.
class AccessRules {
 public:
  explicit AccessRules(FindingList& list) : list_(list), input_(list.input) {}

  void add_all() {
    if (list_.is_near_a_limit() || is_launch_bound(list_) || !warps_lie_along_x()) return;
    uncoalesced();
    shared_banks();
  }
  /// Whether there are accesses to global memory with known addresses, and all of these are coalesced.
  bool are_coalesced() const {
    bool has_global = false;
    for (const LaneAccess& access : input_.code.accesses) {
      if (!access.is_shared && sector_use(access) < 1) return false;
      has_global = has_global || !access.is_shared;
    }
    return has_global && warps_lie_along_x();
  }

 private:
  void add(double weight, std::string text) { list_.add(weight, std::move(text)); }
  /// Whether the threads of each warp have neighbouring indices x, as the analysis of addresses assumes.
  bool warps_lie_along_x() const {
    const std::vector<ReadyLaunch> launches = timed_launches(input_);
    return !launches.empty() &&
           std::all_of(launches.begin(), launches.end(),
                       [](const ReadyLaunch& launch) { return launch.block[0] % kWarp == 0; });
  }
  struct Waste {
    const LaneAccess* access = nullptr;  ///< the one that wastes the most; nullptr: none
    double share = 0;                    ///< of the cost of all accesses to this kind of memory
  };
  /// `cost`: of one execution; 1 without waste, else more. Rationale: the number of executions is unknown, so each loop counts as
  /// kTrips iterations.
  template <typename Cost>
  Waste worst_waste(bool is_shared, const Cost& cost) const {
    constexpr double kTrips = 16;
    constexpr std::int64_t kDepthMax = 8;
    Waste worst;
    double all = 0, most = 0;
    for (const LaneAccess& access : input_.code.accesses) {
      if (access.is_shared != is_shared) continue;
      const double runs = static_cast<double>(access.count) *
                          std::pow(kTrips, static_cast<double>(std::min(access.depth, kDepthMax)));
      all += runs * cost(access);
      const double wasted = runs * (cost(access) - 1);
      if (wasted > most) worst = {&access, most = wasted};
    }
    if (all > 0) worst.share /= all;
    return worst;
  }
  static std::string access_text(const LaneAccess& access) {
    const std::string what = access.is_store ? "store" : "load";
    return what + (access.line > 0 ? " at line " + std::to_string(access.line)
                                   : " in '" + access.kernel + "'");
  }
  /// Loads and stores of global memory that use few bytes of each sector.
  void uncoalesced() {
    const auto [worst, share] =
        worst_waste(false, [](const LaneAccess& access) { return 1 / sector_use(access); });
    if (worst == nullptr || share < kWasteMin) return;
    const std::string cause =
        worst->stride
            ? " is not coalesced: the addresses of neighbouring threads are " +
                  counted_text(std::abs(*worst->stride), "byte") + " apart, so a warp uses "
            : " may not be coalesced: the distance between the addresses of neighbouring threads "
              "is known only at run time. If it is 32 bytes or more, a warp uses ";
    add(0.82, "The " + access_text(*worst) + cause + percent_text(sector_use(*worst)) +
                  " of each 32-byte sector of global memory at a time. Let neighbouring threads "
                  "use neighbouring elements.");
  }
  void shared_banks() {
    const auto [worst, share] = worst_waste(
        true, [](const LaneAccess& access) { return static_cast<double>(bank_conflicts(access)); });
    if (worst == nullptr || share < kWasteMin) return;
    const std::int64_t conflicts = bank_conflicts(*worst);
    add(conflicts >= 4 ? 0.83 : 0.45,
        "The " + access_text(*worst) + " of shared memory has " + std::to_string(conflicts) +
            "-way bank conflicts: the addresses of neighbouring threads are " +
            counted_text(std::abs(*worst->stride), "byte") +
            " apart. Pad the rows of the array, or let neighbouring threads use neighbouring "
            "elements.");
  }

  static constexpr unsigned kWarp = 32;
  static constexpr double kWasteMin = 0.3;  // of the cost of all accesses to a kind of memory

  FindingList& list_;
  const ProfileInput& input_;
};

class LaunchRules {
 public:
  explicit LaunchRules(FindingList& list)
      : list_(list), input_(list.input), figures_(list.figures) {}

  void add_all() {
    spills();
    few_blocks();
    many_launches();
    reuse();
    occupancy();
    local_memory();
  }

 private:
  void add(double weight, std::string text) { list_.add(weight, std::move(text)); }
  void spills() {
    const KernelResources* worst = nullptr;
    const auto spilled = [](const KernelResources& kernel) {
      return kernel.spill_stores_bytes + kernel.spill_loads_bytes;
    };
    const auto cost = [&spilled](const KernelResources& kernel) {
      return std::tuple(spilled(kernel), kernel.stack_bytes);
    };
    for (const KernelResources& kernel : input_.code.kernels) {
      if (cost(kernel) > cost(worst != nullptr ? *worst : KernelResources())) worst = &kernel;
    }
    if (worst == nullptr) return;
    const std::int64_t bytes = spilled(*worst);
    add(list_.is_near_a_limit() ? 0.3 : 0.85,
        "Kernel '" + worst->kernel + "' keeps " +
            (bytes > 0
                 ? "spilled registers (" + counted_text(bytes, "byte") + " of loads and stores)"
                 : "an array of " + counted_text(worst->stack_bytes, "byte")) +
            " in local memory, with " + counted_text(worst->registers, "register") +
            " for each thread. Use fewer live values for each thread.");
  }
  /// Only the largest launch counts: a small one, such as the last step of a sum, may take hardly any time.
  void few_blocks() {
    const double units = number_fact(input_.device, "multiprocessors");
    const std::vector<ReadyLaunch> launches = timed_launches(input_);
    const auto largest = std::max_element(
        launches.begin(), launches.end(), [](const ReadyLaunch& a, const ReadyLaunch& b) {
          return blocks_of(a) * threads_of(a) < blocks_of(b) * threads_of(b);
        });
    if (largest == launches.end() || units <= 0 || list_.is_near_a_limit()) return;
    const double blocks = blocks_of(*largest), threads = threads_of(*largest);
    const std::string what = (launches.size() == 1 ? "A launch has " : "The largest launch has ") +
                             number_text(blocks, blocks == 1 ? " block" : " blocks") + " of " +
                             number_text(threads, " threads");
    if (blocks < kMostUnits * units)
      return add(is_launch_bound(list_) ? 0.5 : 0.95 - blocks / units / 10,
                 what + "; the device has " + number_text(units, " multiprocessors") + ", so " +
                     number_text(units - blocks, "") +
                     " of them are idle. Divide the work into more blocks.");
    // A few threads can keep matrix units busy, and hone does not know how busy these are.
    const double share = blocks * threads / (units * kThreadsOfUnit);
    if (share >= kFewThreads || is_launch_bound(list_) || may_use_matrix_units()) return;
    add(0.7, what + ", " + percent_text(share) +
                 " of the threads that the device runs at a time. Divide the work among more "
                 "threads.");
  }
  bool may_use_matrix_units() const {
    return std::isnan(figures_.flops_share) && figures_.intensity >= kReuseIntensity;
  }
  void many_launches() {
    const double time_us = input_.verdict.speedup->time_us;
    const auto count = static_cast<double>(input_.plan->launches.size());
    if (count < 2 || !is_launch_bound(list_)) return;
    add(0.96, "The call takes " + time_text(time_us) + " in " + number_text(count, " launches") +
                  ", " + number_text(time_us / count, " µs") +
                  " each: starting kernels takes most of the time. Merge the kernels.");
  }

  /// A loop that accesses global memory at least once for each multiply-add; nullptr: none.
  const CodeBlock* loop_without_reuse() const {
    for (const CodeBlock& block : input_.code.blocks) {
      if (block.is_loop && block.multiply_adds > 0 && block.global >= block.multiply_adds)
        return &block;
    }
    return nullptr;
  }
  /// Whether the arithmetic intensity of the task is so high that repeated loads from global memory limit a kernel.
  bool needs_reuse() const {
    if (std::isnan(figures_.intensity) || list_.is_near_a_limit()) return false;
    return std::isnan(figures_.peak_flops_per_second) ? figures_.intensity >= kReuseIntensity
                                                      : list_.needs_more_arithmetic_than_memory();
  }
  void reuse() {
    const CodeBlock* loop = loop_without_reuse();
    if (loop == nullptr || !needs_reuse()) return;
    add(0.8, "The innermost loop " + place_text(*loop) + " has " +
                 counted_text(loop->global, "global-memory instruction") + " for " +
                 counted_text(loop->multiply_adds, "multiply-add") + ", and the task has " +
                 number_text(figures_.intensity, " operations") +
                 " for each byte that it must move. Load tiles of the data into shared memory and "
                 "registers, and use each value many times.");
  }
  /// The share of threads that registers and blocks allow.
  void occupancy() {
    const double threads_max = kThreadsOfUnit, registers_max = 65536, blocks_max = 32;
    for (const KernelResources& kernel : input_.code.kernels) {
      if (kernel.registers <= 0) continue;
      for (const ReadyLaunch& launch : timed_launches(input_)) {
        const double threads = threads_of(launch);
        if (threads <= 0) continue;
        const double by_registers =
            std::floor(registers_max / (static_cast<double>(kernel.registers) * threads));
        const double resident =
            std::min({by_registers, blocks_max, std::floor(threads_max / threads)});
        const double share = resident * threads / threads_max;
        if (share >= 0.5 || list_.is_near_a_limit()) continue;
        add(0.5, "Blocks of " + number_text(threads, " threads") + " with " +
                     counted_text(kernel.registers, "register") + " for each thread fill at most " +
                     percent_text(share) + " of a multiprocessor's threads.");
        return;
      }
    }
  }
  void local_memory() {
    for (const CodeBlock& block : input_.code.blocks) {
      if (!block.is_loop || block.local == 0) continue;
      add(0.6, "The innermost loop " + place_text(block) + " reads or writes local memory " +
                   number_text(static_cast<double>(block.local), " times") + ".");
      return;
    }
  }

  static constexpr double kReuseIntensity = 64;  // FLOP for each byte; vector units need less
  static constexpr double kMostUnits = 0.9;      // of the multiprocessors; above it, few are idle
  static constexpr double kFewThreads = 0.25;    // of a wave

  FindingList& list_;
  const ProfileInput& input_;
  const ProfileFigures& figures_;
};

/// Findings that need hardware counters.
class CounterRules {
 public:
  explicit CounterRules(FindingList& list)
      : list_(list), figures_(list.figures), launches_(list.input.counters.launches) {}

  void add_all() {
    moved_data();
    sectors();
  }

 private:
  /// Traffic between memory and cache, if it is far more than the least.
  void moved_data() {
    constexpr double kMuchMore = 1.5;
    constexpr double kMovesAtTheLimit = 0.6;  // of the memory's bandwidth
    const double times = figures_.moved_bytes / figures_.bytes;
    if (!(times >= kMuchMore)) return;
    const std::string moved =
        "Counters: a call moves " + examine::bytes_text(figures_.moved_bytes) +
        " between memory and cache, " + number_text(times, " times") + " the least";
    const std::string share = percent_text(figures_.moved_share) + " of the memory's bandwidth";
    if (!(figures_.moved_share >= kMovesAtTheLimit))
      return list_.add(0.4,
                       moved + (std::isnan(figures_.moved_share) ? "." : ", at " + share + "."));
    list_.add(0.79, moved + ", at " + share + ". This traffic limits it: " +
                        (launches_.size() > 1
                             ? "merge kernels, so that data between them stays in registers."
                             : "read each element once, in neighbouring threads."));
  }
  /// The launch that takes the longest; nullptr: unknown.
  const LaunchCounters* longest() const {
    const LaunchCounters* found = nullptr;
    for (const LaunchCounters& one : launches_) {
      if (!std::isnan(one.seconds) && (found == nullptr || one.seconds > found->seconds))
        found = &one;
    }
    return found;
  }
  std::string place_of(const LaunchCounters& launch) const {
    const auto at = static_cast<std::size_t>(&launch - launches_.data());
    const auto& all = list_.input.plan->launches;
    return launches_.size() > 1 && at < all.size() ? " in '" + all[at].kernel + "'" : "";
  }
  void sectors() {
    constexpr double kCoalescedWide = 16;  // loads of 16 bytes for each thread
    const LaunchCounters* one = longest();
    if (one == nullptr || !(one->load_requests > 0) || list_.is_near_a_limit()) return;
    const double each = one->load_sectors / one->load_requests;
    if (each <= kCoalescedWide) return;
    list_.add(0.55, "Counters: a warp's load of global memory" + place_of(*one) + " touches " +
                        number_text(each, " sectors") +
                        " of 32 bytes on average. A coalesced load of 4 bytes for each thread "
                        "touches 4.");
  }

  FindingList& list_;
  const ProfileFigures& figures_;
  const std::vector<LaunchCounters>& launches_;
};

}  // namespace

void add_device_findings(FindingList& list) {
  LaunchRules(list).add_all();
  AccessRules(list).add_all();
  CounterRules(list).add_all();
}

bool accesses_global_memory(const FindingList& list) {
  const auto& blocks = list.input.code.blocks;
  return std::any_of(blocks.begin(), blocks.end(),
                     [](const CodeBlock& block) { return block.global > 0; });
}

std::string advice_on_accesses(const FindingList& list) {
  const auto& blocks = list.input.code.blocks;
  const bool has_wide = std::any_of(blocks.begin(), blocks.end(),
                                    [](const CodeBlock& block) { return block.global_wide > 0; });
  if (has_wide || !accesses_global_memory(list)) return "";
  FindingList ignored(list.input, list.figures);
  return std::string(AccessRules(ignored).are_coalesced()
                         ? " No"
                         : " Check that neighbouring threads use neighbouring addresses; no") +
         " access to global memory is wider than one element.";
}

}  // namespace hone
