// RefineSettings: the checked options of one episode of kernel_refine.
#pragma once

#include <string>

#include "episode/environment.hpp"
#include "kernel_refine/kernel_refine.hpp"
#include "kernel_refine/tools.hpp"

namespace hone::kernel_refine {

struct RefineSettings final : Settings {
  TurnRules rules;
  std::int64_t feedback_tokens = 600;
  bool profile = false;  ///< feedback on a timed kernel says where its time goes
  std::string language;  ///< language of submissions; empty: any language of the task
  std::string prompt{kZeroShot};
  std::string hardware;  ///< description of the machine in prompts; empty: none
  ToolRules tools;

  /// Limit of a text for the model. A token is taken as 4 bytes.
  std::size_t text_bytes_max() const { return static_cast<std::size_t>(feedback_tokens) * 4; }
};

/// Reads a reset's options over the defaults; nil switches a rule off. Mistakes are recorded in the reader.
std::shared_ptr<const RefineSettings> read_settings(Fields& f, const KernelRefineOptions& defaults,
                                                    const std::vector<std::string>& languages);

/// Name and default of every option, for describe.
Value describe_settings(const KernelRefineOptions& defaults);

}  // namespace hone::kernel_refine
