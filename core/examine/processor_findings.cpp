// Findings about code of a processor, from the compiler's remarks and its assembler text.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/readable.hpp"
#include "examine/finding_rules.hpp"

namespace hone {
namespace {

using examine::number_fact;
using examine::number_text;
using examine::place_text;

class ProcessorRules {
 public:
  explicit ProcessorRules(FindingList& list)
      : list_(list), input_(list.input), figures_(list.figures) {}

  void add_all() {
    scalar_loops();
    slow_instructions();
    narrow_vectors();
  }

 private:
  void add(double weight, std::string text) { list_.add(weight, std::move(text)); }

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
    return loop.obstacle == LoopObstacle::kHasVectors ||
           std::any_of(blocks.begin(), blocks.end(), [](const CodeBlock* block) {
             return block->vector > 0 && block->vector >= block->scalar;
           });
  }

  /// Loops that the compiler could not vectorize. Below a cycle for each output, they do not matter.
  void scalar_loops() {
    if (figures_.cycles_per_output < 1) return;
    for (const LoopRemark& loop : input_.code.loops) {
      // A stride of the outer loop also makes the vectors of the inner one short.
      const bool is_strided = loop.obstacle == LoopObstacle::kStride;
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
        text += ". An output takes " + number_text(figures_.cycles_per_output, " cycles");
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
        "The innermost loop " + place_text(*slowest) + " has " + text + " in " +
            counted_text(slowest->instructions, "instruction") + ".");
  }
  /// A loop with narrow vectors. If another loop has the widest ones, the narrow loop probably handles the remaining elements,
  /// so it is not mentioned.
  void narrow_vectors() {
    const double widest = number_fact(input_.device, "vector_bytes");
    for (const LoopRemark& loop : input_.code.loops) {
      const bool is_wide = loop.is_vectorized && static_cast<double>(loop.vector_bytes) >= widest;
      if (is_wide ||
          (!loop.is_vectorized && !blocks_of(loop).empty() && is_outer_or_has_vectors(loop)))
        return;
    }
    for (const LoopRemark& loop : input_.code.loops) {
      if (!loop.is_vectorized || loop.vector_bytes <= 0) continue;
      if (static_cast<double>(loop.vector_bytes) >= widest || list_.is_memory_bound()) continue;
      add(0.3, "The loop at line " + std::to_string(loop.line) + " uses vectors of " +
                   counted_text(loop.vector_bytes, "byte") + "; the processor has vectors of " +
                   number_text(widest, " bytes") + ".");
      return;
    }
  }

  static constexpr int kPerDivision = 25;  // instructions; with more for each, divisions are few

  FindingList& list_;
  const ProfileInput& input_;
  const ProfileFigures& figures_;
};

}  // namespace

void add_processor_findings(FindingList& list) { ProcessorRules(list).add_all(); }

}  // namespace hone
