// `hone journal`: checks, compacts or copies a journal.
#include <string>
#include <vector>

#include "base/readable.hpp"
#include "cli/journal_options.hpp"
#include "journal/journal.hpp"

namespace hone {
namespace {

class JournalCommand : public Command {
 public:
  std::string name() const override { return "journal"; }
  std::string summary() const override { return "Check, back up or compact a journal."; }
  std::vector<std::string> examples() const override {
    return {"hone journal check --journal run.db              # exit status 1 if damaged",
            "hone journal backup --journal run.db --to copy.db  # also while a server runs",
            "hone journal compact --journal run.db --keep-days 30   # server stopped"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "ACTION",
                  .doc = "action",
                  .value = "ACTION",
                  .choices = {"check", "backup", "compact"},
                  .required = true},
                 action_);
    journal_.declare(options);
    options.text({.name = "--to", .doc = "backup: file to create", .value = "FILE"}, to_);
    options.integer({.name = "--keep-days",
                     .doc = "compact: remove released episodes older than this (days)",
                     .value = "N"},
                    keep_days_, 0, 36500);
    options.flag({.name = "--json", .doc = "print JSON"}, json_);
  }

  int run(Terminal& terminal) override {
    const auto config = journal_.load();
    if (!config) return terminal.fail(config.error());
    const std::filesystem::path path = config->journal.path;
    if (action_ == "compact") return compact(terminal, path);
    const auto reader = JournalReader::open(path);
    if (!reader && action_ == "check") return refuse(terminal, reader.error());
    if (!reader) return terminal.fail(reader.error());
    return action_ == "check" ? check(terminal, **reader) : back_up(terminal, **reader);
  }

 private:
  int check(Terminal& terminal, const JournalReader& reader) const {
    terminal.status("reading the journal");
    const auto wrong = reader.check();
    if (!wrong) return refuse(terminal, wrong.error());
    if (!wrong->empty()) return report(terminal, *wrong);
    const auto episodes = reader.count_episodes();
    if (!episodes) return refuse(terminal, episodes.error());
    return report(terminal, {}, *episodes);
  }

  /// Reads everything, so that it also finds damage that SQLite's check misses.
  int refuse(Terminal& terminal, const Error& error) const {
    if (error.cause != ErrorCause::kDamagedJournal) return terminal.fail(error);
    return report(terminal,
                  {error.message.substr(0, error.message.find("; see: hone journal check"))});
  }

  /// `episodes`: number of episodes of a sound journal.
  int report(Terminal& terminal, const std::vector<std::string>& wrong,
             std::int64_t episodes = 0) const {
    if (json_) {
      terminal.json(Value::map({{"sound", wrong.empty()},
                                {"wrong", Value::Array(wrong.begin(), wrong.end())},
                                {"episodes", wrong.empty() ? Value(episodes) : Value()}}),
                    2);
    } else {
      for (const std::string& line : wrong) terminal.line(line);
      terminal.line(
          wrong.empty()
              ? "sound, with " + counted_text(episodes, "episode")
              : "damaged; restore a backup, or export the readable episodes with `hone export`");
    }
    return wrong.empty() ? kExitOk : kExitNo;
  }

  int back_up(Terminal& terminal, const JournalReader& reader) const {
    if (to_.empty()) {
      return terminal.fail(invalid_argument("--to is missing; name the file to create"));
    }
    if (Status copied = reader.copy_to(std::filesystem::absolute(to_)); !copied) {
      return terminal.fail(copied.error().in(to_));
    }
    if (json_) {
      terminal.json(Value::map({{"copy", to_}}));
    } else {
      terminal.line("copied to " + to_);
    }
    return kExitOk;
  }

  int compact(Terminal& terminal, const std::filesystem::path& path) const {
    if (std::error_code error; !std::filesystem::exists(path, error)) {
      return terminal.fail(not_found("journal " + path.string() + ": no such file"));
    }
    terminal.status("compacting");
    std::error_code unknown;  // ignored: opening the journal reports the error
    const auto before = std::filesystem::file_size(path, unknown);
    const auto gone = compact_journal(path, static_cast<double>(keep_days_));
    if (!gone) return terminal.fail(gone.error());
    const auto after = std::filesystem::file_size(path);
    if (json_) {
      terminal.json(Value::map({{"episodes", *gone},
                                {"bytes_before", static_cast<std::int64_t>(before)},
                                {"bytes_after", static_cast<std::int64_t>(after)}}));
    } else {
      terminal.line(std::to_string(*gone) + " episodes removed, " + std::to_string(before) +
                    " bytes before, " + std::to_string(after) + " after");
    }
    return kExitOk;
  }

  JournalOptionSet journal_;
  std::string action_, to_;
  std::int64_t keep_days_ = 36500;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_journal_command() { return std::make_unique<JournalCommand>(); }

}  // namespace hone
