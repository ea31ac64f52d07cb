// Exports a journal's episodes as training data, for `hone export`.
#pragma once

#include "config/config.hpp"
#include "episode/training.hpp"
#include "journal/reader.hpp"
#include "terminal/terminal.hpp"

namespace hone {

/// Prints JSON Lines from the journal at config.journal.path. Returns an exit code: kExitNo if some episodes are left out,
/// because they are damaged or their environment is missing.
int export_episodes(Terminal& terminal, const Config& config, const EpisodeFilter& filter,
                    TrainingData::Form form);

}  // namespace hone
