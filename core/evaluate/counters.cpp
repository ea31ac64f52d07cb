// Counts outcomes, faults and stage times.
#include "evaluate/counters.hpp"

#include <cmath>
#include <utility>

#include "base/log.hpp"

namespace hone {
namespace {

// Unscored steps of a client that cause a warning. Faults of a machine are rare and affect all clients alike.
constexpr std::uint64_t kOftenLeast = 5;
constexpr double kOftenShare = 0.05;
const std::string kOthers = "(others)";  // counts clients beyond kClientsMax

/// Whether an evaluation reached a stage. StageTimes writes 0 for a stage that was not reached, or omits it. "wait"
/// may be 0 for an evaluation that reached a device, so it counts if any stage of the device does.
bool reached(const std::map<std::string, double>& stage_ms, const std::string& stage) {
  const auto took = [&stage_ms](const std::string& name) {
    const auto found = stage_ms.find(name);
    return found != stage_ms.end() && found->second > 0;
  };
  if (stage != "wait") return stage == "queue" || took(stage);
  return took("prepare") || took("load") || took("check") || took("measure") || took("wait");
}

/// The upper bound of the bucket that holds `ms`: powers of two from 1 ms.
double bucket_of(double ms) { return ms <= 1 ? 1 : std::exp2(std::ceil(std::log2(ms))); }

std::string bound_text(double bound) { return std::to_string(static_cast<std::int64_t>(bound)); }

}  // namespace

Counters::OfClient& Counters::of_client(const std::string& client) {
  const bool apart = clients_.size() < kClientsMax || clients_.count(client) > 0;
  return clients_[apart ? client : kOthers];
}

void Counters::expect(const std::string& client) {
  MutexLock lock(mutex_);
  ++of_client(client).waiting;
}

void Counters::end_wait(const std::string& client, bool cancelled) {
  auto found = clients_.find(client);
  if (found == clients_.end()) found = clients_.find(kOthers);
  if (found == clients_.end() || found->second.waiting == 0) return;
  --found->second.waiting;
  if (cancelled && found->second == OfClient{}) clients_.erase(found);
}

void Counters::count(const Result<Verdict>& result, const std::string& client) {
  MutexLock lock(mutex_);
  if (!result) ++faults_[std::string(code_name(result.error().code))];
  const bool cancelled = !result && result.error().code == Code::kCancelled;
  end_wait(client, cancelled);
  if (cancelled) return;
  OfClient& of = of_client(client);
  if (!result) {
    ++of.unscored;
    const double steps = static_cast<double>(of.judged + of.unscored);
    const bool often =
        of.unscored >= kOftenLeast && static_cast<double>(of.unscored) > kOftenShare * steps;
    if (often && !std::exchange(of.often_unscored, true)) {
      log_warning("evaluate", "client '" + client + "': " + std::to_string(of.unscored) + " of " +
                                  std::to_string(of.judged + of.unscored) +
                                  " steps have no verdict; check the log for faults, or for "
                                  "submissions that cause them");
    }
    return;
  }
  ++outcomes_[std::string(outcome_name(result->outcome))];
  ++of.judged;
  if (!result->second_look.empty()) ++of.second_looks[result->second_look];
  if (!result->caught.empty()) ++of.caught[result->caught];
  for (const auto& [stage, ms] : result->stage_ms) {
    if (!reached(result->stage_ms, stage)) continue;
    Histogram& histogram = stages_[stage];
    ++histogram.count;
    histogram.sum += ms;
    ++histogram.buckets[bucket_of(ms)];
  }
}

void Counters::count(Tool tool, const Result<Examination>& found, const std::string& client) {
  MutexLock lock(mutex_);
  ++(found ? tools_ : tool_errors_)[std::string(enum_name(tool))];
  end_wait(client, !found && found.error().code == Code::kCancelled);
  if (!found || !found->verdict) return;
  const Verdict& verdict = *found->verdict;
  if (verdict.second_look.empty() && verdict.caught.empty()) return;
  OfClient& of = of_client(client);
  if (!verdict.second_look.empty()) ++of.tool_second_looks[verdict.second_look];
  if (!verdict.caught.empty()) ++of.tool_caught[verdict.caught];
}

Value Counters::value() const {
  MutexLock lock(mutex_);
  const auto as_map = [](const std::map<std::string, std::uint64_t>& counts) {
    Value map = Value::map();
    for (const auto& [name, count] : counts) map.set(name, static_cast<std::int64_t>(count));
    return map;
  };
  Value stages = Value::map();
  for (const auto& [stage, histogram] : stages_) {
    Value buckets = Value::map();
    std::uint64_t sum = 0;
    for (const auto& [bound, count] : histogram.buckets) {
      sum += count;
      buckets.set(bound_text(bound), static_cast<std::int64_t>(sum));
    }
    stages.set(stage, Value::map({{"count", static_cast<std::int64_t>(histogram.count)},
                                  {"sum", histogram.sum},
                                  {"buckets", std::move(buckets)}}));
  }
  Value clients = Value::map();
  for (const auto& [name, of] : clients_) {
    clients.set(name, Value::map({{"judged", static_cast<std::int64_t>(of.judged)},
                                  {"second_looks", as_map(of.second_looks)},
                                  {"caught", as_map(of.caught)},
                                  {"tool_second_looks", as_map(of.tool_second_looks)},
                                  {"tool_caught", as_map(of.tool_caught)},
                                  {"unscored", static_cast<std::int64_t>(of.unscored)},
                                  {"often_unscored", of.often_unscored}}));
  }
  return Value::map({{"evaluations", as_map(outcomes_)},
                     {"tools", as_map(tools_)},
                     {"tool_errors", as_map(tool_errors_)},
                     {"faults", as_map(faults_)},
                     {"stage_ms", std::move(stages)},
                     {"clients", std::move(clients)}});
}

}  // namespace hone
