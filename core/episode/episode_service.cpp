// Steps, and the other requests about an open episode: cancel, close, resume, leases, counters.
#include "episode/episode_service.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/assert.hpp"
#include "base/crypto.hpp"
#include "base/log.hpp"
#include "episode/recording.hpp"

namespace hone {
namespace {

using Started = EpisodeTable::Started;

void answer(const std::vector<Waiter>& waiters, const Result<std::string>& body) {
  for (const Waiter& waiter : waiters) waiter.reply(body);
}

void abandon(EpisodeState& state, const Started& step, const Error& error) {
  ++state.abandoned;
  answer(state.table.abandon(step), error);
}

/// "turn 2: correct, speedup 1.3, reward 0.6; ended"
void log_turn(const Started& step, const CompletedTurn& done) {
  if (!log_wanted(LogLevel::kInfo)) return;
  const TurnFacts& facts = done.facts;
  std::string text = "turn " + std::to_string(step.flight->turn) + ": " +
                     (facts.scored ? facts.outcome : "not scored");
  const auto add = [&text](const char* what, double number) {
    if (!std::isnan(number)) text += std::string(", ") + what + " " + to_json(Value(number));
  };
  add("speedup", facts.speedup);
  add("reward", facts.reward);
  log_info("episode " + step.episode->name(), text + (done.ended ? "; ended" : ""));
}

/// A turn is complete once it is recorded. Until then its step is in flight.
void finish(const std::shared_ptr<EpisodeState>& state, const Started& step, TurnResult result) {
  CompletedTurn turn =
      complete_turn(*step.episode, *step.flight, std::move(result), state->now_s());
  TurnRecord record;
  if (state->journal != nullptr) record = record_of(*step.episode, *step.flight, turn);
  auto recorded = [state, step, turn = std::move(turn)](const Status& done) {
    if (!done) return abandon(*state, step, done.error());
    ++state->steps;
    log_turn(step, turn);
    if (!turn.facts.scored) ++state->unscored;
    answer(state->table.end(step, turn.facts, turn.reply, turn.ended, turn.fingerprint),
           *turn.reply);
  };
  if (state->journal == nullptr) return recorded({});
  state->journal->add(std::move(record), std::move(recorded));
}

/// Whether the server's shutdown may have ended the step. Rationale: a service manager sends SIGTERM to all
/// processes of a server, the submission's included. Then neither the submission nor a fault ended the step.
bool ended_with_the_server(const EpisodeState& state, const Result<Verdict>& verdict) {
  return state.refusing && (!verdict || verdict->signal == "SIGTERM");
}

/// Ends a step with the evaluator's result. A deadline, a cancellation or the server's shutdown leaves
/// the turn open. A fault closes it, unscored.
void conclude(const std::shared_ptr<EpisodeState>& state, const Started& step,
              Result<Verdict> verdict) {
  if (state->table.settle(step)) {
    return abandon(*state, step,
                   {Code::kCancelled,
                    "the step was cancelled; unless the episode was closed, its turn stays open"});
  }
  if (ended_with_the_server(*state, verdict)) {
    return abandon(*state, step, unavailable("the server is shutting down; the turn stays open"));
  }
  if (verdict) return finish(state, step, {std::move(*verdict), {}, {}});
  const Code code = verdict.error().code;
  if (code == Code::kCancelled || code == Code::kDeadlineExceeded) {
    return abandon(*state, step, verdict.error());
  }
  finish(state, step, {std::nullopt, verdict.error().message, {}});
}

}  // namespace

Episodes::Episodes(EpisodeOptions options, Environments environments,
                   std::shared_ptr<const Catalog> tasks, Evaluator& evaluator, OpenReward rewards)
    : options_(std::move(options)),
      tasks_(std::move(tasks)),
      evaluator_(evaluator),
      rewards_(std::move(rewards)),
      state_(std::make_shared<EpisodeState>(options_.limits, options_.now_s,
                                            std::move(environments), options_.journal)) {
  HONE_ASSERT(!state_->environments.empty() && !options_.backends.empty());
  const bool may_wait = std::any_of(state_->environments.begin(), state_->environments.end(),
                                    [](const auto& one) { return one->may_wait(); });
  if (may_wait) preparer_ = std::make_unique<WorkerPool>(1, SIZE_MAX);
}

void Episodes::step(const Caller& caller, const Value& request, double deadline_s,
                    Progress progress, Reply reply) {
  auto read = wire::read_request<wire::StepRequest>(request);
  if (!read) return reply(read.error());
  const std::uint64_t id = episode_number(read->episode);
  auto flight = std::make_shared<Flight>();
  flight->turn = read->turn;
  flight->action = std::move(read->action);
  flight->bytes = std::make_shared<const std::string>(to_msgpack(flight->action));
  flight->hash = sha256(*flight->bytes);
  flight->seed = random_u64();
  flight->deadline_s = deadline_s;

  if (Status awake = reload(id); !awake) return reply(awake.error());
  auto begun = state_->table.begin(caller, id, std::move(flight), {reply, std::move(progress)},
                                   state_->refusing);
  if (!begun) return reply(begun.error());
  if (const auto* stored = std::get_if<EpisodeTable::Body>(&*begun)) {
    ++state_->repeats;
    return reply(**stored);
  }
  if (std::holds_alternative<EpisodeTable::Joined>(*begun)) {
    ++state_->joins;
    return;
  }
  const Started& step = std::get<Started>(*begun);
  if (state_->journal != nullptr) record_intent(step);
  if (!step.episode->environment->may_wait()) return start(step);
  const bool taken = preparer_->submit([this, step] { start(step); });
  HONE_ASSERT(taken);
}

/// A step that an earlier server began gets the secret inputs that this server drew.
void Episodes::record_intent(const Started& step) {
  const IntentRecord* former = step.episode->intent.get();
  if (former != nullptr && former->turn == step.flight->turn &&
      former->action == step.flight->hash) {
    step.flight->seed = former->seed;
  } else {
    state_->journal->add(intent_of(*step.episode, *step.flight));
  }
}

void Episodes::start(const Started& step) {
  const Episode& episode = *step.episode;
  const EpisodeView view = episode.view(episode.facts, state_->now_s());
  Result<Prepared> prepared = episode.environment->prepare(view, step.flight->action);
  if (!prepared) return abandon(*state_, step, prepared.error());
  if (auto* verdict = std::get_if<Verdict>(&*prepared)) {
    return conclude(state_, step, std::move(*verdict));
  }
  auto& candidate = std::get<SubmittedCode>(*prepared);
  Submission submission;
  submission.task = episode.task;
  submission.backend = episode.backend;
  submission.language = std::move(candidate.language);
  submission.source = std::move(candidate.source);
  submission.client = episode.client;
  submission.episode = episode.name();
  submission.group = episode.group;
  submission.seed = step.flight->seed;
  submission.deadline_s = step.flight->deadline_s;
  const std::shared_ptr<EpisodeState> state = state_;
  const Result<std::uint64_t> evaluation = evaluator_.submit(
      std::move(submission),
      [state, step](Stage stage) {
        const Value body = Value::map({{"stage", stage_name(stage)}});
        for (const Progress& watcher : state->table.watchers(step)) watcher(body);
      },
      [state, step](Result<Verdict> verdict) { conclude(state, step, std::move(verdict)); });
  if (!evaluation) return abandon(*state_, step, evaluation.error());
  if (state_->table.submitted(step, *evaluation)) evaluator_.cancel(*evaluation);
}

Result<Value> Episodes::cancel(const Caller& caller, const Value& request) {
  HONE_ASSIGN(const auto read, wire::read_request<wire::CancelRequest>(request));
  const std::uint64_t id = episode_number(read.episode);
  HONE_TRY(reload(id));
  HONE_ASSIGN(const auto marked, state_->table.cancel(caller, id, read.turn));
  if (marked.first) evaluator_.cancel(*marked.first);
  return Value::map({{"cancelled", marked.second}});
}

void Episodes::close(const Caller& caller, const Value& request, Reply reply) {
  if (Status tried = try_close(caller, request, reply); !tried) reply(tried.error());
}

Status Episodes::try_close(const Caller& caller, const Value& request, const Reply& reply) {
  HONE_ASSIGN(const auto read, wire::read_request<wire::CloseRequest>(request));
  const std::uint64_t id = episode_number(read.episode);
  HONE_TRY(reload(id));
  const auto closed = state_->table.close(caller, id);
  if (!closed) {
    // The end of the episode may not be recorded yet.
    if (state_->journal == nullptr || closed.error().code != Code::kNotFound) return closed.error();
    state_->journal->sync([reply, gone = closed.error()](const Status& recorded) {
      reply(recorded ? gone : recorded.error());
    });
    return {};
  }
  const EpisodeTable::Snapshot& last = closed->first;
  ++state_->closed;
  log_info("episode " + last.episode->name(), "closed");
  if (closed->second) evaluator_.cancel(*closed->second);
  Result<Value> value = close_reply(last);
  const Result<std::string> body =
      value ? Result<std::string>(to_msgpack(*value)) : Result<std::string>(value.error());
  if (state_->journal == nullptr) return reply(body), Status();
  state_->journal->release(
      id, RecordState::kClosed,
      [state = state_, last, connection = caller.connection, reply, body](const Status& recorded) {
        if (recorded) return reply(body);
        // The client still owns the episode. If a step was in flight, its turn may still be recorded, and the
        // next server continues the episode.
        if (!last.pending) {
          state->table.add_unloaded(last.episode->id, last.episode->client, last.ended, connection);
        }
        reply(recorded.error());
      });
  return {};
}

Result<Value> Episodes::resume(const Caller& caller, const Value& request) {
  HONE_ASSIGN(const auto read, wire::read_request<wire::ResumeRequest>(request));
  const std::uint64_t id = episode_number(read.episode);
  HONE_TRY(reload(id));
  HONE_ASSIGN(const EpisodeTable::Snapshot snapshot, state_->table.resume(caller, id, read.token));
  return resume_reply(snapshot, options_.limits.lease_s, state_->now_s());
}

void Episodes::renew(const Caller& caller, const std::vector<std::string>& episodes) {
  for (const std::string& name : episodes) state_->table.renew(caller, episode_number(name));
}

std::size_t Episodes::leave(const std::set<std::string>& connections) {
  const EpisodeTable::Left left = state_->table.leave(connections);
  for (const std::uint64_t evaluation : left.evaluations) evaluator_.cancel(evaluation);
  return left.steps;
}

std::size_t Episodes::reap() {
  const std::vector<std::uint64_t> reaped = state_->table.reap();
  state_->reaped += reaped.size();
  if (!reaped.empty()) {
    log_info("episodes", std::to_string(reaped.size()) + " ended: their leases ran out");
  }
  if (state_->journal == nullptr) return reaped.size();
  for (const std::uint64_t id : reaped) {
    state_->journal->release(id, RecordState::kReaped, nullptr);
  }
  state_->table.unload_idle();
  return reaped.size();
}

Value Episodes::stats() const {
  const EpisodeTable::Counts counts = state_->table.counts();
  const auto number = [](const std::atomic<std::uint64_t>& n) {
    return Value(static_cast<std::int64_t>(n.load()));
  };
  return Value::map({{"episodes", Value::map({{"open", counts.open},
                                              {"ended", counts.episodes - counts.open},
                                              {"opened", number(state_->resets)},
                                              {"closed", number(state_->closed)},
                                              {"reaped", number(state_->reaped)},
                                              {"asleep", counts.unloaded},
                                              {"clients", counts.clients},
                                              {"history_bytes", counts.history_bytes}})},
                     {"steps", Value::map({{"under_way", counts.steps},
                                           {"done", number(state_->steps)},
                                           {"unscored", number(state_->unscored)},
                                           {"left_open", number(state_->abandoned)},
                                           {"repeats", number(state_->repeats)},
                                           {"joins", number(state_->joins)}})},
                     {"journal", state_->journal != nullptr ? state_->journal->stats() : Value()},
                     {"evaluator", evaluator_.stats()}});
}

std::size_t Episodes::pending() const { return state_->table.counts().steps; }

void Episodes::refuse_new_work() { state_->refusing = true; }

Status Episodes::resume_journalled() {
  if (state_->journal == nullptr) return {};
  HONE_ASSIGN(const std::vector<JournalReader::Held> held, state_->journal->reader().held());
  for (const JournalReader::Held& one : held)
    state_->table.add_unloaded(one.id, one.client, one.ended);
  return {};
}

Result<std::unique_ptr<EpisodeService>> make_episode_service(EpisodeOptions options,
                                                             Environments environments,
                                                             std::shared_ptr<const Catalog> tasks,
                                                             Evaluator& evaluator,
                                                             OpenReward rewards) {
  auto service = std::make_unique<Episodes>(std::move(options), std::move(environments),
                                            std::move(tasks), evaluator, std::move(rewards));
  HONE_TRY(service->resume_journalled());
  return std::unique_ptr<EpisodeService>(std::move(service));
}

}  // namespace hone
