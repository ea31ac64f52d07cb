// Journals with a long history, and the figures of bench_journal() about them.
#pragma once

#include "bench/journal.hpp"

namespace hone {

/// The wait of steps while retention deletes old episodes, and the time that each deletion keeps the writer
/// busy.
Status add_retention(const JournalBenchOptions& options, Value& figures);
/// The time from the start of a server to its first reply, with the journal of a killed server.
Status add_restart(const JournalBenchOptions& options, Value& figures);
/// Writes a journal with `options.episodes` episodes and `options.turns` turns. Returns the name of its last episode.
Result<std::string> write_long_journal(const JournalBenchOptions& options,
                                       const std::filesystem::path& path);

}  // namespace hone
