// Tools of an episode: their schemas for function calling, and the texts of their answers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "episode/environment.hpp"
#include "kernel_refine/kernel_refine.hpp"
#include "model/examination.hpp"
#include "model/value.hpp"

namespace hone::kernel_refine {

/// {"name", "description", "parameters": a JSON schema}, as function calling expects it. `turns`: what a use costs.
Value tool_schema(Tool tool, const std::vector<std::string>& languages, std::int64_t turns = 0);
/// The schemas of all tools with a use.
Value tool_schemas(const ToolRules& rules, const std::vector<std::string>& languages);

/// The turns that these calls cost.
std::int64_t turns_of(const ToolRules& rules, std::span<const CallFacts> calls);
/// Uses that are left, for each tool with a use: {"check": 3}. The last turn is for a submission, so a tool that costs turns
/// has at most (`turns_left` - 1) / cost uses.
Value tools_left(const ToolRules& rules, std::span<const CallFacts> calls, std::int64_t turns_left);
/// failed_precondition: the tool has no use left, or costs more turns than there are. The message has the numbers.
Status expect_use_left(Tool tool, const ToolRules& rules, std::span<const CallFacts> calls,
                       std::int64_t turns_left);

/// The answer of a tool that has facts; without a limit.
std::string facts_text(Tool tool, const Value& facts);

/// The two messages of a call as chat templates expect them: the assistant's tool call and its answer.
Value call_messages(const std::string& id, Tool tool, const Value& action, const std::string& text);

}  // namespace hone::kernel_refine
