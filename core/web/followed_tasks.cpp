// Reads on, or begins again if turns were deleted.
#include "web/followed_tasks.hpp"

#include "episode/recording.hpp"

namespace hone {

Result<bool> FollowedTasks::read_new(const JournalReader& journal) {
  const auto visit = [this](const TurnLine& turn) {
    const Result<Value> reply =
        turn.reply.empty() ? Result<Value>(Value()) : recorded_value(turn.reply);
    figures_.add(turn, episode_return(reply ? *reply : Value()));  // a damaged reply has no return
  };
  HONE_ASSIGN(const bool known, journal.each_turn_after(last_, visit, true));
  if (!known) return false;
  // Turns may be written between the two reads, so that the count is larger.
  HONE_ASSIGN(const std::int64_t count, journal.count_turns());
  return count >= last_.read;
}

Status FollowedTasks::read_on(const JournalReader& journal) {
  HONE_ASSIGN(const bool whole, read_new(journal));
  if (whole) return {};
  last_ = {};
  figures_ = {};
  HONE_TRY(read_new(journal));
  return {};
}

}  // namespace hone
