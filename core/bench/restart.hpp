// The figures of bench_journal() that need a journal with a history.
#pragma once

#include "bench/journal.hpp"

namespace hone {

/// How long steps wait while retention forgets old episodes, and how long it keeps the writer.
Status add_retention(const JournalBenchOptions& options, Value& figures);
/// How long a server takes over a journal that one which was killed left, to its first reply.
Status add_restart(const JournalBenchOptions& options, Value& figures);

}  // namespace hone
