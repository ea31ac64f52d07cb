// Metrics of the episode service: names, units and help.
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "model/caught.hpp"
#include "server/prometheus.hpp"

namespace hone {
namespace {

/// A number of the service with its metric.
struct NumberRow {
  const char* path;  ///< keys, separated by '/'
  const char* name;
  MetricType type;
  const char* help;
  double factor = 1;
};

constexpr NumberRow kNumbers[] = {
    {"episodes/open", "hone_episodes_open", MetricType::kGauge, "Episodes that have not ended."},
    {"episodes/ended", "hone_episodes_kept", MetricType::kGauge,
     "Ended episodes whose replies are kept."},
    {"episodes/asleep", "hone_episodes_unloaded", MetricType::kGauge,
     "Episodes that are only in the journal."},
    {"episodes/opened", "hone_episodes_opened_total", MetricType::kCounter,
     "Episodes opened by a reset or a branch."},
    {"episodes/closed", "hone_episodes_closed_total", MetricType::kCounter,
     "Episodes closed by their clients."},
    {"episodes/clients", "hone_episode_clients", MetricType::kGauge, "Clients with episodes."},
    {"episodes/history_bytes", "hone_episode_history_bytes", MetricType::kGauge,
     "Size of the stored replies of all episodes."},
    {"steps/under_way", "hone_steps_in_flight", MetricType::kGauge, "Steps without a reply."},
    {"steps/done", "hone_steps_total", MetricType::kCounter, "Finished turns."},
    {"steps/unscored", "hone_steps_unscored_total", MetricType::kCounter,
     "Finished turns without a reward, because of a fault."},
    {"steps/left_open", "hone_steps_left_open_total", MetricType::kCounter,
     "Steps that ended without finishing their turn: cancelled, late or interrupted."},
    {"steps/ended_early", "hone_steps_ended_early_total", MetricType::kCounter,
     "Steps and tool calls that their clients cancelled, or whose deadlines passed, during the "
     "evaluation."},
    {"steps/repeats", "hone_requests_repeated_total", MetricType::kCounter,
     "Repeated requests that got a stored reply."},
    {"steps/joins", "hone_steps_joined_total", MetricType::kCounter,
     "Repeated steps that joined the evaluation in flight."},
    {"journal/episodes", "hone_journal_episodes_total", MetricType::kCounter,
     "Episodes written to the journal."},
    {"journal/turns", "hone_journal_turns_total", MetricType::kCounter,
     "Turns written to the journal."},
    {"journal/syncs", "hone_journal_syncs_total", MetricType::kCounter, "Syncs of the journal."},
    {"journal/failures", "hone_journal_failures_total", MetricType::kCounter,
     "Failed writes of the journal."},
    {"journal/forgotten", "hone_journal_forgotten_total", MetricType::kCounter,
     "Episodes removed from the journal."},
    {"journal/waiting", "hone_journal_queue", MetricType::kGauge, "Writes that wait."},
    {"journal/bytes", "hone_journal_bytes", MetricType::kGauge, "Size of the journal."},
    {"journal/upkeep_ms_max", "hone_journal_upkeep_seconds_max", MetricType::kGauge,
     "Longest maintenance of the journal.", 1e-3},
    {"evaluator/queue", "hone_submissions_queued", MetricType::kGauge,
     "Submissions that wait for a builder."},
    {"evaluator/pending", "hone_submissions_in_flight", MetricType::kGauge,
     "Submissions without a verdict."},
    {"evaluator/devices", "hone_devices", MetricType::kGauge, "Configured devices."},
    {"evaluator/devices_failing", "hone_devices_failing", MetricType::kGauge,
     "Devices whose judge could not be started. The others continue."},
    {"evaluator/module_processes", "hone_module_processes_total", MetricType::kCounter,
     "Processes started for submitted modules."},
    {"evaluator/counter_processes/started", "hone_counter_processes_total", MetricType::kCounter,
     "Processes started to read hardware counters."},
    {"evaluator/counter_processes/used", "hone_counter_processes_used_total", MetricType::kCounter,
     "Processes that were ready when a profile needed hardware counters."},
    {"evaluator/counter_processes/waiting", "hone_counter_processes_waiting", MetricType::kGauge,
     "Processes that wait to read hardware counters."},
    {"evaluator/build_cache/hits", "hone_build_cache_hits_total", MetricType::kCounter,
     "Hits of the build cache."},
    {"evaluator/build_cache/misses", "hone_build_cache_misses_total", MetricType::kCounter,
     "Misses of the build cache."},
    {"evaluator/build_cache/bytes", "hone_build_cache_bytes", MetricType::kGauge,
     "Size of the build cache, limited by evaluate.cache_mb."},
};

const Value* find_path(const Value& value, std::string_view path) {
  const Value* at = &value;
  while (at != nullptr && !path.empty()) {
    const std::size_t slash = path.find('/');
    at = at->is_map() ? at->find(path.substr(0, slash)) : nullptr;
    path = slash == path.npos ? "" : path.substr(slash + 1);
  }
  return at;
}

/// The map at a path, or nothing.
const Value::Map& map_at(const Value& value, std::string_view path) {
  static const Value nil;
  const Value* found = find_path(value, path);
  return map_or_empty(found != nullptr ? *found : nil);
}

double number_at(const Value& value, std::string_view path) {
  const Value* found = find_path(value, path);
  if (found == nullptr) return 0;
  if (found->is_bool()) return found->as_bool() ? 1 : 0;
  return found->is_number() ? found->as_double() : 0;
}

/// A counter for each member of a map: {"correct": 3} with the label `label`.
void write_counts(PrometheusText& text, const Value& service, std::string_view path,
                  std::string_view label) {
  for (const auto& [key, count] : map_at(service, path)) {
    if (count.is_number()) text.sample(count.as_double(), {{label, key}});
  }
}

using Buckets = std::vector<std::pair<double, double>>;

/// Cumulative counts at fixed bounds, from a map with the bounds that have counts.
Buckets at_bounds(const Value& histogram, const std::vector<double>& bounds) {
  Buckets seen;
  for (const auto& [bound, count] : map_at(histogram, "buckets"))
    if (count.is_number())
      seen.emplace_back(std::strtod(bound.c_str(), nullptr), count.as_double());
  Buckets buckets;
  std::size_t next = 0;
  double cumulative = 0;
  for (const double bound : bounds) {
    while (next < seen.size() && seen[next].first <= bound) cumulative = seen[next++].second;
    buckets.emplace_back(bound, cumulative);
  }
  return buckets;
}

void write_histogram(PrometheusText& text, const Value& histogram, Buckets buckets,
                     const PrometheusText::Labels& labels, double factor = 1) {
  for (auto& [bound, count] : buckets) bound *= factor;
  text.histogram(buckets, number_at(histogram, "sum") * factor, number_at(histogram, "count"),
                 labels);
}

/// Stages take 1 ms to 17 minutes; the bounds are those of the evaluator's counters, powers of two.
void write_stages(PrometheusText& text, const Value& service) {
  std::vector<double> bounds_ms;
  for (int n = 0; n <= 20; ++n) bounds_ms.push_back(std::exp2(n));
  text.family(
      "hone_stage_seconds", MetricType::kHistogram,
      "Time of a stage. Counts only evaluations that reached the stage and have a verdict.");
  for (const auto& [stage, histogram] : map_at(service, "evaluator/stage_ms"))
    write_histogram(text, histogram, at_bounds(histogram, bounds_ms), {{"stage", stage}}, 1e-3);
}

void write_tasks(PrometheusText& text, const Value& service) {
  const Value::Map& tasks = map_at(service, "tasks");
  text.family("hone_task_unscored_total", MetricType::kCounter,
              "Finished turns of a task without a reward. Rare tasks are counted as 'other'.");
  for (const auto& [task, of] : tasks) text.sample(number_at(of, "unscored"), {{"task", task}});
  for (const auto& [member, name, help] :
       {std::tuple("reward", "hone_task_reward", "Rewards of a task's turns."),
        std::tuple("speedup", "hone_task_speedup",
                   "Speedups of a task's correct submissions that were measured.")}) {
    text.family(name, MetricType::kHistogram, help);
    for (const auto& [task, of] : tasks) {
      const Value* histogram = of.is_map() ? of.find(member) : nullptr;
      if (histogram == nullptr) continue;
      Buckets buckets;
      for (const auto& [bound, count] : map_at(*histogram, "buckets"))
        buckets.emplace_back(std::strtod(bound.c_str(), nullptr), count.as_double());
      write_histogram(text, *histogram, std::move(buckets), {{"task", task}});
    }
  }
}

void write_devices(PrometheusText& text, const Value& service) {
  for (const auto& [key, name, help] :
       {std::tuple("evaluations", "hone_device_evaluations_total",
                   "Times that a device has evaluated a submission."),
        std::tuple("busy_s", "hone_device_busy_seconds_total",
                   "Time in which a device evaluated submissions (mean over its lanes).")}) {
    text.family(name, MetricType::kCounter, help);
    for (const auto& [device, of] : map_at(service, "evaluator/by_device"))
      text.sample(number_at(of, key), {{"device", device}});
  }
}

/// Rationale: Prometheus' increase() does not count the first value of a series, so each class starts at 0.
void write_caught(PrometheusText& text, const std::string& client, const Value::Map& counts) {
  std::map<std::string, double> all;
  for (const std::string_view kind : caught::kAll) all[std::string(kind)] = 0;
  for (const auto& [kind, count] : counts) all[kind] = count.as_double();
  for (const auto& [kind, count] : all) text.sample(count, {{"class", kind}, {"client", client}});
}

/// Counters by client: steps with a verdict, steps without one, and detected classes of cheating.
void write_clients(PrometheusText& text, const Value& service) {
  const Value::Map& clients = map_at(service, "evaluator/clients");
  for (const auto& [key, name, type, help] :
       {std::tuple("judged", "hone_judged_total", MetricType::kCounter,
                   "Steps of a client with a verdict."),
        std::tuple("unscored", "hone_unscored_total", MetricType::kCounter,
                   "Steps of a client without a verdict, because of a fault."),
        std::tuple("often_unscored", "hone_often_unscored", MetricType::kGauge,
                   "1 once a client has many steps without a verdict.")}) {
    text.family(name, type, help);
    for (const auto& [client, of] : clients) {
      if (find_path(of, key) != nullptr) text.sample(number_at(of, key), {{"client", client}});
    }
  }
  text.family("hone_caught_total", MetricType::kCounter, "Detected cheating by its class.");
  for (const auto& [client, of] : clients) write_caught(text, client, map_at(of, "caught"));
  text.family("hone_tool_caught_total", MetricType::kCounter,
              "Detected cheating in tool calls by its class.");
  for (const auto& [client, of] : clients) write_caught(text, client, map_at(of, "tool_caught"));
  for (const auto& [key, name, help] :
       {std::tuple("second_looks", "hone_confirmation_runs_total",
                   "Confirmation runs by their outcome."),
        std::tuple("tool_second_looks", "hone_tool_confirmation_runs_total",
                   "Confirmation runs of tool calls by their outcome.")}) {
    text.family(name, MetricType::kCounter, help);
    for (const auto& [client, of] : clients) {
      for (const auto& [kind, count] : map_at(of, key))
        text.sample(count.as_double(), {{"outcome", kind}, {"client", client}});
    }
  }
}

/// A path of map keys as a metric name.
std::string flat_name(std::string_view path) {
  std::string name;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += plain ? c : '_';
  }
  return name;
}

void flatten(PrometheusText& text, const std::string& path, const Value& value) {
  if (value.is_map()) {
    for (const auto& [key, member] : value.as_map()) {
      // Clients, tasks and devices are labels, never part of a name.
      if ((key != "clients" && key != "tasks" && key != "by_device") || !member.is_map())
        flatten(text, path + "_" + key, member);
    }
  } else if ((value.is_number() && std::isfinite(value.as_double())) || value.is_bool()) {
    text.family(flat_name(path), MetricType::kGauge,
                "Deprecated: use the metrics without _service_.");
    text.sample(value.is_bool() ? (value.as_bool() ? 1.0 : 0.0) : value.as_double());
  }
}

}  // namespace

void write_service_metrics(PrometheusText& text, const Value& service) {
  for (const NumberRow& row : kNumbers) {
    const Value* found = find_path(service, row.path);
    if (found == nullptr || !found->is_number()) continue;
    text.family(row.name, row.type, row.help);
    text.sample(found->as_double() * row.factor);
  }
  text.family("hone_evaluations_total", MetricType::kCounter, "Verdicts by their outcome.");
  write_counts(text, service, "evaluator/evaluations", "outcome");
  text.family("hone_faults_total", MetricType::kCounter,
              "Evaluations that ended without a verdict, by the code of the error.");
  write_counts(text, service, "evaluator/faults", "code");
  text.family("hone_tool_calls_total", MetricType::kCounter, "Tool calls with an answer.");
  write_counts(text, service, "evaluator/tools", "tool");
  text.family("hone_tool_errors_total", MetricType::kCounter,
              "Tool calls without an answer: cancelled, late or ended by a fault.");
  write_counts(text, service, "evaluator/tool_errors", "tool");
  write_stages(text, service);
  write_tasks(text, service);
  write_devices(text, service);
  write_clients(text, service);
}

void write_old_service_metrics(PrometheusText& text, const Value& service) {
  flatten(text, "hone_service", service);
  text.family("hone_second_looks_total", MetricType::kCounter,
              "Deprecated: use hone_confirmation_runs_total.");
  for (const auto& [client, of] : map_at(service, "evaluator/clients")) {
    for (const auto& [kind, count] : map_at(of, "second_looks"))
      text.sample(count.as_double(), {{"outcome", kind}, {"client", client}});
  }
}

}  // namespace hone
