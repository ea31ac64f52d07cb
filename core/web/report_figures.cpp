// Reads the replies of turns, and makes tables of the counts.
#include "web/report_figures.hpp"

#include <algorithm>
#include <cmath>

#include "base/utf8.hpp"
#include "episode/episode.hpp"
#include "episode/recording.hpp"
#include "hone/version.h"
#include "model/verdict.hpp"

namespace hone {
namespace {

constexpr std::size_t kNamesMax = 1000;   // of faults, fingerprints, and pairs of class and client
constexpr std::size_t kFaultBytes = 200;  // of a fault's text
constexpr std::size_t kKeptNameBytes = 512;  // of a name; the rest is cut off
constexpr std::size_t kListed = 100;         // rows of the lists of faults, fingerprints and cheats
constexpr int kIntervalsPerOctave = 4;       // of speedups
constexpr int kOctavesMax = 10;  // speedups beyond 2^10 or below 2^-10 are in the last interval
constexpr const char* kOther = "other";

/// The entry of a name, or that of `other` if the map is full and does not have the name.
template <typename Map>
typename Map::mapped_type& entry(Map& map, const typename Map::key_type& name, std::size_t max,
                                 const typename Map::key_type& other) {
  return map[map.size() < max || map.count(name) != 0 ? name : other];
}

/// The entries with the largest counts first.
template <typename Map, typename Count>
std::vector<const typename Map::value_type*> most_first(const Map& map, Count count) {
  std::vector<const typename Map::value_type*> order;
  for (const auto& one : map) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
    return count(a->second) > count(b->second);
  });
  return order;
}

/// Rows of the largest counts, and one row of all the others together. `row`: makes one from a name and a count.
template <typename Map, typename Row>
Value listed(const Map& counts, const typename Map::key_type& other, Row row) {
  Value list = Value::array();
  std::int64_t others = 0;
  for (const auto* one : most_first(counts, [](std::int64_t n) { return n; })) {
    if (list.as_array().size() < kListed) {
      list.push(row(one->first, one->second));
    } else {
      others += one->second;
    }
  }
  if (others > 0) list.push(row(other, others));
  return list;
}

Value counted(const std::map<std::string, std::int64_t>& counts, const char* name,
              const char* unit) {
  return listed(counts, kOther, [&](const std::string& one, std::int64_t count) {
    return Value::map({{name, one}, {unit, count}});
  });
}

template <typename Groups>
Value rows_of(const Groups& groups) {
  Value rows = Value::array();
  for (const auto* one : most_first(groups, [](const auto& g) { return g.counts.sums.attempts; })) {
    if (rows.as_array().size() == ReportFigures::kRowsMax) break;
    Value row = Value::map({{"name", one->first}, {"episodes", one->second.episodes}});
    const Value counts = one->second.counts.value();
    for (const auto& [key, value] : counts.as_map()) row.set(key, value);
    rows.push(std::move(row));
  }
  return rows;
}

/// `other` minus `first`, or `other` / `first`; nil if one is not a number.
Value relative(const Value& first, const Value& other, bool ratio) {
  if (!first.is_number() || !other.is_number()) return {};
  const double a = first.as_double(), b = other.as_double();
  if (!ratio) return b - a;
  return a > 0 ? Value(b / a) : Value();
}

}  // namespace

Status ReportFigures::add(const StoredEpisode& stored) {
  const EpisodeRecord& record = stored.record;
  constexpr std::size_t kMax = TaskFigures::kTasksMax;
  const std::vector<Group*> groups = {&all_, &entry(tasks_, record.task, kMax, kOther),
                                      &entry(clients_, record.client, kMax, kOther),
                                      &entry(rewards_, record.reward, kMax, kOther)};
  if (episodes_++ == 0) first_at_ = last_at_ = record.opened_at;
  first_at_ = std::min(first_at_, record.opened_at);
  last_at_ = std::max(last_at_, stored.changed_at);
  ++states_[std::string(record_state_name(stored.state))];
  for (Group* group : groups) ++group->episodes;
  for (const TurnRecord& turn : stored.turns) {
    if (record.parent != 0 && turn.turn <= record.parent_turn) continue;  // counted for the parent
    HONE_TRY(add_turn(stored, turn, groups));
  }
  return {};
}

Status ReportFigures::add_turn(const StoredEpisode& stored, const TurnRecord& turn,
                               const std::vector<Group*>& groups) {
  const auto reply = recorded_value(*turn.reply);
  if (!reply) return reply.error().in("episode " + episode_name(stored.record.id));
  const Value& info = member_or_nil(*reply, "info");
  const auto [low, high] = speedup_interval(*reply);
  const TurnLine line{stored.record.task, turn.outcome, turn.scored, turn.speedup,
                      turn.reward,        low,          high};
  for (Group* group : groups) {
    group->counts.add(line);
    if (turn.ended) group->counts.add_return(episode_return(*reply));
  }
  over_time_.add(turn.at, line);
  if (line.scored && line.outcome == outcome_name(Outcome::kCorrect)) count_speedup(line.speedup);
  count_facts(stored, info);
  return {};
}

void ReportFigures::count_facts(const StoredEpisode& stored, const Value& info) {
  const Value& verdict = member_or_nil(info, "verdict");
  if (const std::string fault = text_or_empty(member_or_nil(info, "fault")); !fault.empty())
    ++entry(faults_, cut_end(fault, kFaultBytes), kNamesMax, kOther);
  if (const std::string print = text_or_empty(member_or_nil(verdict, "fingerprint"));
      !print.empty())
    ++entry(fingerprints_, cut_end(print, kKeptNameBytes), kNamesMax, kOther);
  if (const std::string what = text_or_empty(member_or_nil(verdict, "caught")); !what.empty())
    ++entry(caught_, {cut_end(what, kKeptNameBytes), cut_end(stored.record.client, kKeptNameBytes)},
            kNamesMax, {kOther, kOther});
}

void ReportFigures::count_speedup(double speedup) {
  if (!std::isfinite(speedup) || speedup <= 0) return;
  constexpr double kMax = kOctavesMax * kIntervalsPerOctave;
  const double place = std::floor(std::log2(speedup) * kIntervalsPerOctave);
  ++speedups_[static_cast<int>(std::clamp(place, -kMax, kMax))];
}

Value ReportFigures::totals() const {
  Value totals = all_.counts.value();
  Value best = Value::map();
  const Value& fast_p = member_or_nil(totals, "fast_p");
  for (std::size_t i = 0; i < TaskFigures::kThresholds.size(); ++i) {
    std::int64_t faster = 0;
    for (const auto& [name, group] : tasks_)
      faster += group.counts.best_speedup > TaskFigures::kThresholds[i];
    best.set(fast_p.as_map()[i].first,
             mean_value(static_cast<double>(faster), static_cast<std::int64_t>(tasks_.size())));
  }
  totals.set("best_fast_p", std::move(best));
  totals.set("tasks", tasks_.size());
  return totals;
}

Value ReportFigures::value() const {
  Value states = Value::map({{"all", episodes_}});
  for (const RecordState one :
       {RecordState::kOpen, RecordState::kEnded, RecordState::kClosed, RecordState::kReaped}) {
    const auto found = states_.find(std::string(record_state_name(one)));
    states.set(record_state_name(one), found != states_.end() ? found->second : 0);
  }
  Value caught = listed(caught_, {kOther, kOther}, [](const auto& names, std::int64_t attempts) {
    return Value::map({{"class", names.first}, {"client", names.second}, {"attempts", attempts}});
  });
  Value speedups = Value::array();
  for (const auto& [place, count] : speedups_) {
    const auto edge = [](int at) {
      return std::exp2(static_cast<double>(at) / kIntervalsPerOctave);
    };
    speedups.push(
        Value::map({{"from", edge(place)}, {"to", edge(place + 1)}, {"attempts", count}}));
  }
  Value value = Value::map({{"episodes", std::move(states)},
                            {"first_at", episodes_ > 0 ? Value(first_at_) : Value()},
                            {"last_at", episodes_ > 0 ? Value(last_at_) : Value()},
                            {"all", totals()}});
  for (const auto& [name, groups] : {std::pair("tasks", &tasks_), std::pair("clients", &clients_),
                                     std::pair("rewards", &rewards_)}) {
    value.set(name, rows_of(*groups));
    value.set(std::string(name) + "_left_out", groups->size() - std::min(groups->size(), kRowsMax));
  }
  value.set("caught", std::move(caught));
  value.set("faults", counted(faults_, "fault", "turns"));
  value.set("fingerprints", counted(fingerprints_, "fingerprint", "attempts"));
  value.set("speedups", std::move(speedups));
  value.set("over_time", over_time_.value());
  return value;
}

namespace {

struct Compared {
  std::vector<Value> sets;
  std::int64_t attempts = 0;
};

/// `left_out`: the number of tasks beyond the limit.
Value comparison_of(const std::vector<Value>& journals, std::int64_t& left_out) {
  std::map<std::string, Compared> tasks;
  for (std::size_t i = 0; i < journals.size(); ++i) {
    const Value& rows = member_or_nil(journals[i], "tasks");
    for (const Value& row : rows.as_array()) {
      Compared& task = tasks[text_or_empty(member_or_nil(row, "name"))];
      task.sets.resize(journals.size());
      task.sets[i] = row;
      task.attempts += member_or_nil(row, "attempts").as_int();
    }
  }
  left_out =
      static_cast<std::int64_t>(tasks.size() - std::min(tasks.size(), ReportFigures::kRowsMax));
  Value list = Value::array();
  for (const auto* one : most_first(tasks, [](const Compared& task) { return task.attempts; })) {
    if (list.as_array().size() == ReportFigures::kRowsMax) break;
    const std::vector<Value>& sets = one->second.sets;
    Value rewards = Value::array(), speedups = Value::array();
    for (std::size_t i = 1; i < sets.size(); ++i) {
      rewards.push(relative(member_or_nil(sets[0], "reward_mean"),
                            member_or_nil(sets[i], "reward_mean"), false));
      speedups.push(relative(member_or_nil(sets[0], "best_speedup"),
                             member_or_nil(sets[i], "best_speedup"), true));
    }
    list.push(Value::map({{"task", one->first},
                          {"sets", Value::Array(sets.begin(), sets.end())},
                          {"reward_difference", std::move(rewards)},
                          {"speedup_ratio", std::move(speedups)}}));
  }
  return list;
}

}  // namespace

Value report_of(std::vector<Value> journals, double made_at) {
  std::int64_t left_out = 0;
  Value comparison = journals.size() > 1 ? comparison_of(journals, left_out) : Value();
  return Value::map({{"version", HONE_VERSION_STRING},
                     {"made_at", made_at},
                     {"journals", Value::Array(journals.begin(), journals.end())},
                     {"comparison", std::move(comparison)},
                     {"comparison_left_out", left_out}});
}

}  // namespace hone
