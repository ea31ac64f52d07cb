// `hone episodes`, `hone export` and `hone rescore`: lists a journal's episodes, exports them as training data, and scores them again.
#include <cmath>

#include "app/host.hpp"
#include "base/log.hpp"
#include "cli/journal_options.hpp"
#include "episode/episode.hpp"
#include "episode/recording.hpp"
#include "episode/training.hpp"
#include "episode/trajectory.hpp"

namespace hone {
namespace {

constexpr const char* kNext = "to write a journal: hone serve --set journal.path=FILE";

Value number_or_nil(double number) { return std::isnan(number) ? Value() : Value(number); }
std::string number_text(double number, const char* unit = "") {
  return std::isnan(number) ? "" : short_number(number) + unit;
}

class EpisodesCommand : public Command {
 public:
  std::string name() const override { return "episodes"; }
  std::string summary() const override { return "List the episodes of a journal."; }
  std::vector<std::string> examples() const override {
    return {"hone episodes run.db                  # the newest 1000",
            "hone episodes run.db --state open",
            "hone episodes run.db --task tasks/softmax --json"};
  }
  void declare(OptionSet& options) override {
    journal_.declare(options, true);
    filter_.declare(options);
    options.integer({.name = "--limit",
                     .doc = "number of episodes, newest first; 0: all (default: 1000)",
                     .value = "N"},
                    limit_, 0, INT64_MAX);
    options.flag({.name = "--json", .doc = "print JSON"}, json_);
  }

  int run(Terminal& terminal) override {
    const auto config = journal_.load();
    if (!config) return terminal.fail(config.error(), kNext);
    const auto reader = JournalReader::open(config->journal.path);
    if (!reader) return terminal.fail(reader.error(), kNext);
    auto filter = filter_.filter();
    filter.limit = limit_;
    const auto lines = (*reader)->list(filter);
    if (!lines) return terminal.fail(lines.error().in("journal " + config->journal.path));
    if (lines->empty()) {
      if (const Status known = explain_no_match(**reader, filter); !known)
        return terminal.fail(known.error());
    }
    Value listed = Value::array();
    std::vector<Row> rows;
    for (const EpisodeLine& line : *lines) {
      const std::string state(record_state_name(line.state));
      listed.push(Value::map({{"episode", episode_name(line.id)},
                              {"task", line.task},
                              {"client", line.client},
                              {"group", line.group.empty() ? Value() : Value(line.group)},
                              {"state", state},
                              {"turns", line.turns},
                              {"best_speedup", number_or_nil(line.best_speedup)},
                              {"last_reward", number_or_nil(line.last_reward)},
                              {"reward", line.reward},
                              {"opened_at", line.opened_at},
                              {"changed_at", line.changed_at}}));
      rows.push_back({{episode_name(line.id), Colour::kBold},
                      {state, line.state == RecordState::kOpen ? Colour::kGreen : Colour::kPlain},
                      {line.task},
                      {line.client},
                      {std::to_string(line.turns), Colour::kPlain, true},
                      {number_text(line.best_speedup, "×"), Colour::kPlain, true},
                      {number_text(line.last_reward), Colour::kPlain, true},
                      {date_text(line.changed_at), Colour::kDim}});
    }
    if (json_) {
      terminal.json(listed, 2);
    } else if (rows.empty()) {
      terminal.line("no episodes");
    } else {
      terminal.table({"episode", "state", "task", "client", "turns", "best", "reward", "changed"},
                     rows);
    }
    return kExitOk;
  }

 private:
  JournalOptionSet journal_;
  FilterOptionSet filter_;
  std::int64_t limit_ = 1000;
  bool json_ = false;
};

/// An open journal, with the tasks and environments that are needed to restore its prompts.
struct Sources {
  std::unique_ptr<const Registry> registry;
  std::shared_ptr<const Catalog> catalog;
  Environments environments;
  std::unique_ptr<JournalReader> reader;

  static Result<Sources> open(const Config& config) {
    Sources sources;
    HONE_ASSIGN(sources.reader, JournalReader::open(config.journal.path));
    sources.registry = open_registry(config);
    HONE_ASSIGN(sources.catalog, open_catalog(config, *sources.registry));
    HONE_ASSIGN(sources.environments, open_environments(config, *sources.registry));
    return sources;
  }
};

class ExportCommand : public Command {
 public:
  std::string name() const override { return "export"; }
  std::string summary() const override {
    return "Export the episodes of a journal as JSON Lines for training.";
  }
  std::vector<std::string> examples() const override {
    return {"hone export --journal run.db > episodes.jsonl",
            "hone export --journal run.db --state ended --task tasks/softmax",
            "hone export --journal run.db --as sft     # chats up to the best kernel",
            "hone export --journal run.db --as pairs   # best and worst first answers",
            "hone export --journal run.db --as rl      # one line per turn"};
  }
  void declare(OptionSet& options) override {
    journal_.declare(options);
    filter_.declare(options);
    options.text({.name = "--as",
                  .doc = "form of the lines (default: trajectories)",
                  .value = "FORM",
                  .choices = {"trajectories", "rl", "sft", "pairs"}},
                 form_);
  }

  int run(Terminal& terminal) override {
    const auto config = journal_.load();
    if (!config) return terminal.fail(config.error(), kNext);
    const auto sources = Sources::open(*config);
    if (!sources) return terminal.fail(sources.error(), kNext);
    TrainingData data(training_form(form_), [&](const Value& line) { terminal.json(line); });
    std::int64_t count = 0;
    bool complete = true;
    const Status done = sources->reader->each(
        filter_.filter(),
        [&](const StoredEpisode& stored) -> Status {
          const auto found = environment_of(stored, sources->environments);
          if (!found) {  // the other episodes are still exported
            complete = false;
            static_cast<void>(terminal.fail(found.error()));
            return {};
          }
          const Environment* environment = *found;
          HONE_ASSIGN(const Value one, trajectory_of(stored, *environment, sources->catalog.get()));
          if (++count % 1000 == 0) terminal.status(std::to_string(count) + " episodes");
          return data.add(one);
        },
        [&](const Error& damage) {  // the undamaged episodes are still exported
          complete = false;
          static_cast<void>(terminal.fail(damage));
        });
    if (!done) return terminal.fail(done.error().in("journal " + config->journal.path));
    data.finish();
    if (count == 0 && complete) {
      const Status known = explain_no_match(*sources->reader, filter_.filter());
      return known ? kExitOk : terminal.fail(known.error());
    }
    return complete ? kExitOk : kExitNo;
  }

 private:
  JournalOptionSet journal_;
  FilterOptionSet filter_;
  std::string form_ = "trajectories";
};

class RescoreCommand : public Command {
 public:
  std::string name() const override { return "rescore"; }
  std::string summary() const override {
    return "Compute the rewards of a journal's episodes again, without a device.";
  }
  std::vector<std::string> examples() const override {
    return {"hone rescore --journal run.db --reward kevin",
            "hone rescore --journal run.db --reward ./my_reward.py --json > scores.json"};
  }
  void declare(OptionSet& options) override {
    journal_.declare(options);
    filter_.declare(options);
    options.text(
        {.name = "--reward",
         .doc = "name of a reward, or path of a .so or .py (default: from the configuration)",
         .value = "REWARD"},
        reward_);
    options.flag({.name = "--json", .doc = "print JSON"}, json_);
  }

  int run(Terminal& terminal) override {
    auto config = journal_.load();
    if (!config) return terminal.fail(config.error(), kNext);
    choose_reward(*config, reward_);
    const auto sources = Sources::open(*config);
    if (!sources) return terminal.fail(sources.error(), kNext);
    const auto reward = open_reward(*config, *sources->registry);
    if (!reward) return terminal.fail(reward.error(), "list all rewards: hone plugins");
    Value listed = Value::array();
    std::vector<Row> rows;
    std::size_t count = 0, failed = 0;
    const Status done =
        sources->reader->each(filter_.filter(), [&](const StoredEpisode& stored) -> Status {
          ++count;
          if (stored.turns.empty()) return {};
          const auto score = rescore(stored, *sources, **reward);
          failed += score ? 0u : 1u;
          listed.push(line(stored, score));
          rows.push_back(row(stored, score, (*reward)->name()));
          return {};
        });
    if (!done) return terminal.fail(done.error().in("journal " + config->journal.path));
    if (count == 0) {
      if (const Status known = explain_no_match(*sources->reader, filter_.filter()); !known)
        return terminal.fail(known.error());
    }
    if (json_) {
      terminal.json(listed, 2);
    } else {
      terminal.table(
          {"episode", "task", "turns", "reward then", "return then", "reward now", "return now"},
          rows);
    }
    if (failed == 0) return kExitOk;
    log_warning("rescore", std::to_string(failed) + " of " + std::to_string(rows.size()) +
                               " episodes have no score, because the reward failed");
    return kExitNo;
  }

 private:
  static Result<RewardReport> rescore(const StoredEpisode& stored, const Sources& sources,
                                      const Reward& reward) {
    HONE_ASSIGN(const Environment* environment, environment_of(stored, sources.environments));
    HONE_ASSIGN(const Value input, reward_input_of(stored, *environment, *sources.catalog));
    return reward.score(input);
  }

  static Value then(const StoredEpisode& stored) {
    const auto reply = recorded_value(*stored.turns.back().reply);
    const Value* found = reply ? reply->find("return_to_date") : nullptr;
    return found != nullptr ? *found : Value();
  }

  static Value line(const StoredEpisode& stored, const Result<RewardReport>& score) {
    Value rewards = Value::array();
    if (score) {
      for (const auto& turn : score->turns) rewards.push(turn ? Value(turn->reward) : Value());
    }
    return Value::map({{"episode", episode_name(stored.record.id)},
                       {"task", stored.record.task},
                       {"turns", stored.turns.size()},
                       {"then", Value::map({{"reward", stored.record.reward},
                                            {"version", stored.record.reward_version},
                                            {"config_hash", stored.record.reward_hash},
                                            {"return_to_date", then(stored)}})},
                       {"rewards", std::move(rewards)},
                       {"return_to_date", score ? Value(score->return_to_date) : Value()},
                       {"error", score ? Value() : Value(score.error().message)}});
  }

  static Row row(const StoredEpisode& stored, const Result<RewardReport>& score,
                 const std::string& reward) {
    const Value before = then(stored);
    return {{episode_name(stored.record.id), Colour::kBold},
            {stored.record.task},
            {std::to_string(stored.turns.size()), Colour::kPlain, true},
            {stored.record.reward},
            {before.is_number() ? short_number(before.as_double()) : "", Colour::kPlain, true},
            {reward},
            {score ? short_number(score->return_to_date) : score.error().message,
             score ? Colour::kPlain : Colour::kRed, score.ok()}};
  }

  JournalOptionSet journal_;
  FilterOptionSet filter_;
  std::string reward_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_episodes_command() { return std::make_unique<EpisodesCommand>(); }
std::unique_ptr<Command> make_export_command() { return std::make_unique<ExportCommand>(); }
std::unique_ptr<Command> make_rescore_command() { return std::make_unique<RescoreCommand>(); }

}  // namespace hone
