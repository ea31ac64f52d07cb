// The journal's tables and their versions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "journal/database.hpp"

namespace hone {

inline constexpr std::int64_t kSchemaVersion = 6;

/// Columns that never change, for the checksum hone_sum, which detects flipped bits. The checksum of a turn covers the hashes of its action, of its compiler output and of its reply.
inline constexpr std::string_view kEpisodeSummed =
    "id, token, seed, environment, task, task_hash, backend, group_name, client, options, reward, "
    "reward_config, reward_version, reward_hash, opened_at, reset_key, reset_body, parent, "
    "parent_turn";
inline constexpr std::string_view kTurnSummed =
    "episode, turn, turns.hash, seed, outcome, scored, speedup, reward, fingerprint, ended, at, "
    "hone_sha256(hone_unpack(reply, sent.bytes, said.bytes)), said.hash";
/// Columns of an episode that change, for a second checksum that is updated with each change.
inline constexpr std::string_view kEpisodeLive[] = {
    "id",          "state",         "held",        "fingerprint", "changed_at",
    "intent_turn", "intent_action", "intent_seed", "turns"};

/// Conditions: an episode's row, or what changes in it alone, is what was stored; and a turn's with
/// its texts, over kTurnTables.
std::string episode_is_summed();
std::string live_is_summed();
std::string turn_is_summed();
inline constexpr const char* kTurnTables =
    " FROM turns JOIN blobs AS sent ON sent.id = turns.action "
    "LEFT JOIN blobs AS said ON said.id = turns.words ";

/// Makes the tables in an empty file or brings older ones up to date, in one transaction.
/// failed_precondition: the file is of something else, or newer than this program.
Status prepare_schema(Database& database);
/// The same question without writing: not even an older version is accepted.
Status check_schema(Database& database);

}  // namespace hone
