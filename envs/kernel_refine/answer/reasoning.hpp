// What of a model's text is its answer: without reasoning, chat templates' tokens and turns that it made up.
#pragma once

#include <string>
#include <string_view>

namespace hone::kernel_refine {

/// The answer of a response. Dropped are:
/// - reasoning in <think>…</think> and its like; an opening that is never closed goes to the end, and text before a lone
///   closing is reasoning too (its opening stood in the prompt). A mark that a sentence only mentions stays;
/// - a header of the answer's role, and all from the first end-of-turn token on.
std::string answer_of(std::string_view response);

}  // namespace hone::kernel_refine
