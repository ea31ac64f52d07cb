// Computes the rewards of a journal's episodes again, for `hone rescore`.
#pragma once

#include "config/config.hpp"
#include "journal/reader.hpp"
#include "terminal/terminal.hpp"

namespace hone {

/// Scores with the configured reward, without a device, and prints a row for each episode. Returns an exit code: kExitNo if
/// the reward failed for one.
int rescore_episodes(Terminal& terminal, const Config& config, const EpisodeFilter& filter,
                     bool json);

}  // namespace hone
