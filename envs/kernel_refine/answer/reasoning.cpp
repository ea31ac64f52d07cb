// A search for marks of reasoning, then for special tokens.
#include "kernel_refine/answer/reasoning.hpp"

#include <algorithm>
#include <optional>

#include "kernel_refine/answer/text.hpp"

namespace hone::kernel_refine {
namespace {

struct Marks {
  std::string_view open, close;
};

constexpr Marks kReasoning[] = {
    {"<think>", "</think>"},           {"<thinking>", "</thinking>"},
    {"<thought>", "</thought>"},       {"<reasoning>", "</reasoning>"},
    {"<seed:think>", "</seed:think>"}, {"[THINK]", "[/THINK]"},
    {"◁think▷", "◁/think▷"},           {"<|begin_of_thought|>", "<|end_of_thought|>"}};

// OpenAI's harmony format: only the text of the channel `final` is the answer.
constexpr std::string_view kChannel = "<|channel|>", kFinal = "<|channel|>final<|message|>";

// The marks in kTrailing look like HTML tags, so they count only at the end of a text.
constexpr std::string_view kEndsOfTurn[] = {"<|im_end|>",       "<|eot_id|>",
                                            "<|endoftext|>",    "<|end_of_text|>",
                                            "<|eom_id|>",       "<|return|>",
                                            "<|EOT|>",          "<|end|>",
                                            "<end_of_turn>",    "<|user|>",
                                            "<|im_start|>user", "<｜end▁of▁sentence｜>",
                                            "<|end_of_turn|>",  "<|END_OF_TURN_TOKEN|>"};
constexpr std::string_view kTrailing[] = {"</s>", "<eos>", "[EOS]", "<pad>", "<|end_of_solution|>"};
constexpr std::string_view kHeaders[] = {"<|im_start|>assistant",
                                         "<|start_header_id|>assistant<|end_header_id|>",
                                         "<start_of_turn>model",
                                         "<|assistant|>",
                                         "<|begin_of_solution|>",
                                         "<s>",
                                         "[/INST]"};

/// Whether a sentence names the mark instead of using it: in quotes or backticks, or between words of one line.
bool is_mentioned(std::string_view text, std::size_t at, std::size_t size) {
  constexpr std::size_t kNear = 200;  // bytes: a line may be the whole response
  const std::string_view near = text.substr(at - std::min(at, kNear), 2 * kNear + size);
  at = std::min(at, kNear);
  const std::string_view before = near.substr(line_begin(near, at), at - line_begin(near, at));
  const std::string_view after = near.substr(at + size, line_end(near, at + size) - at - size);
  if (!before.empty() && !after.empty() && before.back() == after.front() &&
      std::string_view("`'\"").find(before.back()) != std::string_view::npos) {
    return true;
  }
  if (before.empty() || before.back() != ' ' || after.empty()) return false;
  const std::string_view words = trim(before);
  if (words.empty() || std::string_view(".!?:)`").find(words.back()) != std::string_view::npos)
    return false;
  const char next = trim(after).empty() ? '\0' : trim(after).front();
  return (after.front() == ' ' && next != '\0') ||
         std::string_view(",.;:)/").find(after.front()) != std::string_view::npos;
}

std::size_t find_used(std::string_view text, std::string_view mark, std::size_t from) {
  std::size_t at = text.find(mark, from);
  while (at != std::string_view::npos && is_mentioned(text, at, mark.size()))
    at = text.find(mark, at + mark.size());
  return at;
}

bool begins_line(std::string_view text, std::size_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) --at;
  return at == 0 || text[at - 1] == '\n';
}

std::string without_reasoning(std::string_view text, const Marks& marks) {
  std::string kept;
  std::size_t at = 0, open = text.find(marks.open), close = find_used(text, marks.close, 0);
  while (close != std::string_view::npos) {
    while (open != std::string_view::npos && open < at) open = text.find(marks.open, at);
    if (close < open) {
      kept.clear();  // its opening stood in the prompt
    } else {
      kept.append(text.substr(at, open - at));
    }
    at = close + marks.close.size();
    close = find_used(text, marks.close, at);
  }
  // What is left has no closing: an opening counts where a line begins with it.
  for (open = text.find(marks.open, at); open != std::string_view::npos;
       open = text.find(marks.open, open + 1)) {
    if (begins_line(text, open)) break;
    const bool glued =
        open > at && !is_mentioned(text, open, marks.open.size()) && !is_space(text[open - 1]);
    if (glued) break;
  }
  kept.append(text.substr(at, open == std::string_view::npos ? open : open - at));
  return kept;
}

/// The text without special tokens at both ends and without everything after the first end of a turn.
std::string_view without_tokens(std::string_view text) {
  for (bool again = true; again;) {
    again = false;
    const std::string_view inside = trim(text);
    for (const std::string_view header : kHeaders) {
      if (!inside.starts_with(header)) continue;
      text = inside.substr(header.size());
      again = true;
      break;
    }
  }
  std::size_t end = text.size();
  for (const std::string_view token : kEndsOfTurn) {
    std::size_t at = text.find(token);
    while (at < end && (trim(text.substr(0, at)).empty() || is_mentioned(text, at, token.size()))) {
      at = text.find(token, at + token.size());
    }
    end = std::min(end, at);
  }
  text = text.substr(0, end);
  for (bool again = true; again;) {
    again = false;
    const std::string_view inside = trim(text);
    for (const std::string_view token : kTrailing) {
      if (!inside.ends_with(token)) continue;
      const std::size_t begin = static_cast<std::size_t>(inside.data() - text.data());
      text = text.substr(0, begin + inside.size() - token.size());
      again = true;
    }
  }
  return text;
}

}  // namespace

std::string answer_of(std::string_view response) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  std::string text(
      response.substr(response.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0));
  if (const std::size_t final = text.rfind(kFinal); final != std::string::npos) {
    text.erase(0, final + kFinal.size());
  } else if (trim(text).starts_with(kChannel)) {
    return {};  // cut off before its answer
  }
  for (const Marks& marks : kReasoning) {
    if (text.find(marks.open) != std::string::npos || text.find(marks.close) != std::string::npos) {
      text = without_reasoning(text, marks);
    }
  }
  return std::string(without_tokens(text));
}

}  // namespace hone::kernel_refine
