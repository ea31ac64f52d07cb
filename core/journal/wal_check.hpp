// Detects transactions that SQLite would silently drop from a damaged write-ahead log.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace hone {

/// Returns "" if no committed transaction is lost, else a description of the damage. /// /// SQLite reads a log up to the first frame with a wrong checksum and ignores the rest, because a power loss may leave the last transaction incomplete. But each transaction is on the disk before the next one begins. So if two or more end after a damaged frame, at least one had been confirmed. Damage of the last transaction cannot be detected. Safe while a server writes.
std::string lost_in_wal(const std::filesystem::path& database);

/// failed_precondition, with advice, if the log is damaged. Must be called before the database is opened, because that drops the damaged part.
Status expect_whole_wal(const std::filesystem::path& database);

}  // namespace hone
