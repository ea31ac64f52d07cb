// Reads on, or begins again if the journal's rows were renumbered.
#include "web/followed_course.hpp"

namespace hone {

Status FollowedCourse::read_on(const JournalReader& journal) {
  const auto visit = [this](const TurnLine& turn) {
    if (!task_.empty() && turn.task != task_) return;
    unscored_ += turn.scored ? 0 : 1;
    course_.add(turn.at, turn);
  };
  HONE_ASSIGN(const bool known, journal.each_turn_after(last_, visit));
  if (known) return {};
  last_ = {};
  course_ = {};
  unscored_ = 0;
  HONE_TRY(journal.each_turn_after(last_, visit));
  return {};
}

Value FollowedCourse::value() const {
  return Value::map({{"task", task_}, {"intervals", course_.value()}, {"unscored", unscored_}});
}

}  // namespace hone
