// The journal's tables and their versions.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "journal/database.hpp"

namespace hone {

inline constexpr std::int64_t kSchemaVersion = 2;

/// Makes the tables in an empty file or brings older ones up to date, in one transaction.
/// failed_precondition: the file is of something else, or newer than this program.
Status prepare_schema(Database& database);
/// The same question without writing: not even an older version is accepted.
Status check_schema(Database& database);

}  // namespace hone
