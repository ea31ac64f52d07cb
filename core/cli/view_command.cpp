// `hone view`: the web page of a journal, without a server.
#include "app/load_config.hpp"
#include "app/log_options.hpp"
#include "app/stop_signals.hpp"
#include "cli/journal_options.hpp"
#include "cli/web_pages.hpp"
#include "offline/journal_lookup.hpp"

namespace hone {
namespace {

class ViewCommand : public Command {
 public:
  std::string name() const override { return "view"; }
  std::string summary() const override { return "Show one or more journals in a web browser."; }
  std::vector<std::string> examples() const override {
    return {"hone view run.db                        # http://127.0.0.1:5920",
            "hone view before.db after.db            # also to compare them by task",
            "hone view run.db --port 0               # any free port",
            "hone view run.db --host 0.0.0.0 --token-file token",
            "hone view run.db -c configs/server.yaml # the tasks of this configuration"};
  }
  void declare(OptionSet& options) override {
    options.texts({.name = "JOURNAL",
                   .doc = "files of journals, at most 8 (default: journal.path)",
                   .value = "FILE"},
                  paths_);
    options.integer({.name = "--port", .doc = "port; 0: any (default: 5920)", .value = "PORT"},
                    port_, 0, 65535);
    options.text(
        {.name = "--host", .doc = "address to listen on (default: 127.0.0.1)", .value = "HOST"},
        host_);
    options.text({.name = "--token-file",
                  .doc = "file with the browsers' token; required unless on loopback",
                  .value = "FILE"},
                 token_file_);
    config_.declare(options);
    options.flag({.name = "--json", .doc = "print the address as a JSON object"}, json_);
  }

  int run(Terminal& terminal) override {
    const auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    const auto names = name_journals(paths_, loaded->config);
    if (!names) return terminal.fail(names.error(), "see: hone view --help");
    const auto http =
        web_http_options(host_ + ":" + std::to_string(port_), token_file_, "--host", "view");
    if (!http) return terminal.fail(http.error());
    set_up_log(loaded->config.log);
    if (const Status caught = catch_stop_signals(); !caught) return terminal.fail(caught.error());
    std::vector<std::unique_ptr<EpisodePages>> pages;
    std::vector<WebSources::Journal> journals;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      pages.push_back(make_episode_pages(paths_[i], config_.file, config_.sets));
      if (const Status good = pages.back()->check(); !good) {
        return terminal.fail(good.error(), how_to_write_a_journal(paths_[i]));
      }
      journals.push_back({(*names)[i], pages.back().get()});
    }
    const Status served = serve_web(
        *http, {.server = {}, .journals = std::move(journals)},
        [&](const std::string& url) { announce(terminal, url); }, wait_for_stop);
    if (!served) return terminal.fail(served.error(), "choose another port with --port; 0: any");
    return kExitOk;
  }

 private:
  void announce(Terminal& terminal, const std::string& url) const {
    if (json_) return terminal.json(Value::map({{"url", url}}));
    terminal.line("hone shows " + joined(paths_) + " on " + shown_url(url) +
                  (token_file_.empty() ? "" : ", with a token") + "; stop it with Ctrl-C");
  }

  ConfigOptions config_;
  std::vector<std::string> paths_;
  std::string host_ = "127.0.0.1", token_file_;
  std::int64_t port_ = 5920;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_view_command() { return std::make_unique<ViewCommand>(); }

}  // namespace hone
