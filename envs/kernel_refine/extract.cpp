// Ranks the blocks of an answer, and adds parts from other blocks to the best one.
#include "kernel_refine/extract.hpp"

#include <algorithm>
#include <tuple>

#include "kernel_refine/answer/assemble.hpp"
#include "kernel_refine/answer/reasoning.hpp"
#include "kernel_refine/answer/text.hpp"

namespace hone::kernel_refine {
namespace {

constexpr std::string_view kPython = "python";
constexpr std::string_view kWrapper = "triton_kernel_wrapper";

bool has(const std::vector<std::string>& languages, std::string_view language) {
  return std::find(languages.begin(), languages.end(), language) != languages.end();
}

/// The language of a block without a tag.
Grammar usual_grammar(const std::vector<std::string>& languages) {
  return has(languages, kPython) && languages.front() == kPython ? Grammar::kPython : Grammar::kC;
}

/// Whether the code is C++ and not C. Rationale: models also write C++ into blocks tagged `c`.
bool is_cpp_only(std::string_view code) {
  if (code.find("__cplusplus") != std::string_view::npos) return false;
  const std::string plain = without_literals(code, Grammar::kC);
  for (const std::string_view word :
       {"extern \" \"", "template", "namespace", "constexpr", "std::", "static_cast<"}) {
    if (plain.find(word) != std::string::npos) return true;
  }
  return false;
}

class Ranking {
 public:
  Ranking(std::string_view entry, const std::vector<std::string>& languages)
      : entry_(entry), languages_(languages), usual_(usual_grammar(languages)) {}

  bool defines_entry(const Block& block) const {
    for (const Grammar grammar : grammars(block)) {
      if (defines(block.code, entry_, grammar)) return true;
      if (grammar == Grammar::kPython && defines(block.code, kWrapper, grammar)) return true;
    }
    return false;
  }

  /// The best block; nullptr if no block is acceptable.
  const Block* best(const std::vector<Block>& blocks) const {
    const Block* best = nullptr;
    std::tuple<bool, bool, int, bool, bool, bool, std::size_t> best_rank;
    for (const Block& block : blocks) {
      if (block.is_container || trim(block.code).empty()) continue;
      const bool defined = defines_entry(block);
      const std::string language = offered_language(block);
      const bool fits = block.tag.empty() || !language.empty();
      if (!defined && (!fits || block.is_derived)) continue;
      // If no block defines the entry, a tagged one is likelier to be code: compiler output and logs have no tag.
      const int tag = !fits ? 0 : defined || block.tag.empty() ? 1 : 2;
      const bool mentions = block.code.find(entry_) != std::string::npos;
      const std::tuple rank(defined, !block.is_derived, tag, block.is_complete, !block.is_quoted,
                            mentions, block.begin);
      if (best == nullptr || rank > best_rank) {
        best = &block;
        best_rank = rank;
      }
    }
    return best;
  }

  /// The offered language that the tag means, if there is one.
  std::string offered_language(const Block& block) const {
    const std::string language = language_of_tag(block.tag);
    if (language == "c" && has(languages_, "c++") && is_cpp_only(block.code)) return "c++";
    if (has(languages_, language)) return language;
    // Models use the names of C, C++ and device dialects for each other, but rarely call C++ code C.
    const bool is_c = grammar_of_tag(block.tag, Grammar::kNone) == Grammar::kC;
    for (const std::string& other : languages_) {
      if (is_c && other != "c" && grammar_of_tag(other, Grammar::kNone) == Grammar::kC)
        return other;
    }
    return {};
  }

  Grammar grammar(const Block& block) const {
    const std::vector<Grammar> read = grammars(block);
    return read.empty() ? usual_ : read.front();
  }
  Grammar usual() const { return usual_; }

 private:
  /// The grammars to try: that of the tag if an offered language has it; else those of all offered languages.
  std::vector<Grammar> grammars(const Block& block) const {
    const bool python = has(languages_, kPython), c = languages_.size() > (python ? 1u : 0u);
    const Grammar tagged = grammar_of_tag(block.tag, Grammar::kNone);
    if (tagged == Grammar::kPython && python) return {tagged};
    if (tagged == Grammar::kC && c) return {tagged};
    std::vector<Grammar> read;
    if (c) read.push_back(Grammar::kC);
    if (python) read.push_back(Grammar::kPython);
    if (usual_ == Grammar::kPython) std::reverse(read.begin(), read.end());
    return read;
  }

  const std::string_view entry_;
  const std::vector<std::string>& languages_;
  const Grammar usual_;
};

/// Describes the blocks for the reason: "found 2 blocks: python, text".
std::string describe(const std::vector<Block>& blocks) {
  constexpr std::size_t kShown = 4;
  std::vector<const Block*> marked;
  for (const Block& block : blocks) {
    if (!block.is_derived) marked.push_back(&block);
  }
  if (marked.empty()) return "found none";
  std::string tags;
  bool is_diff = false;
  for (std::size_t i = 0; i < std::min(marked.size(), kShown); ++i) {
    std::string tag =
        trim(marked[i]->code).empty() ? "an empty block" : marked[i]->tag.substr(0, 24);
    if (tag.empty()) tag = "no tag";
    is_diff = is_diff || tag == "diff" || tag == "patch";
    for (char& c : tag) {
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
    }
    tags += (i > 0 ? ", " : "") + tag;
  }
  return "found " + std::to_string(marked.size()) +
         (marked.size() == 1 ? " block: " : " blocks: ") + tags +
         (marked.size() > kShown ? ", …" : "") +
         (is_diff ? "; a partial diff is not a source; send the whole file" : "");
}

}  // namespace

Extracted extract_code(std::string_view response, std::string_view entry,
                       const std::vector<std::string>& languages) {
  const std::string answer = answer_of(response);
  const Ranking ranking(entry, languages);
  std::vector<Block> blocks = find_fences(answer, ranking.usual());
  add_tagged(answer, blocks);
  add_contained(answer, ranking.usual(), blocks);
  const std::vector<TagLine> tags = find_tag_lines(answer);
  for (Block& block : blocks) clean(tags, ranking.usual(), block);
  const auto defines_entry = [&](const Block& block) {
    return !block.is_container && ranking.defines_entry(block);
  };
  if (std::none_of(blocks.begin(), blocks.end(), defines_entry)) {
    const auto first = static_cast<std::ptrdiff_t>(blocks.size());
    add_unmarked(answer, ranking.usual(), blocks);
    std::for_each(blocks.begin() + first, blocks.end(),
                  [&](Block& block) { clean(tags, ranking.usual(), block); });
  }

  if (const Block* best = ranking.best(blocks); best != nullptr) {
    return {true,
            assemble(*best, blocks, entry, ranking.grammar(*best)),
            ranking.offered_language(*best),
            {}};
  }
  // Blocks in the reasoning are drafts and do not count.
  const bool is_hidden =
      response.find("```") != std::string_view::npos && answer.find("```") == std::string::npos;
  const std::string hidden =
      is_hidden ? "; there is code in the reasoning, which is not part of the answer" : "";
  const bool python = has(languages, kPython);
  std::string offered;
  for (const std::string& language : languages)
    offered += (offered.empty() ? "" : " or ") + language;
  return {false,
          {},
          {},
          "expected a fenced block tagged " + offered + ", or without a tag, with the " +
              (python ? "class '" : "function '") + std::string(entry) +
              (python ? "' or the function '" + std::string(kWrapper) + "'; " : "'; ") +
              describe(blocks) + hidden};
}

}  // namespace hone::kernel_refine
