// `hone web`: the web page, metrics and health of a running server over HTTP.
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "app/load_config.hpp"
#include "app/log_options.hpp"
#include "app/stop_signals.hpp"
#include "base/priority.hpp"
#include "cli/command.hpp"
#include "cli/running_server.hpp"
#include "cli/web_pages.hpp"

namespace hone {
namespace {

// Limit of the server's answer to one HTTP request. Below 5 s, after which many probes give up.
constexpr double kAnswerS = 4;
constexpr double kConnectS = 20;  // of a busy machine

/// Waits until standard input is closed: the server that started this process has ended.
void wait_for_end_of_input() {
  for (;;) {
    char byte = 0;
    const ssize_t n = read(STDIN_FILENO, &byte, 1);
    if (n == 0 || (n < 0 && errno != EINTR)) return;
  }
}

class WebCommand : public Command {
 public:
  std::string name() const override { return "web"; }
  std::string summary() const override {
    return "Serve a web page, metrics and health of a running server over HTTP.";
  }
  std::vector<std::string> examples() const override {
    return {"hone web                        # http://127.0.0.1:5919",
            "hone web --journal run.db       # the page shows the journal's episodes",
            "hone web --listen 0.0.0.0:5919 --token-file token"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "--listen",
                  .doc = "PORT on loopback, or HOST:PORT; port 0: any (default: 5919)",
                  .value = "PLACE"},
                 listen_);
    options.text({.name = "--token-file",
                  .doc = "file with the HTTP clients' token; required unless on loopback",
                  .value = "FILE"},
                 token_file_);
    options.text({.name = "--journal",
                  .doc = "file of the server's journal (default: journal.path)",
                  .value = "FILE"},
                 journal_);
    server_.declare(options);
    options.text({.name = "--tasks-config",
                  .doc = "configuration with the tasks of the prompts",
                  .value = "FILE",
                  .hidden = true},
                 tasks_config_);
    options.texts({.name = "--tasks-set",
                   .doc = "override one key of it",
                   .value = "KEY=VALUE",
                   .hidden = true},
                  tasks_sets_);
    options.flag(
        {.name = "--until-eof", .doc = "end when standard input is closed", .hidden = true},
        until_eof_);
    options.flag({.name = "--json", .doc = "print the address as a JSON object"}, json_);
  }

  int run(Terminal& terminal) override {
    auto http = web_http_options(listen_, token_file_, "--listen", "web");
    if (!http) return terminal.fail(http.error());
    if (until_eof_) {
      // The server that started this process decides when it ends.
      for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(number, SIG_IGN);
      set_priority(0, kBuilderPriority);  // browsers must not slow evaluations down
    } else if (const Status caught = catch_stop_signals(); !caught) {
      return terminal.fail(caught.error());
    }
    if (const Status log = server_.set_up_log(); !log)
      return server_.config.fail(terminal, log.error());
    ClientOptions options;
    options.name = "hone-web";
    options.connect_timeout_s = kConnectS;
    options.request_timeout_s = kAnswerS;
    const auto client = server_.connect(std::move(options));
    if (!client) return server_.config.fail(terminal, client.error());
    // A journal may be read by its owner only, and a server with keys keeps its clients apart.
    const bool is_closed = !server_.key.empty() && token_file_.empty();
    const auto episodes =
        is_closed ? Result<std::unique_ptr<EpisodePages>>(nullptr) : episode_pages();
    if (!episodes) return server_.config.fail(terminal, episodes.error());
    WebSources sources{
        .server = [&client](const std::string& verb,
                            const Value& body) { return (*client)->call(verb, body); },
        .no_episodes = is_closed ? "the server has keys, and all users of this machine can read "
                                   "this page; set web.token_file (`hone web`: --token-file) to "
                                   "show its episodes"
                                 : "this process has no journal; start the server with "
                                   "--set journal.path=FILE, or `hone web` with --journal FILE"};
    if (*episodes != nullptr) {
      const std::filesystem::path path = (*episodes)->path();
      sources.journals.push_back({path.filename().string(), episodes->get()});
    }
    const Status served = serve_web(
        *http, std::move(sources), [&](const std::string& url) { announce(terminal, url); },
        until_eof_ ? wait_for_end_of_input : wait_for_stop);
    if (!served)
      return terminal.fail(
          served.error(),
          "choose another address: hone serve --web, hone web --listen, or web.listen in "
          "the configuration");
    return kExitOk;
  }

 private:
  /// nullptr: no journal is known.
  Result<std::unique_ptr<EpisodePages>> episode_pages() const {
    HONE_ASSIGN(const LoadedConfig loaded, load_config(server_.config.file, server_.config.sets));
    const std::string path = journal_.empty() ? loaded.config.journal.path : journal_;
    if (path.empty()) return std::unique_ptr<EpisodePages>();
    const bool own = tasks_config_.empty() && tasks_sets_.empty();
    return make_episode_pages(path, own ? server_.config.file : tasks_config_,
                              own ? server_.config.sets : tasks_sets_);
  }

  void announce(Terminal& terminal, const std::string& url) const {
    if (json_) return terminal.json(Value::map({{"url", url}}));
    terminal.line("hone serves " + shown_url(url) + ", /metrics, /healthz and /readyz" +
                  (token_file_.empty() ? "" : ", with a token"));
  }

  RunningServer server_;
  std::string listen_ = "5919", token_file_, journal_, tasks_config_;
  std::vector<std::string> tasks_sets_;
  bool until_eof_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_web_command() { return std::make_unique<WebCommand>(); }

}  // namespace hone
