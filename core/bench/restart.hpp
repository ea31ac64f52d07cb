// The figures of bench_journal() about a journal with a long history.
#pragma once

#include "bench/journal.hpp"

namespace hone {

/// The wait of steps while retention deletes old episodes, and the time that each deletion keeps the writer
/// busy.
Status add_retention(const JournalBenchOptions& options, Value& figures);
/// The time from the start of a server to its first reply, with the journal of a killed server.
Status add_restart(const JournalBenchOptions& options, Value& figures);

}  // namespace hone
