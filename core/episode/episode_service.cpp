// Steps, and the other requests about an open episode: cancel, close, resume, leases, counters.
#include "episode/episode_service.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/assert.hpp"
#include "base/crypto.hpp"
#include "base/log_fields.hpp"
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

std::string task_name(const Episode& episode) {
  return episode.task->dataset + "/" + episode.task->id;
}

/// "turn 2: correct, speedup 1.3, reward 0.6; ended"
void log_turn(const Started& step, const CompletedTurn& done) {
  if (!log_wanted(LogLevel::kInfo)) return;
  const TurnFacts& facts = done.facts;
  const Episode& episode = *step.episode;
  const auto json = [](const Value& value) { return to_json(value); };
  std::string text = "turn " + std::to_string(step.flight->turn) + ": " +
                     (facts.scored ? facts.outcome : "not scored");
  std::vector<LogField> fields{{"episode", json(episode.name())},
                               {"client", json(episode.client)},
                               {"task", json(task_name(episode))},
                               {"turn", json(step.flight->turn)},
                               {"outcome", json(facts.scored ? facts.outcome : "unscored")},
                               {"ended", json(done.ended)}};
  const auto add = [&](const char* what, double number) {
    if (std::isnan(number)) return;
    const std::string value = to_json(Value(number));
    text += std::string(", ") + what + " " + value;
    fields.push_back({what, value});
  };
  add("speedup", facts.speedup);
  add("reward", facts.reward);
  if (done.stage_ms.is_map()) fields.push_back({"stage_ms", json(done.stage_ms)});
  if (!done.fault.empty()) fields.push_back({"fault", json(done.fault)});
  log_with_fields(LogLevel::kInfo, "episode " + episode.name(),
                  text + (done.ended ? "; ended" : ""), fields);
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
    state->tasks.count(task_name(*step.episode), turn.facts);
    if (!turn.facts.scored) ++state->unscored;
    answer(state->table.end(step, turn.facts, turn.reply, turn.ended, turn.fingerprint),
           *turn.reply);
  };
  if (state->journal == nullptr) return recorded({});
  state->journal->add(std::move(record), std::move(recorded));
}

/// A tool call is complete once it is recorded, as a turn is.
void finish_call(const std::shared_ptr<EpisodeState>& state, const Started& step, Tool tool,
                 const Examination& found) {
  CompletedCall call = complete_call(*step.episode, *step.flight, tool, found, state->now_s());
  CallRecord record;
  if (state->journal != nullptr) record = record_of(*step.episode, *step.flight, call);
  auto recorded = [state, step, call = std::move(call)](const Status& done) {
    if (!done) return abandon(*state, step, done.error());
    ++state->calls;
    log_info("episode " + step.episode->name(),
             "turn " + std::to_string(call.facts.turn) + ": tool " + call.facts.tool);
    answer(state->table.end_call(step, call.facts, call.reply), *call.reply);
  };
  if (state->journal == nullptr) return recorded({});
  state->journal->add(std::move(record), std::move(recorded));
}

/// Counts a step, or a call of `tool`, whose client ended its evaluation early. False: the evaluation had not begun.
bool count_early_end(EpisodeState& state, const Started& step, const std::string& tool) {
  const bool begun = tool.empty() ? state.table.count_early_end(step)
                                  : state.table.count_early_end(step, {step.flight->turn, 0, tool});
  if (begun) ++state.ended_early;
  return begun;
}

/// Whether the server's shutdown may have ended the step. Rationale: a service manager sends SIGTERM to all
/// processes of a server, the submission's included. Then neither the submission nor a fault ended the step.
bool ended_with_the_server(const EpisodeState& state, const Result<Verdict>& verdict) {
  return state.refusing && (!verdict || verdict->signal == "SIGTERM");
}

/// Ends a step that was cancelled, or that the server's shutdown may have ended. False: neither happened. `tool`: of a
/// tool call; empty for a step.
bool abandon_if_cancelled(EpisodeState& state, const Started& step, const std::string& tool,
                          const Result<Verdict>& verdict) {
  if (state.table.settle(step)) {
    if (count_early_end(state, step, tool) && !tool.empty()) {
      abandon(state, step,
              {Code::kCancelled,
               "the call was cancelled after its evaluation had begun, so it "
               "counts as a use of the tool"});
    } else {
      abandon(state, step,
              {Code::kCancelled,
               "the step was cancelled; unless the episode was closed, its turn stays open"});
    }
    return true;
  }
  if (!ended_with_the_server(state, verdict)) return false;
  abandon(state, step, unavailable("the server is shutting down; the turn stays open"));
  return true;
}

/// Ends a tool call with what the evaluator found. An error leaves it undone. It costs a use of the tool only if the client
/// ended the evaluation early.
void conclude_call(const std::shared_ptr<EpisodeState>& state, const Started& step, Tool tool,
                   const Result<Examination>& found) {
  static const Verdict kNoVerdict;
  const Result<Verdict> verdict =
      found ? Result<Verdict>(found->verdict.value_or(kNoVerdict)) : Result<Verdict>(found.error());
  const std::string name(enum_name(tool));
  if (abandon_if_cancelled(*state, step, name, verdict)) return;
  if (!found) {
    if (found.error().code == Code::kDeadlineExceeded)
      static_cast<void>(count_early_end(*state, step, name));
    return abandon(*state, step, found.error());
  }
  finish_call(state, step, tool, *found);
}

/// Ends a step with the evaluator's result. A deadline, a cancellation or the server's shutdown leaves
/// the turn open. A fault closes it, unscored.
void conclude(const std::shared_ptr<EpisodeState>& state, const Started& step,
              Result<Verdict> verdict) {
  if (abandon_if_cancelled(*state, step, "", verdict)) return;
  if (verdict) return finish(state, step, {std::move(*verdict), {}, {}});
  const Code code = verdict.error().code;
  if (code == Code::kCancelled || code == Code::kDeadlineExceeded) {
    if (code == Code::kDeadlineExceeded) static_cast<void>(count_early_end(*state, step, ""));
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
  flight->call = read->call;
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
  if (state_->journal != nullptr && step.flight->call == 0) record_intent(step);
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
  if (step.flight->call > 0) return start_call(step);
  const Episode& episode = *step.episode;
  const EpisodeView view = episode.view(state_->now_s());
  Result<Prepared> prepared = episode.environment->prepare(view, step.flight->action);
  if (!prepared) return abandon(*state_, step, prepared.error());
  if (auto* verdict = std::get_if<Verdict>(&*prepared)) {
    return conclude(state_, step, std::move(*verdict));
  }
  follow(step,
         evaluator_.submit(submission_of(step, std::get<SubmittedCode>(std::move(*prepared))),
                           progress_of(step), [state = state_, step](Result<Verdict> verdict) {
                             conclude(state, step, std::move(verdict));
                           }));
}

void Episodes::start_call(const Started& step) {
  const Episode& episode = *step.episode;
  const EpisodeView view = episode.view(state_->now_s());
  Result<ToolCall> call = episode.environment->prepare_call(view, step.flight->action);
  if (!call) return abandon(*state_, step, call.error());
  follow(step, evaluator_.examine(
                   submission_of(step, std::move(call->code)), call->tool, progress_of(step),
                   [state = state_, step, tool = call->tool](const Result<Examination>& found) {
                     conclude_call(state, step, tool, found);
                   }));
}

Submission Episodes::submission_of(const Started& step, SubmittedCode code) const {
  const Episode& episode = *step.episode;
  Submission submission;
  submission.task = episode.task;
  submission.backend = episode.backend;
  submission.language = std::move(code.language);
  submission.source = std::move(code.source);
  submission.profile = code.profile;
  submission.client = episode.client;
  submission.episode = episode.name();
  submission.group = episode.group;
  submission.seed = step.flight->seed;
  submission.deadline_s = step.flight->deadline_s;
  return submission;
}

Evaluator::Progress Episodes::progress_of(const Started& step) const {
  return [state = state_, step](Stage stage) {
    const Value body = Value::map({{"stage", stage_name(stage)}});
    const bool begun = stage != Stage::kQueued;
    for (const EpisodeService::Progress& watcher : state->table.watchers(step, begun))
      watcher(body);
  };
}

void Episodes::follow(const Started& step, const Result<std::uint64_t>& evaluation) {
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
  log_with_fields(
      LogLevel::kInfo, "episode " + last.episode->name(), "closed",
      {{"episode", to_json(last.episode->name())}, {"client", to_json(last.episode->client)}});
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
    log_info("episodes", std::to_string(reaped.size()) + " released: their leases ran out");
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
                                           {"tool_calls", number(state_->calls)},
                                           {"unscored", number(state_->unscored)},
                                           {"left_open", number(state_->abandoned)},
                                           {"ended_early", number(state_->ended_early)},
                                           {"repeats", number(state_->repeats)},
                                           {"joins", number(state_->joins)}})},
                     {"tasks", state_->tasks.value()},
                     {"journal", state_->journal != nullptr ? state_->journal->stats() : Value()},
                     {"evaluator", evaluator_.stats()}});
}

std::size_t Episodes::pending() const { return state_->table.counts().steps; }

void Episodes::refuse_new_work() {
  state_->refusing = true;
  if (state_->journal != nullptr) evaluator_.drop_queued();
}

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
