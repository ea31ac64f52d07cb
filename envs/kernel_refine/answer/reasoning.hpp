// Takes a model's answer from its text: drops reasoning, chat-template tokens and invented turns.
#pragma once

#include <string>
#include <string_view>

namespace hone::kernel_refine {

/// The answer of a response. Dropped are:
/// - reasoning in <think>…</think> and similar marks. Without a closing mark it goes to the end; without an opening one,
///   which then was in the prompt, it begins at the start. A mark that a sentence only mentions stays;
/// - a header of the answer's role, and everything from the first end-of-turn token on.
std::string answer_of(std::string_view response);

}  // namespace hone::kernel_refine
