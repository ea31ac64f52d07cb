// The journal's tables and their versions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "journal/database.hpp"

namespace hone {

inline constexpr std::int64_t kSchemaVersion = 8;

/// Columns that never change, for the checksum hone_sum, which detects flipped bits. The checksum of a turn covers the hashes of its action, of its compiler output and of its reply.
inline constexpr std::string_view kEpisodeSummed =
    "id, token, seed, environment, task, task_hash, backend, group_name, client, options, reward, "
    "reward_config, reward_version, reward_hash, opened_at, reset_key, reset_body, parent, "
    "parent_turn";
inline constexpr std::string_view kTurnSummed =
    "episode, turn, turns.hash, seed, outcome, scored, speedup, reward, fingerprint, ended, at, "
    "hone_sha256(hone_unpack(reply, sent.bytes, said.bytes)), said.hash";
inline constexpr std::string_view kCallSummed =
    "episode, turn, call, calls.hash, tool, at, "
    "hone_sha256(hone_unpack(reply, sent.bytes, said.bytes)), said.hash";
/// Columns of an episode that change. A second checksum covers them and is updated with each change.
inline constexpr std::string_view kEpisodeLive[] = {
    "id",          "state",         "held",        "fingerprint", "changed_at",
    "intent_turn", "intent_action", "intent_seed", "turns"};

/// SQL conditions: an episode's row is intact; its changing columns are intact; a turn and its texts are
/// intact (over kTurnTables); a tool call and its texts are intact (over kCallTables).
std::string episode_is_summed();
std::string live_is_summed();
std::string turn_is_summed();
std::string call_is_summed();
inline constexpr const char* kTurnTables =
    " FROM turns JOIN blobs AS sent ON sent.id = turns.action "
    "LEFT JOIN blobs AS said ON said.id = turns.words ";
inline constexpr const char* kCallTables =
    " FROM calls LEFT JOIN blobs AS sent ON sent.id = calls.action "
    "LEFT JOIN blobs AS said ON said.id = calls.words ";

/// Makes the tables in an empty file or migrates older ones, in one transaction. failed_precondition: the
/// file belongs to another program, or is newer than this one.
Status prepare_schema(Database& database);
/// Checks the version without writing. Even an older version is refused.
Status check_schema(Database& database);

}  // namespace hone
