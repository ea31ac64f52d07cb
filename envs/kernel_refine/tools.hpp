// Tools of an episode: their schemas for function calling, and the texts of their answers.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "episode/environment.hpp"
#include "model/examination.hpp"
#include "model/value.hpp"

namespace hone::kernel_refine {

/// Uses of each tool in an episode. A tool that is missing may not be used.
using ToolBudget = std::map<Tool, std::int64_t>;

/// {"name", "description", "parameters": a JSON schema}, as function calling expects it.
Value tool_schema(Tool tool, const std::vector<std::string>& languages);
/// The schemas of all tools with a use.
Value tool_schemas(const ToolBudget& budget, const std::vector<std::string>& languages);

/// Uses that are left, for each tool with a use: {"check": 3}.
Value tools_left(const ToolBudget& budget, std::span<const CallFacts> calls);
/// failed_precondition: the tool has no use left. The message has the uses of the episode.
Status expect_use_left(Tool tool, const ToolBudget& budget, std::span<const CallFacts> calls);

/// The answer of a tool that has facts; without a limit.
std::string facts_text(Tool tool, const Value& facts);

/// The two messages of a call as chat templates expect them: the assistant's tool call and its answer.
Value call_messages(const std::string& id, Tool tool, const Value& action, const std::string& text);

}  // namespace hone::kernel_refine
