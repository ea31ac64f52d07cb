// Episodes of a journal by name, and errors for names that it does not have.
#pragma once

#include <string>

#include "journal/reader.hpp"

namespace hone {

/// The next step after an error of this journal: how to write one, or nothing if the file exists.
std::string how_to_write_a_journal(const std::string& path);

/// not_found, with the nearest name, if the journal has no such task, client, group or reward.
Status expect_names(const JournalReader& reader, const EpisodeFilter& filter);
/// Explains a filter that matches no episode: expect_names(), then it logs a warning and succeeds.
Status explain_no_match(const JournalReader& reader, const EpisodeFilter& filter);

/// The episode of this name; not_found if the journal has none.
Result<StoredEpisode> find_episode(const JournalReader& reader, const std::string& name);
}  // namespace hone
