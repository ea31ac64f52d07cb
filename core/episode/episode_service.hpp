// Implementation of EpisodeService: reads requests, passes a step through environment, evaluator and reward,
// and counts.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "base/worker_pool.hpp"
#include "episode/episodes.hpp"
#include "episode/replies.hpp"
#include "episode/table.hpp"
#include "episode/task_counters.hpp"
#include "wire/requests.hpp"

namespace hone {

/// The state that evaluations in flight need when they end, even after the service is gone.
struct EpisodeState {
  EpisodeState(EpisodeLimits limits, std::function<double()> clock, Environments all,
               Journal* records)
      : now_s(clock),
        environments(std::move(all)),
        journal(records),
        table(limits, std::move(clock)) {}

  const std::function<double()> now_s;
  const Environments environments;
  Journal* const journal;  ///< may be null
  EpisodeTable table;
  TaskCounters tasks;
  std::atomic<std::uint64_t> resets{0}, steps{0}, calls{0}, repeats{0}, joins{0}, unscored{0},
      abandoned{0}, ended_early{0}, reaped{0}, closed{0};
  std::atomic<bool> refusing{false};
};

/// Opened rewards by name and configuration, shared by the episodes that use them, and closed with the last
/// of these episodes. [any thread]
class RewardCache {
 public:
  explicit RewardCache(OpenReward open) : open_(std::move(open)) {}
  Result<std::shared_ptr<const Reward>> get(const std::string& name, const Value& config);

 private:
  const OpenReward open_;
  Mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::weak_ptr<const Reward>> known_
      HONE_GUARDED_BY(mutex_);
};

/// Name and configuration of a reward. An empty name: not chosen yet.
struct RewardChoice {
  std::string name;
  Value config = Value::map();
};

/// The finished turns and calls of an episode, from which a branch is made.
struct Trunk {
  EpisodeTable::Snapshot seen;
  EpisodeRecord record;  ///< set with a journal, like `records`
  InheritedRecords records;
};

class Episodes final : public EpisodeService {
 public:
  Episodes(EpisodeOptions options, Environments environments, std::shared_ptr<const Catalog> tasks,
           Evaluator& evaluator, OpenReward rewards);

  /// Registers the episodes of the journal. Call before the first request.
  Status resume_journalled();

  Result<Value> describe(const Caller& caller, const Value& request) override;
  void reset(const Caller& caller, const Value& request, Reply reply) override;
  void step(const Caller& caller, const Value& request, double deadline_s, Progress progress,
            Reply reply) override;
  void branch(const Caller& caller, const Value& request, Reply reply) override;
  Result<Value> cancel(const Caller& caller, const Value& request) override;
  void close(const Caller& caller, const Value& request, Reply reply) override;
  Result<Value> resume(const Caller& caller, const Value& request) override;
  void renew(const Caller& caller, const std::vector<std::string>& episodes) override;
  std::size_t leave(const std::set<std::string>& connections) override;
  std::size_t reap() override;
  Value stats() const override;
  Value capabilities() const override;
  std::size_t pending() const override;
  void refuse_new_work() override;

 private:
  Status try_reset(const Caller& caller, const Value& request, const Reply& reply);
  Status try_branch(const Caller& caller, const Value& request, const Reply& reply);
  Status try_close(const Caller& caller, const Value& request, const Reply& reply);
  Result<Trunk> trunk(const Caller& caller, std::uint64_t id, const std::string& token);
  static std::optional<EpisodeTable::ResetKey> reset_key(const Caller& caller,
                                                         const std::string& key,
                                                         const Value& request);
  /// Answers a reset or a branch, once the new episode is recorded.
  void answer_new(const Episode& episode, bool repeat, std::string body, EpisodeRecord record,
                  InheritedRecords inherited, const Reply& reply);
  Result<EpisodeTable::Pinned> new_episode(const Caller& caller, const wire::ResetRequest& request,
                                           RewardChoice& reward);
  Result<EpisodeTable::Pinned> find_reset(const EpisodeTable::ResetKey& key);
  Status describe_task(const Caller& caller, const Environment& environment,
                       const wire::DescribeRequest& request, Value& described) const;
  Result<std::shared_ptr<const Task>> choose_task(const Caller& caller,
                                                  const wire::ResetRequest& request,
                                                  const Episode& episode) const;
  Status read_options(Fields& f, Episode& episode, RewardChoice& reward);
  /// Loads an episode from the journal, if only the journal holds it.
  Status reload(std::uint64_t id);
  Result<EpisodeTable::Pinned> restore(const StoredEpisode& stored);
  void record_intent(const EpisodeTable::Started& step);
  void start(const EpisodeTable::Started& step);
  void start_call(const EpisodeTable::Started& step);
  Submission submission_of(const EpisodeTable::Started& step, SubmittedCode code) const;
  /// Gives the flight its evaluation, or ends it with the evaluator's error.
  void follow(const EpisodeTable::Started& step, const Result<std::uint64_t>& evaluation);
  Evaluator::Progress progress_of(const EpisodeTable::Started& step) const;
  /// The default one where the request of this verb names none.
  Result<const Environment*> environment(std::string_view verb,
                                         const std::optional<std::string>& name) const;
  std::vector<std::string> environment_names() const;

  const EpisodeOptions options_;
  const std::shared_ptr<const Catalog> tasks_;
  Evaluator& evaluator_;
  RewardCache rewards_;
  const std::shared_ptr<EpisodeState> state_;
  /// One thread for prepare() of environments that may block, if there are any. The last member, because its
  /// jobs use the members above.
  std::unique_ptr<WorkerPool> preparer_;
};

}  // namespace hone
