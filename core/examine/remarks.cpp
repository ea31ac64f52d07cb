#include "examine/remarks.hpp"

#include <algorithm>
#include <map>

#include "base/utf8.hpp"
#include "examine/text_lines.hpp"

namespace hone {
namespace {

using examine::for_each_line;
using examine::number_before;
using examine::trimmed;

constexpr std::size_t kReasonMax = 160, kCodeNameMax = 64;

/// The rest of the text after `what`; empty if the text does not contain it.
std::string_view after(std::string_view text, std::string_view what) {
  const std::size_t at = text.find(what);
  return at == std::string_view::npos ? std::string_view() : trimmed(text.substr(at + what.size()));
}

std::string reason_text(std::string_view reason) {
  reason = reason.substr(0, reason.find(" [-R"));
  while (reason.ends_with('.') || reason.ends_with(';')) reason.remove_suffix(1);
  return cut_end(printable(reason.substr(0, kReasonMax)), kReasonMax);
}

/// Rationale: GCC has no vector type for a statement that has vectors as operands.
LoopObstacle obstacle_of(std::string_view reason) {
  if (reason.find("strided") != std::string_view::npos) return LoopObstacle::kStride;
  return reason.find("no vectype") != std::string_view::npos ? LoopObstacle::kHasVectors
                                                             : LoopObstacle::kOther;
}

/// An identifier of the submission, safe to print and of limited length.
std::string name_text(std::string_view name) {
  return cut_end(printable(name.substr(0, kCodeNameMax)), kCodeNameMax);
}

/// "_50 = __builtin_expf (_16);" → "it calls 'expf'"
std::string called_function(std::string_view statement) {
  std::string_view call = statement.substr(0, statement.find('('));
  call = trimmed(call.substr(call.find('=') == std::string_view::npos ? 0 : call.find('=') + 1));
  if (call.starts_with("__builtin_")) call.remove_prefix(10);
  return call.empty() ? "" : "it calls '" + name_text(call) + "'";
}

class LoopReader {
 public:
  explicit LoopReader(std::string_view source_name) : source_name_(source_name) {}

  void read(std::string_view text) {
    const std::int64_t line = examine::take_place(text, source_name_);
    if (const std::string_view call = after(text, "statement clobbers memory:");
        !call.empty() && missed_ != nullptr && missed_->reason.empty()) {
      missed_->reason = called_function(call);
      return;
    }
    if (line < 1) return;
    if (text.find("loop vectorized using") != std::string_view::npos ||
        text.find("vectorized loop (") != std::string_view::npos)
      return add_vectorized(line, text);
    if (text.find("couldn't vectorize loop") != std::string_view::npos) return add_missed(line);
    const std::string_view reason = after(text, "not vectorized:");
    if (reason.empty()) return;
    const bool is_clang = text.find("remark:") != std::string_view::npos;
    if (is_clang) add_missed(line);
    if (missed_ == nullptr || !missed_->reason.empty()) return;
    // An outer loop. Its inner loops have remarks of their own.
    if (reason.find("loop nest") != std::string_view::npos ||
        reason.find("multiple nested loops") != std::string_view::npos) {
      loops_.erase(missed_->line);
      missed_ = nullptr;
    } else {
      missed_->reason = reason_text(reason);
      missed_->obstacle = obstacle_of(missed_->reason);
    }
  }

  std::vector<LoopRemark> take(std::size_t count_max) {
    std::vector<LoopRemark> all;
    for (auto& [line, loop] : loops_) {
      if (all.size() < count_max) all.push_back(std::move(loop));
    }
    return all;
  }

 private:
  void add_vectorized(std::int64_t line, std::string_view text) {
    missed_ = nullptr;
    LoopRemark& loop = loops_[line];
    loop.line = line;
    loop.is_vectorized = true;
    loop.reason.clear();
    loop.obstacle = LoopObstacle::kOther;
    loop.vector_bytes = std::max(loop.vector_bytes, number_before(text, " byte vectors"));
  }
  void add_missed(std::int64_t line) {
    LoopRemark& loop = loops_[line];
    loop.line = line;
    missed_ = loop.is_vectorized ? nullptr : &loop;
  }

  const std::string_view source_name_;
  std::map<std::int64_t, LoopRemark> loops_;
  LoopRemark* missed_ = nullptr;  ///< the loop whose reason comes next
};

std::int64_t at_least_zero(std::int64_t number) { return std::max<std::int64_t>(number, 0); }

}  // namespace

std::vector<LoopRemark> loop_remarks(std::string_view remarks, std::string_view source_name,
                                     std::size_t count_max) {
  LoopReader reader(source_name);
  for_each_line(remarks, [&](std::string_view line) { reader.read(trimmed(line)); });
  return reader.take(count_max);
}

std::vector<KernelResources> kernel_resources(std::string_view remarks, std::size_t count_max) {
  std::vector<KernelResources> kernels;
  for_each_line(remarks, [&](std::string_view line) {
    if (const std::string_view rest = after(line, "Compiling entry function '"); !rest.empty()) {
      kernels.emplace_back().kernel = name_text(rest.substr(0, rest.find('\'')));
    }
    if (kernels.empty()) return;
    KernelResources& kernel = kernels.back();
    if (const std::int64_t stack = number_before(line, " bytes stack frame"); stack >= 0) {
      kernel.stack_bytes = stack;
      kernel.spill_stores_bytes = at_least_zero(number_before(line, " bytes spill stores"));
      kernel.spill_loads_bytes = at_least_zero(number_before(line, " bytes spill loads"));
    }
    if (const std::int64_t registers = number_before(line, " registers"); registers >= 0) {
      kernel.registers = registers;
      kernel.shared_bytes = at_least_zero(number_before(line, " bytes smem"));
    }
  });
  if (kernels.size() > count_max) kernels.resize(count_max);
  return kernels;
}

Value loop_remark_to_value(const LoopRemark& remark) {
  return Value::map(
      {{"line", remark.line},
       {"vectorized", remark.is_vectorized},
       {"vector_bytes", remark.vector_bytes > 0 ? Value(remark.vector_bytes) : Value()},
       {"reason", remark.reason}});
}

Value kernel_resources_to_value(const KernelResources& kernel) {
  return Value::map({{"kernel", kernel.kernel},
                     {"registers", kernel.registers},
                     {"shared_bytes", kernel.shared_bytes},
                     {"stack_bytes", kernel.stack_bytes},
                     {"spill_stores_bytes", kernel.spill_stores_bytes},
                     {"spill_loads_bytes", kernel.spill_loads_bytes}});
}

}  // namespace hone
