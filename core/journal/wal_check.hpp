// What SQLite would leave out of a damaged write-ahead log without a word.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace hone {

/// "" where nothing that was committed is lost, else what is wrong with the log beside the database.
///
/// SQLite reads a log up to the first frame whose sum is wrong and takes that for its end, since the
/// last transaction may be torn by a loss of power. But each one is on the disk before the next one
/// begins: where two or more have ended behind a spoilt frame, one at least had been answered for.
/// What spoils the last one is told by nothing. Safe beside a server that writes.
std::string lost_in_wal(const std::filesystem::path& database);

/// failed_precondition, with what to do, where something is. To be asked before the database is
/// opened, which drops it.
Status expect_whole_wal(const std::filesystem::path& database);

}  // namespace hone
