// `hone report`: the figures of journals as one HTML file, as JSON, or as a table.
#include <algorithm>
#include <filesystem>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "cli/journal_options.hpp"
#include "offline/journal_figures.hpp"
#include "offline/journal_lookup.hpp"
#include "web/html_text.hpp"
#include "web/report_figures.hpp"
#include "web/report_page.hpp"

namespace hone {
namespace {

class ReportCommand : public Command {
 public:
  std::string name() const override { return "report"; }
  std::string summary() const override {
    return "Write the figures of one or more journals as a self-contained HTML file.";
  }
  std::vector<std::string> examples() const override {
    return {"hone report run.db -o report.html",
            "hone report before.db after.db -o report.html  # with a comparison by task",
            "hone report run.db --client trainer-a --task tasks/softmax",
            "hone report run.db --json > figures.json"};
  }
  void declare(OptionSet& options) override {
    options.texts({.name = "JOURNAL",
                   .doc = "files of journals, at most 8 (default: journal.path)",
                   .value = "FILE"},
                  paths_);
    options.text({.name = "-o,--output", .doc = "HTML file to write or replace", .value = "FILE"},
                 output_);
    options.flag({.name = "--json", .doc = "print the figures as JSON"}, json_);
    filter_.declare(options);
    options.text({.name = "--reward", .doc = "only episodes with the reward of this name"},
                 reward_);
    config_.declare(options);
  }

  int run(Terminal& terminal) override {
    const Status chosen = choose_journals();
    if (!chosen) return terminal.fail(chosen.error(), "see: hone report --help");
    std::vector<Value> journals;
    std::int64_t damaged = 0;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      auto one = read_figures(terminal, paths_[i], names_[i], filter(), damaged);
      if (!one) return terminal.fail(one.error(), how_to_write_a_journal(paths_[i]));
      journals.push_back(std::move(*one));
    }
    const Value report = report_of(std::move(journals), wall_s());
    if (!output_.empty()) {
      if (const Status written = write_file(output_, report_html(report)); !written)
        return terminal.fail(written.error().in("-o " + output_));
    }
    if (json_) terminal.json(report, 2);
    if (!json_) print(terminal, report);
    return damaged == 0 ? kExitOk : kExitNo;
  }

 private:
  /// Completes `paths_`, names the journals and checks `output_`.
  Status choose_journals() {
    HONE_ASSIGN(const LoadedConfig loaded, load_config(config_.file, config_.sets));
    HONE_ASSIGN(names_, name_journals(paths_, loaded.config));
    std::error_code missing;  // a file that does not exist is no journal
    for (const std::string& path : paths_) {
      if (!output_.empty() && std::filesystem::equivalent(path, output_, missing))
        return invalid_argument("-o " + output_ + ": it is one of the journals; name another file");
    }
    if (!output_.empty() && std::filesystem::is_directory(output_, missing))
      return invalid_argument("-o " + output_ + ": found a folder, expected a file");
    return {};
  }

  EpisodeFilter filter() const {
    EpisodeFilter filter = filter_.filter();
    filter.reward = reward_;
    return filter;
  }

  void print(Terminal& terminal, const Value& report) const {
    std::vector<Row> rows;
    for (const Value& journal : report.find("journals")->as_array()) {
      const Value& all = *journal.find("all");
      const auto right = [](const std::string& text) { return Cell(text, Colour::kPlain, true); };
      const auto integer = [](const Value& of, const char* key) {
        return std::to_string(of.find(key)->as_int());
      };
      rows.push_back({{journal.find("name")->as_string(), Colour::kBold},
                      right(integer(*journal.find("episodes"), "all")),
                      right(integer(all, "attempts")),
                      right(percent_text(number_or_nan(member_or_nil(all, "success")))),
                      right(percent_text(number_or_nan(member_or_nil(*all.find("fast_p"), "1")))),
                      right(times_text(number_or_nan(member_or_nil(all, "best_speedup")))),
                      right(figure_text(number_or_nan(member_or_nil(all, "reward_mean")))),
                      right(figure_text(number_or_nan(member_or_nil(all, "return_mean"))))});
    }
    terminal.table({"journal", "episodes", "attempts", "success", "fast_1", "best speedup",
                    "mean reward", "mean return"},
                   rows);
    terminal.line(output_.empty() ? "for the full report, add -o report.html" : "wrote " + output_);
  }

  ConfigOptions config_;
  FilterOptionSet filter_;
  std::vector<std::string> paths_, names_;
  std::string output_, reward_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace hone
