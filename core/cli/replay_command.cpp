// `hone replay`: judges the submissions of recorded episodes again, and explains each difference.
#include "cli/journal_options.hpp"
#include "offline/journal_lookup.hpp"
#include "offline/replay_episodes.hpp"

namespace hone {
namespace {

class ReplayCommand : public Command {
 public:
  std::string name() const override { return "replay"; }
  std::string summary() const override {
    return "Judge recorded episodes again and explain each difference.";
  }
  std::vector<std::string> examples() const override {
    return {"hone replay 3f0c9a6be1d24775 --journal run.db   # `hone episodes` lists them",
            "hone replay 3f0c9a6be1d24775 --journal run.db --json"};
  }
  void declare(OptionSet& options) override {
    options.texts({.name = "EPISODES",
                   .doc = "episodes to replay (16 hexadecimal digits)",
                   .value = "EPISODE",
                   .required = true},
                  names_);
    journal_.declare(options);
    options.flag({.name = "--json", .doc = "print JSON"}, json_);
  }

  int run(Terminal& terminal) override {
    auto loaded = load_config(journal_.config.file, journal_.config.sets);
    if (!loaded) return journal_.config.fail(terminal, loaded.error());
    const auto path = journal_.path_in(loaded->config);
    if (!path) return terminal.fail(path.error());
    auto episodes = read(*path);
    if (!episodes) return terminal.fail(episodes.error(), "list the episodes: hone episodes");
    return replay_episodes(terminal, std::move(*loaded), std::move(*episodes), json_);
  }

 private:
  Result<std::vector<StoredEpisode>> read(const std::string& journal) const {
    HONE_ASSIGN(const auto reader, JournalReader::open(journal));
    std::vector<StoredEpisode> episodes;
    for (const std::string& name : names_) {
      HONE_ASSIGN(auto stored, find_episode(*reader, name));
      episodes.push_back(std::move(stored));
    }
    return episodes;
  }

  JournalOptionSet journal_;
  std::vector<std::string> names_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_replay_command() { return std::make_unique<ReplayCommand>(); }

}  // namespace hone
