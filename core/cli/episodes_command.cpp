// `hone episodes`, `hone export` and `hone rescore`: lists a journal's episodes, exports them as training data, and scores them again.
#include <cmath>

#include "app/host.hpp"
#include "cli/journal_options.hpp"
#include "episode/episode.hpp"
#include "offline/export_episodes.hpp"
#include "offline/journal_lookup.hpp"
#include "offline/rescore_episodes.hpp"

namespace hone {
namespace {

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
    if (!config) return terminal.fail(config.error());
    const auto reader = JournalReader::open(config->journal.path);
    if (!reader) return terminal.fail(reader.error(), how_to_write_a_journal(config->journal.path));
    auto filter = filter_.filter();
    filter.limit = limit_;
    const auto lines = (*reader)->list(filter);
    if (!lines) return terminal.fail(lines.error());
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
    if (!config) return terminal.fail(config.error());
    return export_episodes(terminal, *config, filter_.filter(), training_form(form_));
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
    if (!config) return terminal.fail(config.error());
    choose_reward(*config, reward_);
    return rescore_episodes(terminal, *config, filter_.filter(), json_);
  }

 private:
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
