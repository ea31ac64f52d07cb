// Counts the tasks of each level.
#include "integrations/kernelbench/levels.hpp"

#include <map>
#include <string_view>

#include "terminal/terminal.hpp"

namespace hone {
namespace {

constexpr std::string_view kTag = "level";

bool is_level(const std::string& tag) {
  return tag.size() > kTag.size() && tag.size() <= kTag.size() + 2 && tag.starts_with(kTag) &&
         tag.find_first_not_of("0123456789", kTag.size()) == std::string::npos;
}

}  // namespace

std::string levels_text(const std::vector<const TaskSummary*>& tasks, const std::string& dataset) {
  std::map<int, int> counts;
  for (const TaskSummary* task : tasks) {
    if (!dataset.empty() && task->dataset != dataset) continue;
    for (const std::string& tag : task->entry.tags) {
      if (is_level(tag)) ++counts[std::stoi(tag.substr(kTag.size()))];
    }
  }
  std::vector<std::string> levels;
  for (const auto& [level, count] : counts)
    levels.push_back("level" + std::to_string(level) + " (" + std::to_string(count) + ")");
  return levels.empty() ? "none" : joined(levels);
}

}  // namespace hone
