// Judges the submissions of recorded episodes again, for `hone replay`.
#pragma once

#include <vector>

#include "config/config.hpp"
#include "journal/records.hpp"
#include "terminal/terminal.hpp"

namespace hone {

/// Prints a row for each turn, and each difference with its reason. Returns an exit code: 3 if a turn could not be judged.
/// The configuration's journal is not opened.
int replay_episodes(Terminal& terminal, LoadedConfig loaded, std::vector<StoredEpisode> recorded,
                    bool json);

}  // namespace hone
