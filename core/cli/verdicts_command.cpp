// `hone verdicts`: prints named sample episodes as a reward gets them, or their scores.
#include <algorithm>

#include "base/log.hpp"
#include "base/nearest.hpp"
#include "cli/command.hpp"
#include "offline/score_samples.hpp"

namespace hone {
namespace {

class VerdictsCommand : public Command {
 public:
  std::string name() const override { return "verdicts"; }
  std::string summary() const override {
    return "Print sample episodes for every verdict, or score them with a reward.";
  }
  std::vector<std::string> examples() const override {
    return {"hone verdicts                                  # names and descriptions",
            "hone verdicts climb --json                     # the complete input of a reward",
            "hone verdicts --reward my_reward.py            # scores of all samples",
            "hone verdicts --reward kevin --with '{\"gamma\": 1}' fast climb"};
  }
  void declare(OptionSet& options) override {
    options.texts({.name = "NAME", .doc = "only these samples"}, names_);
    options.text({.name = "--reward",
                  .doc = "score with this reward: a name, or path of a .so or .py",
                  .value = "FILE"},
                 request_.reward);
    options.text({.name = "--with", .doc = "configuration of the reward, as JSON", .value = "JSON"},
                 request_.with);
    config_.declare(options);
    options.flag({.name = "--list", .doc = "print only the names"}, list_);
    options.flag({.name = "--json", .doc = "print JSON: episodes, or scores with --reward"},
                 request_.json);
  }

  int run(Terminal& terminal) override {
    if (const Status chosen = choose(); !chosen) {
      return terminal.fail(chosen.error(), "list all samples: hone verdicts --list");
    }
    if (list_) {
      for (const VerdictFixture* fixture : chosen_) terminal.line(fixture->name);
      return kExitOk;
    }
    if (request_.reward.empty()) return show(terminal);
    const auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    set_up_log(LogLevel::kInfo, false);  // the reward's own output helps its author
    return score_samples(terminal, loaded->config, chosen_, request_);
  }

 private:
  Status choose() {
    std::vector<std::string> known;
    for (const VerdictFixture& fixture : verdict_fixtures()) known.push_back(fixture.name);
    for (const std::string& wanted : names_) {
      if (std::find(known.begin(), known.end(), wanted) == known.end()) {
        return invalid_argument(unknown_name("sample", wanted, known));
      }
    }
    for (const VerdictFixture& fixture : verdict_fixtures()) {
      if (names_.empty() || std::find(names_.begin(), names_.end(), fixture.name) != names_.end()) {
        chosen_.push_back(&fixture);
      }
    }
    return {};
  }

  int show(Terminal& terminal) const {
    std::vector<Row> rows;
    Value listed = Value::array();
    for (const VerdictFixture* fixture : chosen_) {
      rows.push_back({{fixture->name, Colour::kBold},
                      {std::to_string(fixture->episode.find("turns")->as_array().size()),
                       Colour::kPlain, true},
                      {fixture->summary}});
      listed.push(Value::map(
          {{"name", fixture->name}, {"summary", fixture->summary}, {"episode", fixture->episode}}));
    }
    if (request_.json) {
      terminal.json(listed, 2);
    } else {
      terminal.table({"sample", "turns", "description"}, rows);
    }
    return kExitOk;
  }

  ConfigOptions config_;
  std::vector<std::string> names_;
  SampleScoreRequest request_;
  bool list_ = false;
  std::vector<const VerdictFixture*> chosen_;
};

}  // namespace

std::unique_ptr<Command> make_verdicts_command() { return std::make_unique<VerdictsCommand>(); }

}  // namespace hone
