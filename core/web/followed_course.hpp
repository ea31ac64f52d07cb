// FollowedCourse: the means over time of a journal that a server is writing.
#pragma once

#include <string>
#include <utility>

#include "base/result.hpp"
#include "journal/reader.hpp"
#include "model/value.hpp"
#include "web/time_course.hpp"

namespace hone {

/// Reads each turn once: after the first read_on(), only the turns that were written since. Memory is that of one TimeCourse.
/// Turns that are deleted from the journal still count, until the journal's rows are renumbered. One thread at a time.
///
///   FollowedCourse course("tasks/softmax");
///   HONE_TRY(course.read_on(*reader));
///   Value value = course.value();
class FollowedCourse {
 public:
  /// `task`: the full name of a task; empty: all tasks.
  explicit FollowedCourse(std::string task) : task_(std::move(task)) {}

  /// After an error, also `cancelled`, the next call goes on where this one ended.
  Status read_on(const JournalReader& journal);
  /// {"task", "intervals" (TimeCourse), "unscored"}
  Value value() const;

 private:
  const std::string task_;
  TurnPlace last_;
  TimeCourse course_;
  std::int64_t unscored_ = 0;
};

}  // namespace hone
