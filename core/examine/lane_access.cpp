// Theory of operation. Each register has a lane value: how it differs between a thread and its neighbour in the warp. `%tid.x`
// differs by 1; parameters, block indices and constants by 0; arithmetic combines these. A register that several instructions
// write (the variable of a loop) has a value only if all of them agree, so the instructions are visited until nothing changes.
// Other values, such as an address loaded from memory, are unclear, and accesses with unclear addresses are left out.
//
// Rationale: the address of thread t is assumed to be s·t plus a number that all threads of a warp share. This holds for blocks
// whose first extent is a multiple of 32, if no index overflows and if an index that is divided or masked begins at a multiple
// of 32 in each warp. Limits (`min`, `max`) and choices (`selp`) of an index are assumed to be rare.
#include "examine/lane_access.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/utf8.hpp"
#include "examine/text_lines.hpp"

namespace hone {
namespace {

using examine::trimmed;

constexpr std::int64_t kWarpThreads = 32, kSectorBytes = 32, kBanks = 32, kBankBytes = 4;
constexpr std::size_t kAccessKernelMax = 100;

struct Lane {
  enum class Kind : std::uint8_t {
    kNone,     ///< not written yet
    kStride,   ///< neighbours differ by `stride`
    kRuntime,  ///< neighbours differ by the same number, known only at run time
    kUnclear,
  };
  Kind kind = Lane::Kind::kNone;
  std::int64_t stride = 0;
  std::optional<std::int64_t> constant = {};  ///< the value, if known; only with a stride of 0
  bool operator==(const Lane&) const = default;
};

/// Unclear above kStrideMax (1 TiB): no device has that much memory.
Lane strided_lane(std::int64_t stride) {
  constexpr std::int64_t kStrideMax = std::int64_t{1} << 40;
  if (stride > kStrideMax || stride < -kStrideMax) return {Lane::Kind::kUnclear, 0, {}};
  return {Lane::Kind::kStride, stride, {}};
}
Lane constant_lane(std::int64_t value) { return {Lane::Kind::kStride, 0, value}; }
const Lane kUniformLane = strided_lane(0);
const Lane kRuntimeLane = {Lane::Kind::kRuntime, 0, {}};
const Lane kUnclearLane = {Lane::Kind::kUnclear, 0, {}};

bool is_uniform(const Lane& lane) { return lane.kind == Lane::Kind::kStride && lane.stride == 0; }
bool is_strided(const Lane& lane) { return lane.kind == Lane::Kind::kStride; }

Lane joined(const Lane& a, const Lane& b) {
  if (a == b || b.kind == Lane::Kind::kNone) return a;
  if (a.kind == Lane::Kind::kNone) return b;
  return is_strided(a) && is_strided(b) && a.stride == b.stride ? strided_lane(a.stride)
                                                                : kUnclearLane;
}

Lane lane_sum(const Lane& a, const Lane& b, std::int64_t sign) {
  if (a.kind == Lane::Kind::kUnclear || b.kind == Lane::Kind::kUnclear) return kUnclearLane;
  if (a.kind == Lane::Kind::kRuntime || b.kind == Lane::Kind::kRuntime)
    return a.kind == b.kind ? kUnclearLane : kRuntimeLane;
  std::int64_t scaled = 0, stride = 0, value = 0;
  if (__builtin_mul_overflow(sign, b.stride, &scaled) ||
      __builtin_add_overflow(a.stride, scaled, &stride))
    return kUnclearLane;
  if (!a.constant || !b.constant) return strided_lane(stride);
  if (__builtin_mul_overflow(sign, *b.constant, &scaled) ||
      __builtin_add_overflow(*a.constant, scaled, &value))
    return kUnclearLane;
  return constant_lane(value);
}

Lane lane_product(const Lane& a, const Lane& b) {
  if (is_uniform(b) && !is_uniform(a)) return lane_product(b, a);
  if (!is_uniform(a)) return kUnclearLane;
  if (!a.constant) {
    if (is_uniform(b)) return kUniformLane;
    return b.kind == Lane::Kind::kUnclear ? kUnclearLane : kRuntimeLane;
  }
  if (*a.constant == 0) return constant_lane(0);
  if (!is_strided(b)) return b;
  std::int64_t result = 0;
  if (__builtin_mul_overflow(*a.constant, b.constant ? *b.constant : b.stride, &result))
    return kUnclearLane;
  return b.constant ? constant_lane(result) : strided_lane(result);
}

Lane quotient(const Lane& a, const Lane& divisor) {
  if (is_uniform(a) && is_uniform(divisor)) return kUniformLane;
  if (!is_strided(a) || !divisor.constant || *divisor.constant <= 0) return kUnclearLane;
  if (a.stride % *divisor.constant == 0) return strided_lane(a.stride / *divisor.constant);
  return a.stride == 1 && *divisor.constant % kWarpThreads == 0 ? kUniformLane : kUnclearLane;
}

Lane remainder(const Lane& a, const Lane& divisor) {
  if (is_uniform(a) && is_uniform(divisor)) return kUniformLane;
  const bool keeps = is_strided(a) && a.stride == 1 && divisor.constant && *divisor.constant > 0 &&
                     *divisor.constant % kWarpThreads == 0;
  return keeps ? strided_lane(1) : kUnclearLane;
}

/// a & b. A mask of low one-bits gives a remainder; a mask whose low bits are zero rounds down.
Lane masked(const Lane& a, const Lane& b) {
  if (is_uniform(a) && is_uniform(b)) return kUniformLane;
  if (is_uniform(a)) return masked(b, a);
  if (!b.constant || !is_strided(a) || a.stride != 1) return kUnclearLane;
  const auto mask = static_cast<std::uint64_t>(*b.constant);
  constexpr std::uint64_t kOfWarp = kWarpThreads - 1;
  if ((mask & kOfWarp) == 0) return kUniformLane;
  return (mask & (mask + 1)) == 0 && mask >= kOfWarp ? strided_lane(1) : kUnclearLane;
}

Lane shift_factor(const Lane& bits) {
  if (!bits.constant) return is_uniform(bits) ? kUniformLane : kUnclearLane;
  return *bits.constant >= 0 && *bits.constant < 62
             ? constant_lane(std::int64_t{1} << *bits.constant)
             : kUnclearLane;
}

/// The result of `min`, `max` or `selp`. An operand with a stride counts as the usual result, the other as a limit.
Lane chosen(const Lane& a, const Lane& b) {
  if (is_uniform(a) && is_uniform(b)) return kUniformLane;
  if (is_strided(a) && is_uniform(b)) return a;
  return is_strided(b) && is_uniform(a) ? b : joined(a, b);
}

struct LaneOperand {
  enum class Kind : std::uint8_t { kValue, kRegister, kAddress, kKernelParameter, kOther };
  Kind kind = Kind::kValue;
  std::size_t index = 0;    ///< of the register, or of an address's base register
  Lane value = {};          ///< of kValue, also of an address without a register
  std::int64_t offset = 0;  ///< of an address
};

struct LaneStep {
  std::string_view word;  ///< "ld.global.f32"
  std::vector<std::size_t> to = {};
  std::vector<LaneOperand> from = {};
  std::int64_t line = 0, depth = 0;
};

Lane special_register(std::string_view name) {
  if (name == "%tid.x" || name == "%laneid") return strided_lane(1);
  for (const char* same : {"%tid.", "%ctaid.", "%ntid.", "%nctaid.", "%warpid", "%nwarpid",
                           "%cluster", "%smid", "%nsmid", "%gridid", "%dynamic_smem_size"})
    if (name.starts_with(same)) return kUniformLane;
  return kUnclearLane;
}

bool is_special(std::string_view name) {
  return name.find('.') != std::string_view::npos || special_register(name) != kUnclearLane ||
         name.starts_with("%clock") || name.starts_with("%lanemask") || name.starts_with("%pm");
}

Lane number_lane(std::string_view text) {
  const bool is_negative = text.starts_with("-");
  if (is_negative) text.remove_prefix(1);
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  if (is_hex) text.remove_prefix(2);
  if (text.ends_with('U')) text.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return kUniformLane;  // 0f3F800000
  return constant_lane(is_negative ? -value : value);
}

bool has_part(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

class LaneAnalysis {
 public:
  explicit LaneAnalysis(const std::vector<DeviceInstruction>& code) {
    for (const DeviceInstruction& one : code) read(one);
    lanes_.resize(registers_.size());
  }

  /// Visits the instructions until nothing changes. False: the limit was reached first.
  bool settle() {
    for (std::size_t pass = 0; pass < kLanePassesMax; ++pass) {
      bool changed = false;
      for (const LaneStep& step : steps_) {
        const Lane result = result_of(step);
        for (const std::size_t to : step.to) {
          const Lane next = joined(lanes_[to], result);
          changed = changed || next != lanes_[to];
          lanes_[to] = next;
        }
      }
      if (!changed) return true;
    }
    return false;
  }

  std::vector<LaneAccess> accesses(std::string_view kernel) const {
    std::map<std::tuple<bool, bool, std::int64_t, std::int64_t, std::int64_t,
                        std::optional<std::int64_t>>,
             LaneAccess>
        found;
    // For each base register: the distinct offsets of its accesses, modulo the stride.
    std::map<std::tuple<std::size_t, bool, std::int64_t>, std::set<std::int64_t>> places;
    for (const bool is_first : {true, false}) {
      for (const LaneStep& step : steps_) {
        std::optional<LaneAccess> access = access_of(step);
        if (!access) continue;
        const LaneOperand& address = step.from[0];
        const std::int64_t stride = access->stride ? std::abs(*access->stride) : 0;
        std::set<std::int64_t>& used = places[{address.index, access->is_store, step.depth}];
        if (is_first) {
          if (stride > 0 && stride <= kSectorBytes) used.insert(address.offset % stride);
          continue;
        }
        const auto count = std::max<std::size_t>(used.size(), 1);
        access->covered = access->width * static_cast<std::int64_t>(count);
        access->kernel = std::string(kernel.substr(0, kAccessKernelMax));
        LaneAccess& known = found[{access->is_shared, access->is_store, access->line, access->depth,
                                   access->width, access->stride}];
        access->count += known.width > 0 ? known.count : 0;
        known = std::move(*access);
      }
    }
    std::vector<LaneAccess> all;
    for (auto& [key, access] : found) all.push_back(std::move(access));
    return all;
  }

 private:
  void read(const DeviceInstruction& instruction) {
    std::string_view rest = instruction.text;
    rest = trimmed(rest.substr(0, rest.find(';')));
    if (rest.starts_with("@")) rest = trimmed(rest.substr(std::min(rest.find(' '), rest.size())));
    const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
    LaneStep step{
        .word = rest.substr(0, end), .line = instruction.line, .depth = instruction.depth};
    rest = trimmed(rest.substr(end));
    const bool writes = !step.word.starts_with("st.") && !step.word.starts_with("red.");
    for (bool is_first = true; !rest.empty(); is_first = false) {
      const std::string_view operand = take_operand(rest);
      if (is_first && writes) {
        add_targets(operand, step);
      } else {
        step.from.push_back(operand_of(operand));
      }
    }
    steps_.push_back(std::move(step));
  }
  /// Removes and returns the text up to the next comma outside brackets and braces.
  static std::string_view take_operand(std::string_view& rest) {
    int open = 0;
    std::size_t at = 0;
    for (; at < rest.size(); ++at) {
      const char c = rest[at];
      if (c == '{' || c == '[' || c == '(') ++open;
      if (c == '}' || c == ']' || c == ')') --open;
      if (c == ',' && open <= 0) break;
    }
    const std::string_view operand = trimmed(rest.substr(0, at));
    rest.remove_prefix(std::min(at + 1, rest.size()));
    return operand;
  }
  /// "%r1", "{%f1, %f2}" or "%p1|%p2".
  void add_targets(std::string_view text, LaneStep& step) {
    while (!text.empty()) {
      const std::size_t begin = text.find('%');
      if (begin == std::string_view::npos) return;
      text.remove_prefix(begin);
      const std::size_t end = std::min(text.find_first_of(",}| \t"), text.size());
      step.to.push_back(index_of(text.substr(0, end)));
      text.remove_prefix(end);
    }
  }
  LaneOperand operand_of(std::string_view text) {
    if (text.starts_with("[")) {
      const std::size_t end = std::min(text.find_first_of("+]"), text.size());
      const std::string_view behind = text.substr(end);
      text = text.substr(1, end - 1);
      const bool is_parameter = has_part(text, "_param_");
      LaneOperand inner = operand_of(trimmed(text));
      if (behind.starts_with("+"))
        inner.offset = number_lane(behind.substr(1, behind.find(']') - 1)).constant.value_or(0);
      if (inner.kind == LaneOperand::Kind::kRegister) inner.kind = LaneOperand::Kind::kAddress;
      if (is_parameter) inner.kind = LaneOperand::Kind::kKernelParameter;
      return inner;
    }
    if (text.starts_with("%") && !is_special(text))
      return {LaneOperand::Kind::kRegister, index_of(text), {}, 0};
    if (text.starts_with("%")) return {LaneOperand::Kind::kValue, 0, special_register(text), 0};
    if (text.empty() || text.starts_with("{"))
      return {LaneOperand::Kind::kOther, 0, kUnclearLane, 0};
    const bool is_number = text[0] == '-' || (text[0] >= '0' && text[0] <= '9');
    return {LaneOperand::Kind::kValue, 0, is_number ? number_lane(text) : kUniformLane, 0};
  }
  std::size_t index_of(std::string_view name) {
    return registers_.emplace(name, registers_.size()).first->second;
  }

  Lane value_of(const LaneOperand& operand) const {
    const bool is_register =
        operand.kind == LaneOperand::Kind::kRegister || operand.kind == LaneOperand::Kind::kAddress;
    return is_register ? lanes_[operand.index] : operand.value;
  }
  /// The access, without the kernel's name and with `covered` = `width`. nullopt: none, or its address is unclear.
  std::optional<LaneAccess> access_of(const LaneStep& step) const {
    const bool is_shared = has_part(step.word, ".shared");
    const bool is_store = step.word.starts_with("st.");
    if ((!is_store && !step.word.starts_with("ld.")) || step.from.empty()) return std::nullopt;
    if (!is_shared && !has_part(step.word, ".global")) return std::nullopt;
    const std::int64_t width = width_of(step.word);
    const Lane lane = value_of(step.from[0]);
    const bool is_known = lane.kind == Lane::Kind::kStride;
    if (width == 0 || (!is_known && lane.kind != Lane::Kind::kRuntime)) return std::nullopt;
    return LaneAccess{.kernel = {},
                      .is_shared = is_shared,
                      .is_store = is_store,
                      .line = step.line,
                      .depth = step.depth,
                      .width = width,
                      .count = 1,
                      .stride = is_known ? std::optional(lane.stride) : std::nullopt,
                      .covered = width};
  }
  Lane result_of(const LaneStep& step) const {
    if (step.to.empty() || step.from.empty()) return kUnclearLane;
    std::array<Lane, 3> in = {};
    bool all_uniform = true;
    for (std::size_t i = 0; i < step.from.size(); ++i) {
      const Lane lane = value_of(step.from[i]);
      if (lane.kind == Lane::Kind::kNone) return {};
      all_uniform = all_uniform && is_uniform(lane);
      if (i < in.size()) in[i] = lane;
    }
    const auto is = [&step](std::string_view name) { return step.word.starts_with(name); };
    if (is("ld.")) return loaded(step, in[0]);
    for (const char* foreign :
         {"atom", "shfl", "call", "activemask", "vote", "match", "elect", "redux"})
      if (is(foreign)) return kUnclearLane;
    if (step.to.size() > 1) return all_uniform ? kUniformLane : kUnclearLane;
    if (has_part(step.word, ".f") || has_part(step.word, ".bf"))
      return all_uniform ? kUniformLane : kUnclearLane;
    if (is("mov.") || is("cvt.") || is("cvta.")) return in[0];
    return computed(step, in, all_uniform);
  }
  static Lane loaded(const LaneStep& step, const Lane& address) {
    if (has_part(step.word, ".param"))
      return step.from[0].kind == LaneOperand::Kind::kKernelParameter ? kUniformLane : kUnclearLane;
    return is_uniform(address) && !has_part(step.word, ".local") ? kUniformLane : kUnclearLane;
  }
  static Lane computed(const LaneStep& step, const std::array<Lane, 3>& in, bool all_uniform) {
    const auto is = [&step](std::string_view name) { return step.word.starts_with(name); };
    const bool is_high = has_part(step.word, ".hi");
    if (is("add.")) return lane_sum(in[0], in[1], 1);
    if (is("sub.")) return lane_sum(in[0], in[1], -1);
    if (is("neg.")) return lane_sum(constant_lane(0), in[0], -1);
    if (is("mul.") && !is_high) return lane_product(in[0], in[1]);
    if (is("mad.") && !is_high) return lane_sum(lane_product(in[0], in[1]), in[2], 1);
    if (is("shl.")) return lane_product(in[0], shift_factor(in[1]));
    if (is("shr.")) return quotient(in[0], shift_factor(in[1]));
    if (is("div.")) return quotient(in[0], in[1]);
    if (is("rem.")) return remainder(in[0], in[1]);
    if (is("and.")) return masked(in[0], in[1]);
    // Compilers replace an addition by `or` if no bit is set in both operands.
    if (is("or.") && (is_uniform(in[0]) || is_uniform(in[1]))) return lane_sum(in[0], in[1], 1);
    if (is("min.") || is("max.")) return chosen(in[0], in[1]);
    if (is("selp.") && is_uniform(in[2])) return chosen(in[0], in[1]);
    return all_uniform ? kUniformLane : kUnclearLane;
  }
  /// "ld.global.v4.f32": 16.
  static std::int64_t width_of(std::string_view word) {
    const std::string_view type = word.substr(word.rfind('.') + 1);
    std::string_view digits = type.substr(std::min(type.find_first_of("0123456789"), type.size()));
    const std::int64_t bits = examine::take_number(digits);
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128) return 0;
    for (const std::int64_t count : {2, 4, 8})
      if (has_part(word, ".v" + std::to_string(count))) return count * bits / 8;
    return bits / 8;
  }

  std::unordered_map<std::string_view, std::size_t> registers_;
  std::vector<Lane> lanes_;
  std::vector<LaneStep> steps_;
};

}  // namespace

std::vector<LaneAccess> lane_accesses(std::string_view kernel,
                                      const std::vector<DeviceInstruction>& code) {
  if (code.size() > kLaneInstructionsMax) return {};
  LaneAnalysis analysed(code);
  return analysed.settle() ? analysed.accesses(kernel) : std::vector<LaneAccess>();
}

double sector_use(const LaneAccess& access) {
  if (!access.stride) return std::min(1.0, static_cast<double>(access.width) / kSectorBytes);
  const double stride = std::abs(static_cast<double>(*access.stride));
  const double used = stride <= kSectorBytes ? static_cast<double>(access.covered)
                                             : static_cast<double>(access.width);
  return stride <= used ? 1 : used / std::min(stride, std::max<double>(used, kSectorBytes));
}

std::int64_t bank_conflicts(const LaneAccess& access) {
  if (!access.stride) return 1;
  // The hardware serves a warp's access in parts of 128 bytes: 16 threads with 8 bytes each, or 8 with 16.
  const std::int64_t bytes = std::max(access.width, kBankBytes);
  const std::int64_t threads = std::max<std::int64_t>(kBanks * kBankBytes / bytes, 1);
  const std::int64_t words = bytes / kBankBytes;
  // Threads that use the same word of a bank share one cycle, so only distinct words count.
  const std::int64_t stride = *access.stride;
  if (stride > (std::int64_t{1} << 40) || stride < -(std::int64_t{1} << 40)) return 1;
  std::map<std::int64_t, std::set<std::int64_t>> words_of_bank;
  std::int64_t worst = 1;
  for (std::int64_t thread = 0; thread < std::min(threads, kWarpThreads); ++thread) {
    const std::int64_t first = (thread * std::abs(stride)) / kBankBytes;
    for (std::int64_t word = first; word < first + words; ++word) {
      std::set<std::int64_t>& all = words_of_bank[word % kBanks];
      all.insert(word);
      worst = std::max(worst, static_cast<std::int64_t>(all.size()));
    }
  }
  return worst;
}

Value lane_access_to_value(const LaneAccess& access) {
  Value value = Value::map({{"kernel", printable(access.kernel)},
                            {"line", access.line > 0 ? Value(access.line) : Value()},
                            {"space", access.is_shared ? "shared" : "global"},
                            {"store", access.is_store},
                            {"bytes", access.width},
                            {"instructions", access.count},
                            {"stride", access.stride ? Value(*access.stride) : Value()}});
  if (access.is_shared) {
    value.set("bank_conflicts", bank_conflicts(access));
  } else {
    value.set("sector_use", sector_use(access));
  }
  return value;
}

}  // namespace hone
