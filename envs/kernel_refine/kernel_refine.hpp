// kernel_refine: the environment in which a model refines one kernel over several turns.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "common/turns.hpp"
#include "episode/environment.hpp"
#include "model/examination.hpp"

namespace hone {

/// Form of the prompt: the task alone, or preceded by examples of other tasks with answers.
constexpr std::string_view kZeroShot = "zero_shot", kFewShot = "few_shot";
std::vector<std::string> prompt_forms();
/// Whether feedback on a timed kernel says where its time goes. With auto, it contains what the backend can report.
constexpr std::string_view kProfileOff = "off", kProfileAuto = "auto";

/// Tools of an episode. A tool that is missing has no use, or costs no turn.
struct ToolRules {
  std::map<Tool, std::int64_t> uses{};   ///< in an episode
  std::map<Tool, std::int64_t> turns{};  ///< that a use costs
};

/// Defaults of a reset's options, and limits that a reset cannot change.
struct KernelRefineOptions {
  TurnRules rules{};
  std::int64_t feedback_tokens = 600;  ///< a token is taken as 4 bytes
  std::size_t source_bytes_max = 256u << 10;
  std::size_t response_bytes_max = 1u << 20;
  std::string feedback_profile{kProfileOff};
  std::string prompt{kZeroShot};
  std::string hardware{};  ///< description of the machine in prompts; empty: none
  ToolRules tools{};
  std::filesystem::path
      own_templates{};  ///< folder with templates that replace those of `templates`; empty: none
  std::filesystem::path templates;  ///< empty: share/templates/kernel_refine of this installation
};

/// An error names the template and the line.
Result<std::unique_ptr<Environment>> make_kernel_refine(KernelRefineOptions options = {});

}  // namespace hone
