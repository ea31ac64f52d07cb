// FollowedTasks: the figures of all tasks of a journal that a server is writing.
#pragma once

#include "base/result.hpp"
#include "journal/reader.hpp"
#include "web/task_figures.hpp"

namespace hone {

/// Reads each turn once: after the first read_on(), only the turns that were written since. If turns were deleted, it reads all
/// turns again. Memory is that of one TaskFigures. One thread at a time.
///
///   FollowedTasks tasks;
///   HONE_TRY(tasks.read_on(*reader));
///   Value value = tasks.figures().value(*reader->tasks());
class FollowedTasks {
 public:
  /// After an error, also `cancelled`, the next call goes on where this one ended.
  Status read_on(const JournalReader& journal);
  TaskFigures& figures() { return figures_; }

 private:
  /// False: turns were deleted.
  Result<bool> read_new(const JournalReader& journal);

  TurnPlace last_;
  TaskFigures figures_;
};

}  // namespace hone
