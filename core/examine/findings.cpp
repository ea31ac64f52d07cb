// Theory of operation. Each rule looks at the figures and writes at most one sentence, with a weight that orders the
// sentences: the heaviest come first. A rule says what was measured or read from the
// code, then what to do.
#include "examine/findings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <tuple>

#include "base/readable.hpp"

namespace hone {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct Sentence {
  double weight = 0;
  std::string text;
};

std::string number(double value, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, value >= 100 ? "%.0f%s" : "%.3g%s", value, unit);
  return text;
}

std::string percent(double share) { return number(100 * share, " %"); }

std::string time_text(double us) {
  return us >= 1000 ? number(us / 1000, " ms") : number(us, " µs");
}

std::string bytes_text(double bytes) {
  if (bytes >= 1e9) return number(bytes / 1e9, " GB");
  if (bytes >= 1e6) return number(bytes / 1e6, " MB");
  if (bytes >= 1e3) return number(bytes / 1e3, " kB");
  return number(bytes, " bytes");
}

std::string flops_text(double flops) {
  if (flops >= 1e12) return number(flops / 1e12, " TFLOP");
  if (flops >= 1e9) return number(flops / 1e9, " GFLOP");
  if (flops >= 1e6) return number(flops / 1e6, " MFLOP");
  return number(flops, " FLOP");
}

/// A positive number among the device's facts; 0: unknown.
double fact(const Value& facts, const char* name) {
  const Value* found = facts.find(name);
  return found != nullptr && found->is_number() ? found->as_double() : 0;
}

std::string place_of(const CodeBlock& block) {
  if (block.line_first == 0) return "of '" + block.function + "'";
  if (block.line_first == block.line_last) return "at line " + std::to_string(block.line_first);
  return "at lines " + std::to_string(block.line_first) + " to " + std::to_string(block.line_last);
}

/// Floating-point operations per second in the task's type; 0: unknown. Rationale: a device's matrix units, which are many
/// times faster, compute 16-bit types, and single precision where TF32 is allowed.
double flops_per_second_max(const ProfileInput& input, bool is_processor) {
  const Value* rates = input.device.find("flops_per_second_max");
  if (rates == nullptr) return 0;
  const auto has = [&input](DType dtype) {
    return std::any_of(input.task.tensors.begin(), input.task.tensors.end(),
                       [dtype](const Tensor& tensor) { return tensor.dtype == dtype; });
  };
  if (has(DType::kF64)) return fact(*rates, "f64");
  const bool may_use_matrix_units = has(DType::kF16) || has(DType::kBF16) ||
                                    input.task.precision.find(" on") != std::string::npos;
  return may_use_matrix_units && !is_processor ? 0 : fact(*rates, "f32");
}

class Rules {
 public:
  Rules(const ProfileInput& input, const ProfileFigures& figures)
      : input_(input), figures_(figures) {}

  std::vector<Sentence> all() {
    if (input_.plan == nullptr) {
      scalar_loops();
      slow_instructions();
      narrow_vectors();
    } else {
      spills();
      few_blocks();
      many_launches();
      occupancy();
      local_memory();
    }
    memory();
    arithmetic();
    left_out();
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Sentence& a, const Sentence& b) { return a.weight > b.weight; });
    return std::move(found_);
  }

 private:
  void add(double weight, std::string text) { found_.push_back({weight, std::move(text)}); }
  /// Whether the data comes from caches. With cold timing, inputs come from memory or a cache that is hardly faster.
  bool is_from_cache() const {
    return input_.task.cache_warm && figures_.memory_share > kFromMemory;
  }
  bool is_memory_bound() const { return figures_.memory_share >= kMemoryBound && !is_from_cache(); }
  /// Whether arithmetic limits a kernel that moves each byte once.
  bool needs_more_arithmetic_than_memory() const {
    return figures_.intensity > figures_.peak_flops_per_second / figures_.peak_bytes_per_second;
  }

  // On a processor.

  /// The innermost loops of the machine code that have instructions of this line.
  std::vector<const CodeBlock*> blocks_of(const LoopRemark& loop) const {
    std::vector<const CodeBlock*> found;
    for (const CodeBlock& block : input_.code.blocks) {
      if (block.is_loop && block.line_first <= loop.line && loop.line <= block.line_last)
        found.push_back(&block);
    }
    return found;
  }
  /// Whether the machine code shows that a remark says nothing about an innermost scalar loop. The compiler also remarks on
  /// outer loops, and on loops that the source has written with vectors already.
  bool is_outer_or_has_vectors(const LoopRemark& loop) const {
    const std::vector<const CodeBlock*> blocks = blocks_of(loop);
    if (blocks.empty()) {
      const auto& all = input_.code.blocks;
      return all.size() < CodeReport::kBlocksMax &&
             std::any_of(all.begin(), all.end(), [](const CodeBlock& block) {
               return block.is_loop && block.line_first > 0;
             });
    }
    return loop.reason.find("no vectype") != std::string::npos ||
           std::any_of(blocks.begin(), blocks.end(), [](const CodeBlock* block) {
             return block->vector > 0 && block->vector >= block->scalar;
           });
  }

  /// Loops that the compiler could not vectorize. Below a cycle for each output, they do not matter.
  void scalar_loops() {
    if (figures_.cycles_per_output < 1) return;
    for (const LoopRemark& loop : input_.code.loops) {
      // A stride of the outer loop also makes the vectors of the inner one short.
      const bool is_strided = loop.reason.find("strided") != std::string::npos;
      if (loop.is_vectorized || (!is_strided && is_outer_or_has_vectors(loop))) continue;
      std::string text = "The loop at line " + std::to_string(loop.line) + " is not vectorized";
      if (is_strided) {
        text +=
            ": it reads or writes memory with a stride. Make the innermost loop run over "
            "neighbouring elements";
      } else if (!loop.reason.empty()) {
        text += " (compiler: \"" + loop.reason + "\")";
      }
      if (!std::isnan(figures_.cycles_per_output))
        text += ". An output takes " + number(figures_.cycles_per_output, " cycles");
      add(is_strided ? 0.9 : 0.7, text + ".");
      return;
    }
  }
  /// The loop with the most of them: calls cost the most.
  void slow_instructions() {
    const CodeBlock* slowest = nullptr;
    const auto cost = [](const CodeBlock& block) {
      return std::tuple(block.calls, block.gathers, block.divisions);
    };
    for (const CodeBlock& block : input_.code.blocks) {
      if (!block.is_loop || block.calls + block.divisions + block.gathers == 0) continue;
      // Functions NAME.cold have the code that, according to the compiler, rarely runs. A loop of few divisions loses little
      // time by them.
      if (block.function.ends_with(".cold")) continue;
      if (block.calls + block.gathers == 0 && block.divisions * kPerDivision < block.instructions)
        continue;
      if (slowest == nullptr || cost(block) > cost(*slowest)) slowest = &block;
    }
    if (slowest == nullptr) return;
    std::string text;
    const auto mention = [&text](std::int64_t count, const char* what) {
      if (count > 0) text += (text.empty() ? "" : ", ") + counted_text(count, what);
    };
    mention(slowest->calls, "function call");
    mention(slowest->gathers, "gather load");
    mention(slowest->divisions, "division");
    add(slowest->calls > 0 ? 0.8 : 0.4,
        "The innermost loop " + place_of(*slowest) + " has " + text + " in " +
            counted_text(slowest->instructions, "instruction") + ".");
  }
  /// A loop with narrow vectors. If another loop has the widest ones, the narrow loop probably handles the remaining elements,
  /// so it is not mentioned.
  void narrow_vectors() {
    const double widest = fact(input_.device, "vector_bytes");
    for (const LoopRemark& loop : input_.code.loops) {
      const bool is_wide = loop.is_vectorized && static_cast<double>(loop.vector_bytes) >= widest;
      if (is_wide ||
          (!loop.is_vectorized && !blocks_of(loop).empty() && is_outer_or_has_vectors(loop)))
        return;
    }
    for (const LoopRemark& loop : input_.code.loops) {
      if (!loop.is_vectorized || loop.vector_bytes <= 0) continue;
      if (static_cast<double>(loop.vector_bytes) >= widest || is_memory_bound()) continue;
      add(0.3, "The loop at line " + std::to_string(loop.line) + " uses vectors of " +
                   counted_text(loop.vector_bytes, "byte") + "; the processor has vectors of " +
                   number(widest, " bytes") + ".");
      return;
    }
  }

  // On a device.

  void spills() {
    for (const KernelResources& kernel : input_.code.kernels) {
      const std::int64_t bytes = kernel.spill_stores_bytes + kernel.spill_loads_bytes;
      if (bytes == 0 && kernel.stack_bytes == 0) continue;
      add(0.85, "Kernel '" + kernel.kernel + "' keeps " +
                    (bytes > 0 ? "spilled registers (" + counted_text(bytes, "byte") +
                                     " of loads and stores)"
                               : "an array of " + counted_text(kernel.stack_bytes, "byte")) +
                    " in local memory, with " + counted_text(kernel.registers, "register") +
                    " for each thread. Use fewer live values for each thread.");
      return;
    }
  }
  static double blocks_of(const ReadyLaunch& launch) {
    return static_cast<double>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  }
  static double threads_of(const ReadyLaunch& launch) {
    return static_cast<double>(launch.block[0]) * launch.block[1] * launch.block[2];
  }
  void few_blocks() {
    const double units = fact(input_.device, "multiprocessors");
    for (const ReadyLaunch& launch : timed_launches(input_)) {
      const double blocks = blocks_of(launch);
      if (units <= 0 || blocks >= units) continue;
      add(0.95 - blocks / units / 10,
          "A launch has " + number(blocks, blocks == 1 ? " block" : " blocks") + " of " +
              number(threads_of(launch), " threads") + "; the device has " +
              number(units, " multiprocessors") + ", so " + number(units - blocks, "") +
              " of them are idle. Divide the work into more blocks.");
      return;
    }
  }
  void many_launches() {
    const double time_us = input_.verdict.speedup->time_us;
    const auto count = static_cast<double>(input_.plan->launches.size());
    if (count < 2 || time_us / count > kLaunchBoundUs) return;
    add(0.9, "The call takes " + time_text(time_us) + " in " + number(count, " launches") + ", " +
                 number(time_us / count, " µs") +
                 " each: starting kernels takes most of the time. Merge the kernels.");
  }
  /// The share of threads that registers and blocks allow.
  void occupancy() {
    const double threads_max = 2048, registers_max = 65536, blocks_max = 32;
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
        if (share >= 0.5 || is_memory_bound()) continue;
        add(0.5, "Blocks of " + number(threads, " threads") + " with " +
                     counted_text(kernel.registers, "register") + " for each thread fill at most " +
                     percent(share) + " of a multiprocessor's threads.");
        return;
      }
    }
  }
  void local_memory() {
    for (const CodeBlock& block : input_.code.blocks) {
      if (!block.is_loop || block.local == 0) continue;
      add(0.6, "The innermost loop " + place_of(block) + " reads or writes local memory " +
                   number(static_cast<double>(block.local), " times") + ".");
      return;
    }
  }

  // On both.

  void memory() {
    if (std::isnan(figures_.memory_share)) return;
    const std::string moved = "A call has to move at least " + bytes_text(figures_.bytes) +
                              " and takes " + time_text(input_.verdict.speedup->time_us) + ": " +
                              bytes_text(figures_.bytes_per_second) + "/s, " +
                              percent(figures_.memory_share) + " of the memory's bandwidth";
    if (is_from_cache())
      return add(0.2, moved + ". The data comes from the caches: memory does not limit it.");
    const Speedup& speedup = *input_.verdict.speedup;
    if (is_memory_bound() && speedup.baseline_us < kFaster * speedup.time_us)
      return add(0.75, moved + ". The baseline takes " + time_text(speedup.baseline_us) +
                           " for the same work, so memory does not limit this kernel yet.");
    if (is_memory_bound())
      return add(0.75, moved + ". It is memory-bound: less data or fewer passes help most.");
    const bool wide = std::any_of(input_.code.blocks.begin(), input_.code.blocks.end(),
                                  [](const CodeBlock& block) { return block.global_wide > 0; });
    const bool loads = std::any_of(input_.code.blocks.begin(), input_.code.blocks.end(),
                                   [](const CodeBlock& block) { return block.global > 0; });
    std::string advice;
    if (loads && !wide)
      advice =
          " Check that neighbouring threads use neighbouring addresses; no access to global "
          "memory is wider than one element.";
    const bool may_limit = figures_.memory_share < 0.25 && !needs_more_arithmetic_than_memory();
    add(may_limit && loads ? 0.65 : 0.2,
        moved + ". Each input and output counts once: temporaries and further passes move more." +
            advice);
  }

  /// Only if arithmetic is nearer to its limit than memory, or if the data comes from caches.
  void arithmetic() {
    if (std::isnan(figures_.flops_share)) return;
    if (figures_.flops_share < figures_.memory_share && !is_from_cache()) return;
    const std::string rate = "A call needs " + flops_text(figures_.flops) + ": " +
                             flops_text(figures_.flops_per_second) + "/s";
    if (figures_.flops_share > kOtherUnits)
      return add(0.2, rate +
                          ", more than the peak rate of the vector units. The kernel does fewer "
                          "operations than the obvious algorithm, or uses other units.");
    const std::string share = rate + ", " + percent(figures_.flops_share) + " of the " +
                              flops_text(figures_.peak_flops_per_second) +
                              "/s that the vector units do at most";
    if (figures_.flops_share >= kComputeBound && is_memory_bound())
      return add(0.74, share + ". Arithmetic is near its limit, too.");
    if (figures_.flops_share >= kComputeBound)
      return add(0.76, share + ". It is compute-bound: fewer operations help most.");
    if (!needs_more_arithmetic_than_memory()) return add(0.35, share + ".");
    add(0.66,
        share + ". The task has " + number(figures_.intensity, " operations") +
            " for each byte that it must move: load data once and use it many times, from " +
            (input_.plan == nullptr ? "registers and caches." : "registers and shared memory."));
  }

  void left_out() {
    std::string text;
    for (const std::string& what : input_.code.left_out) text += (text.empty() ? "" : "; ") + what;
    if (!text.empty()) add(0.25, "The report on the code left out " + text + ".");
  }

  static constexpr int kPerDivision = 25;  // instructions; with more for each, divisions are few
  static constexpr double kFaster = 0.9;   // of the kernel's time: a difference above noise
  static constexpr double kMemoryBound = 0.6;
  static constexpr double kComputeBound = 0.6;
  static constexpr double kOtherUnits = 1.05;  // above it, the vector units did not do all of it
  static constexpr double kFromMemory = 1.25;  // above it, the data cannot come from memory
  static constexpr double kLaunchBoundUs = 4;  // a launch takes 2 to 4 µs of a device
  const ProfileInput& input_;
  const ProfileFigures& figures_;
  std::vector<Sentence> found_;
};

}  // namespace

std::vector<ReadyLaunch> timed_launches(const ProfileInput& input) {
  if (input.plan == nullptr) return {};
  const auto kernels = plan_kernels(input.task, {input.plan});
  if (!kernels) return {};
  auto ready = ready_plan(input.task, *input.plan, *kernels, input.task.timed, PlanLimits{});
  return ready ? std::move(ready->launches) : std::vector<ReadyLaunch>();
}

ProfileFigures profile_figures(const ProfileInput& input) {
  ProfileFigures figures;
  const double seconds = input.verdict.speedup->time_us * 1e-6;
  figures.bytes = least_bytes(input.task);
  figures.bytes_per_second = seconds > 0 ? figures.bytes / seconds : kUnknown;
  // Of one core on a processor.
  const double clock = fact(input.device, "clock_hz");
  const bool is_processor = clock > 0;
  const double cores = is_processor ? static_cast<double>(input.task.threads) : 1;
  const auto known = [](double value) { return value > 0 ? value : kUnknown; };
  figures.peak_bytes_per_second = known(cores * fact(input.device, "dram_bytes_per_second"));
  figures.memory_share = figures.bytes_per_second / figures.peak_bytes_per_second;
  figures.peak_flops_per_second = known(cores * flops_per_second_max(input, is_processor));
  figures.flops = known(flops_of_call(input.task));
  figures.flops_per_second = seconds > 0 ? figures.flops / seconds : kUnknown;
  figures.flops_share = figures.flops_per_second / figures.peak_flops_per_second;
  figures.intensity = figures.bytes > 0 ? figures.flops / figures.bytes : kUnknown;
  double outputs = 0;
  for (const Tensor& tensor : input.task.tensors) {
    const auto count = element_count(tensor, input.task.timed);
    if (tensor.role != Role::kIn && count) outputs += static_cast<double>(*count);
  }
  figures.cycles_per_output = clock > 0 && outputs > 0 ? clock * seconds / outputs : kUnknown;
  return figures;
}

std::vector<std::string> profile_findings(const ProfileInput& input, const ProfileFigures& figures,
                                          std::size_t count_max) {
  std::vector<std::string> texts;
  for (Sentence& sentence : Rules(input, figures).all()) {
    if (texts.size() < count_max) texts.push_back(std::move(sentence.text));
  }
  return texts;
}

}  // namespace hone
