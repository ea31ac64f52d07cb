// RefineSettings: the checked options of one episode of kernel_refine.
#pragma once

#include <string>

#include "episode/environment.hpp"
#include "kernel_refine/kernel_refine.hpp"

namespace hone::kernel_refine {

struct RefineSettings final : Settings {
  TurnRules rules;
  std::int64_t feedback_tokens = 600;
  std::string language;  ///< what code is written in; empty: any that the task offers
  std::string prompt{kZeroShot};
  std::string hardware;  ///< what the prompt says of the machine; empty: nothing
};

/// Reads a reset's options over the defaults; nil switches a rule off. Mistakes stay in the reader.
std::shared_ptr<const RefineSettings> read_settings(Fields& f, const KernelRefineOptions& defaults,
                                                    const std::vector<std::string>& languages);

/// Name and default of every option, for describe.
Value describe_settings(const KernelRefineOptions& defaults);

}  // namespace hone::kernel_refine
