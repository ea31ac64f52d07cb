// Reads a journal for the web page.
#include "web/episode_pages.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/clock.hpp"
#include "episode/episode.hpp"
#include "episode/recording.hpp"
#include "model/verdict.hpp"
#include "web/task_figures.hpp"

namespace hone {
namespace {

constexpr std::int64_t kPageDefault = 50, kPageMax = 200;
constexpr std::size_t kTextMax = 256;  // of a value in a query

/// "1795819129.073648_5b9498a288e976bc": the position of an episode in a list.
std::string position_text(const EpisodeLine& line) {
  char time[40];
  std::snprintf(time, sizeof time, "%.17g", line.opened_at);
  return std::string(time) + "_" + episode_name(line.id);
}

Result<EpisodeFilter::Position> parse_position(const std::string& text) {
  EpisodeFilter::Position position;
  const std::size_t line = text.find('_');
  char* end = nullptr;
  if (line != std::string::npos) {
    position.opened_at = std::strtod(text.c_str(), &end);
    position.id = episode_number(std::string_view(text).substr(line + 1));
  }
  if (position.id == 0 || end != text.c_str() + line || !std::isfinite(position.opened_at))
    return invalid_argument("after: found '" + text + "', expected 'next' of an earlier page");
  return position;
}

Result<std::int64_t> parse_limit(const std::string& text) {
  std::int64_t limit = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, limit);
  if (error == std::errc() && stop == end && limit >= 1 && limit <= kPageMax) return limit;
  return invalid_argument("limit: found '" + text + "', expected an integer from 1 to " +
                          std::to_string(kPageMax));
}

Result<RecordState> parse_state(const std::string& text) {
  for (const RecordState one :
       {RecordState::kOpen, RecordState::kEnded, RecordState::kClosed, RecordState::kReaped}) {
    if (text == record_state_name(one)) return one;
  }
  return invalid_argument("state: found '" + text + "', expected open, ended, closed or reaped");
}

Result<std::string> parse_outcome_filter(const std::string& text) {
  if (parse_outcome(text)) return text;
  return invalid_argument("outcome: " + unknown_enum<Outcome>(text));
}

Status check_length(const std::string& name, const std::string& value) {
  if (value.size() <= kTextMax) return {};
  return invalid_argument(name + ": found " + std::to_string(value.size()) +
                          " characters, expected at most " + std::to_string(kTextMax));
}

/// Unknown names are ignored, because a newer page may send them.
Result<EpisodeFilter> filter_of(const EpisodePages::Query& query) {
  EpisodeFilter filter;
  filter.limit = kPageDefault;
  for (const auto& [name, value] : query) {
    if (value.empty()) continue;
    HONE_TRY(check_length(name, value));
    if (name == "search") filter.search = value;
    if (name == "task") filter.task = value;
    if (name == "client") filter.client = value;
    if (name == "group") filter.group = value;
    if (name == "outcome") {
      HONE_ASSIGN(filter.outcome, parse_outcome_filter(value));
    }
    if (name == "state") {
      HONE_ASSIGN(filter.state, parse_state(value));
    }
    if (name == "limit") {
      HONE_ASSIGN(filter.limit, parse_limit(value));
    }
    if (name == "after") {
      HONE_ASSIGN(filter.after, parse_position(value));
    }
  }
  return filter;
}

Value row_of(const EpisodeLine& line) {
  return Value::map({{"episode", episode_name(line.id)},
                     {"task", line.task},
                     {"client", line.client},
                     {"group", line.group.empty() ? Value() : Value(line.group)},
                     {"state", std::string(record_state_name(line.state))},
                     {"turns", line.turns},
                     {"best_speedup", line.best_speedup},
                     {"last_reward", line.last_reward},
                     {"reward", line.reward},
                     {"opened_at", line.opened_at},
                     {"changed_at", line.changed_at}});
}

/// The index of the first message that is not part of the prompt.
std::size_t prompt_end(const Value& trajectory, std::size_t messages) {
  std::size_t end = messages;
  for (const char* list : {"turns", "calls"}) {
    const Value* found = trajectory.find(list);
    if (found == nullptr || !found->is_array() || found->as_array().empty()) continue;
    const Value* at = found->as_array().front().find("message");
    if (at != nullptr && at->is_int()) end = std::min(end, static_cast<std::size_t>(at->as_int()));
  }
  return end;
}

/// A page needs no conversation, because each turn has its action and its feedback.
Value without_conversation(const Value& trajectory) {
  Value page = Value::map(), prompt = Value::array();
  for (const auto& [key, value] : trajectory.as_map()) {
    if (key != "messages") {
      // Rationale: JavaScript has no integers of 64 bits.
      page.set(key,
               key == "seed" && value.is_int() ? Value(std::to_string(value.as_int())) : value);
    } else if (value.is_array()) {
      const Value::Array& all = value.as_array();
      const std::size_t end = prompt_end(trajectory, all.size());
      for (std::size_t i = 0; i < end; ++i) prompt.push(all[i]);
    }
  }
  page.set("prompt", std::move(prompt));
  return page;
}

/// Nil for no reply, and for a damaged one.
Value value_of(const std::string& reply) {
  const Result<Value> value = reply.empty() ? Result<Value>(Value()) : recorded_value(reply);
  return value ? *value : Value();
}

/// The reply to /api/tasks.
Result<Value> tasks_value(TaskFigures& figures, const JournalReader& reader,
                          const EpisodeFilter& filter) {
  HONE_TRY(figures.read_intervals(
      [&](std::uint64_t episode, std::int64_t turn) -> Result<std::pair<double, double>> {
        const auto reply = reader.reply(episode, turn);
        if (!reply && reply.error().code == Code::kCancelled) return reply.error();
        // A damaged reply must not hide the figures of all tasks.
        return speedup_interval(reply ? value_of(*reply) : Value());
      }));
  HONE_ASSIGN(const std::vector<TaskLine> episodes, reader.tasks(filter));
  Value tasks = figures.value(episodes);
  tasks.set("at", wall_s());
  return tasks;
}

/// The task of this journal whose name ends with "/" and `id`, among the 1000 most frequent ones; empty if there is none.
Result<std::string> full_task_name(const JournalReader& reader, const std::string& id) {
  HONE_ASSIGN(std::vector<std::string> tasks, reader.names(JournalReader::Name::kTask));
  std::erase_if(tasks, [&id](const std::string& task) { return !task.ends_with("/" + id); });
  if (tasks.size() > 1) {
    return invalid_argument("task: found '" + id + "', expected " + tasks[0] + " or " + tasks[1] +
                            (tasks.size() > 2 ? ", or another task of this name" : ""));
  }
  return tasks.empty() ? std::string() : tasks[0];
}

}  // namespace

EpisodePages::EpisodePages(std::string path, Trajectory trajectory)
    : path_(std::move(path)), trajectory_(std::move(trajectory)) {}

Status EpisodePages::check() const {
  HONE_ASSIGN(const auto reader, JournalReader::open(path_));
  EpisodeFilter first;
  first.limit = 1;
  HONE_TRY(reader->list(first));
  return {};
}

Result<std::unique_ptr<JournalReader>> EpisodePages::open(const Gone& gone) const {
  HONE_ASSIGN(auto reader, JournalReader::open(path_));
  reader->stop_when([this, gone] { return stopping_ || gone(); });
  return reader;
}

Result<Value> EpisodePages::tasks(const Query& query, const Gone& gone) const {
  EpisodeFilter filter;
  for (const auto& [name, value] : query) {
    HONE_TRY(check_length(name, value));
    if (name == "client") filter.client = value;
    if (name == "reward") filter.reward = value;
  }
  return tasks_.get({filter.client, filter.reward}, gone, [&] { return read_tasks(filter, gone); });
}

Result<Value> EpisodePages::read_tasks(const EpisodeFilter& filter, const Gone& gone) const {
  HONE_ASSIGN(const auto reader, open(gone));
  if (filter.client.empty() && filter.reward.empty()) {
    HONE_TRY(followed_tasks_.read_on(*reader));
    return tasks_value(followed_tasks_.figures(), *reader, filter);
  }
  TaskFigures figures;
  HONE_TRY(reader->each_turn(
      [&figures](const TurnLine& turn) {
        figures.add(turn, episode_return(value_of(turn.reply)));
        return true;
      },
      filter, true));
  return tasks_value(figures, *reader, filter);
}

Result<Value> EpisodePages::over_time(const Query& query, const Gone& gone) const {
  std::string task;
  for (const auto& [name, value] : query) {
    HONE_TRY(check_length(name, value));
    if (name == "task") task = value;
  }
  return over_time_.get({task, ""}, gone, [&]() -> Result<Value> {
    HONE_ASSIGN(const auto reader, open(gone));
    const std::shared_ptr<FollowedCourse> course = course_of(task);
    HONE_TRY(course->read_on(*reader));
    Value value = course->value();
    value.set("at", wall_s());
    return value;
  });
}

std::shared_ptr<FollowedCourse> EpisodePages::course_of(const std::string& task) const {
  MutexLock lock(courses_mutex_);
  Course& course = courses_[task];
  if (course.followed == nullptr) course.followed = std::make_shared<FollowedCourse>(task);
  course.used = ++requests_;
  std::shared_ptr<FollowedCourse> followed = course.followed;
  if (courses_.size() > FigureCache::kKeptMax) {
    // Rationale: the course of all tasks is on every live view, so it is kept.
    const auto rank = [](const auto& one) { return std::pair(one.first.empty(), one.second.used); };
    courses_.erase(
        std::min_element(courses_.begin(), courses_.end(),
                         [&rank](const auto& a, const auto& b) { return rank(a) < rank(b); }));
  }
  return followed;
}

Result<Value> EpisodePages::names(const Gone& gone) const {
  HONE_ASSIGN(const auto reader, open(gone));
  Value lists = Value::map();
  for (const auto& [key, which] : {std::pair("clients", JournalReader::Name::kClient),
                                   std::pair("rewards", JournalReader::Name::kReward),
                                   std::pair("tasks", JournalReader::Name::kTask)}) {
    HONE_ASSIGN(const std::vector<std::string> found, reader->names(which));
    lists.set(key, texts_value(found));
  }
  return lists;
}

Result<Value> EpisodePages::list(const Query& query, const Gone& gone) const {
  HONE_ASSIGN(EpisodeFilter filter, filter_of(query));
  const std::int64_t limit = filter.limit++;  // one more shows whether there is another page
  HONE_ASSIGN(const auto reader, open(gone));
  HONE_ASSIGN(std::vector<EpisodeLine> lines, reader->list(filter));
  if (lines.empty() && !filter.task.empty() && filter.task.find('/') == std::string::npos) {
    EpisodeFilter exactly;
    exactly.task = filter.task;
    exactly.limit = 1;
    HONE_ASSIGN(const std::vector<EpisodeLine> exact, reader->list(exactly));
    if (exact.empty()) {
      HONE_ASSIGN(filter.task, full_task_name(*reader, filter.task));
    }
    if (exact.empty() && !filter.task.empty()) {
      HONE_ASSIGN(lines, reader->list(filter));
    }
  }
  Value next;
  if (static_cast<std::int64_t>(lines.size()) > limit) {
    lines.pop_back();
    next = position_text(lines.back());
  }
  Value episodes = Value::array();
  for (const EpisodeLine& line : lines) episodes.push(row_of(line));
  return Value::map({{"episodes", std::move(episodes)}, {"next", std::move(next)}});
}

Result<Value> EpisodePages::episode(std::string_view name) const {
  const std::uint64_t id = episode_number(name);
  if (id == 0 && name != episode_name(0)) {
    return invalid_argument("found '" + std::string(name.substr(0, kTextMax)) +
                            "', expected an episode's name: 16 hexadecimal digits");
  }
  HONE_ASSIGN(const auto reader, JournalReader::open(path_));
  HONE_ASSIGN(const std::optional<StoredEpisode> stored, reader->episode(id));
  if (!stored) return not_found("the journal has no episode " + std::string(name));
  MutexLock lock(trajectory_mutex_);
  HONE_ASSIGN(const Value trajectory, trajectory_(*stored));
  return without_conversation(trajectory);
}

}  // namespace hone
