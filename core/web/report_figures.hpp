// ReportFigures: all figures of a report about a journal, counted episode by episode.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "journal/records.hpp"
#include "model/value.hpp"
#include "web/task_figures.hpp"
#include "web/time_course.hpp"

namespace hone {

/// Memory is bounded: names after the first TaskFigures::kTasksMax of a kind are counted together as "other". One thread.
///
///   ReportFigures figures;
///   HONE_TRY(reader->each(filter, [&](const StoredEpisode& stored) { return figures.add(stored); }));
///   Value value = figures.value();
class ReportFigures {
 public:
  static constexpr std::size_t kRowsMax = 1000;  ///< of each table

  /// Counts an episode, and its turns that it does not share with its parent. invalid_argument: a reply is malformed.
  Status add(const StoredEpisode& stored);
  std::int64_t episodes() const { return episodes_; }
  /// {"episodes": {"all", "open", "ended", "closed", "reaped"}, "first_at", "last_at",
  ///  "all": {the members of a task, "best_fast_p", "tasks"},
  ///  "tasks": [{"name", "episodes", "attempts", …}], "tasks_left_out", "clients", "clients_left_out", "rewards",
  ///  "rewards_left_out", "caught": [{"class", "client", "attempts"}], "faults": [{"fault", "turns"}],
  ///  "fingerprints": [{"fingerprint", "attempts"}], "speedups": [{"from", "to", "attempts"}], "over_time"}.
  /// task_figures.hpp describes the members of tasks, clients and rewards. The most attempts come first in each list.
  Value value() const;

 private:
  struct Group {
    std::int64_t episodes = 0;
    TaskFigures::Counts counts;
  };
  using Groups = std::map<std::string, Group>;

  Status add_turn(const StoredEpisode& stored, const TurnRecord& turn,
                  const std::vector<Group*>& groups);
  void count_facts(const StoredEpisode& stored, const Value& info);
  void count_speedup(double speedup);
  Value totals() const;

  std::int64_t episodes_ = 0;
  std::map<std::string, std::int64_t> states_, faults_, fingerprints_;
  std::map<std::pair<std::string, std::string>, std::int64_t> caught_;  // class and client
  std::map<int, std::int64_t> speedups_;  // by the index of the interval
  Groups tasks_, clients_, rewards_;
  Group all_;
  TimeCourse over_time_;
  double first_at_ = 0, last_at_ = 0;
};

/// {"version", "made_at", "journals": [{"name", "filter", "damaged", …}], "comparison"}. "comparison" is nil for one journal; else
/// [{"task", "sets": [a row of "tasks", or nil, for each journal], "reward_difference", "speedup_ratio"}]. The last two are
/// lists with a value for each journal after the first, relative to the first; nil if one of the two has no value.
/// `journals`: values of ReportFigures with the members "name", "filter" and "damaged" added.
Value report_of(std::vector<Value> journals, double made_at);

}  // namespace hone
