// `hone view`: the web page of a journal, without a server.
#include "app/load_config.hpp"
#include "app/log_options.hpp"
#include "app/stop_signals.hpp"
#include "cli/journal_options.hpp"
#include "cli/web_pages.hpp"

namespace hone {
namespace {

class ViewCommand : public Command {
 public:
  std::string name() const override { return "view"; }
  std::string summary() const override { return "Show a journal in a web browser."; }
  std::vector<std::string> examples() const override {
    return {"hone view run.db                        # http://127.0.0.1:5920",
            "hone view run.db --port 0               # any free port",
            "hone view run.db --host 0.0.0.0 --token-file token",
            "hone view run.db -c configs/server.yaml # the tasks of this configuration"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "JOURNAL",
                  .doc = "file of the journal (default: journal.path of the configuration)",
                  .value = "FILE"},
                 journal_.path);
    options.integer({.name = "--port", .doc = "port; 0: any (default: 5920)", .value = "PORT"},
                    port_, 0, 65535);
    options.text(
        {.name = "--host", .doc = "address to listen on (default: 127.0.0.1)", .value = "HOST"},
        host_);
    options.text({.name = "--token-file",
                  .doc = "file with the browsers' token; required unless on loopback",
                  .value = "FILE"},
                 token_file_);
    journal_.config.declare(options);
    options.flag({.name = "--json", .doc = "print the address as a JSON object"}, json_);
  }

  int run(Terminal& terminal) override {
    const auto loaded = load_config(journal_.config.file, journal_.config.sets);
    if (!loaded) return journal_.config.fail(terminal, loaded.error());
    const auto path = journal_.path_in(loaded->config);
    if (!path) return terminal.fail(path.error(), "see: hone view --help");
    const auto http =
        web_http_options(host_ + ":" + std::to_string(port_), token_file_, "--host", "view");
    if (!http) return terminal.fail(http.error());
    set_up_log(loaded->config.log);
    if (const Status caught = catch_stop_signals(); !caught) return terminal.fail(caught.error());
    const auto episodes = make_episode_pages(*path, journal_.config.file, journal_.config.sets);
    if (const Status good = episodes->check(); !good) {
      return terminal.fail(good.error(), "to write a journal: hone serve --set journal.path=FILE");
    }
    const Status served = serve_web(
        *http, {.server = {}, .episodes = episodes.get(), .no_episodes = {}},
        [&](const std::string& url) { announce(terminal, *path, url); }, wait_for_stop);
    if (!served) return terminal.fail(served.error(), "choose another port with --port; 0: any");
    return kExitOk;
  }

 private:
  void announce(Terminal& terminal, const std::string& path, const std::string& url) const {
    if (json_) return terminal.json(Value::map({{"url", url}}));
    terminal.line("hone shows " + path + " on " + url +
                  (token_file_.empty() ? "" : ", with a token") + "; stop it with Ctrl-C");
  }

  JournalOptionSet journal_;  // its path is an argument here
  std::string host_ = "127.0.0.1", token_file_;
  std::int64_t port_ = 5920;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_view_command() { return std::make_unique<ViewCommand>(); }

}  // namespace hone
