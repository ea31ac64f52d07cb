// `hone serve`: runs the server until a stop signal.
#include <csignal>
#include <filesystem>
#include <functional>

#include "app/local_server.hpp"
#include "app/log_options.hpp"
#include "app/parts.hpp"
#include "app/stop_signals.hpp"
#include "app/web_process.hpp"
#include "base/log.hpp"
#include "cli/command.hpp"
#include "cli/web_pages.hpp"
#include "hone/version.h"

namespace hone {
namespace {

class ServeCommand : public Command {
 public:
  std::string name() const override { return "serve"; }
  std::string summary() const override { return "Serve trainers until SIGINT or SIGTERM."; }
  std::vector<std::string> examples() const override {
    return {"hone serve                          # on tcp://127.0.0.1:5917",
            "hone serve -c configs/server.yaml",
            "mkdir -m 700 /tmp/hone && hone serve --endpoint ipc:///tmp/hone/sock --control ''",
            "hone serve --endpoint 'tcp://*:5917' --control 'tcp://*:5918' --keys keys   ",
            "hone serve --web 5919 --set journal.path=run.db   # a web page, metrics and health",
            "hone serve --set evaluate.builders=2 --set environment.max_turns=8"};
  }
  void declare(OptionSet& options) override {
    config_.declare(options, true);
    options.text({.name = "--endpoint",
                  .doc = "endpoint for trainers; port 0: any (default: server.endpoint)",
                  .value = "ENDPOINT"},
                 endpoint_);
    options.text({.name = "--control",
                  .doc = "endpoint for cancel, metrics and health (default: server.control)",
                  .value = "ENDPOINT"},
                 control_);
    options.text({.name = "--keys",
                  .doc = "folder of keys; encrypts, and admits only listed clients",
                  .value = "DIR"},
                 keys_);
    options.text({.name = "--web",
                  .doc = "PORT or HOST:PORT of the web page and metrics (default: web.listen)",
                  .value = "PLACE"},
                 web_listen_);
    options.flag({.name = "--json", .doc = "print the endpoints as a JSON object"}, json_);
  }

  int run(Terminal& terminal) override {
    std::vector<std::string> sets;
    if (!endpoint_.empty()) sets.push_back("server.endpoint=" + to_json(endpoint_));
    if (control_ != kUnset) sets.push_back("server.control=" + to_json(control_));
    // Relative to the working folder, not to the folder of the configuration.
    if (!keys_.empty()) {
      sets.push_back("server.keys=" + to_json(std::filesystem::absolute(keys_).string()));
    }
    if (!web_listen_.empty()) sets.push_back("web.listen=" + to_json(web_listen_));
    const auto load = [&] { return config_.load(sets); };
    const auto loaded = load();
    if (!loaded) return config_.fail(terminal, loaded.error());
    set_up_log(loaded->config.log);
    if (const Status good = check_endpoints(*loaded); !good) return terminal.fail(good.error());
    if (const Status caught = catch_stop_signals(); !caught) return terminal.fail(caught.error());
    if (const Status caught = reload_on_hangup(); !caught) return terminal.fail(caught.error());
    const WebConfig& page = loaded->config.web;
    if (!page.listen.empty()) {  // before the seconds that a start takes
      const auto http = web_http_options(page.listen, page.token_file, "web.listen", "web");
      if (!http) return terminal.fail(http.error());
    }
    auto server =
        LocalServer::start(*loaded, [&](std::string_view what) { log_info("hone", what); });
    if (!server) return terminal.fail(server.error(), next_step(server.error()));
    if (!loaded->config.web.listen.empty()) {
      auto web = start_web(loaded->config, **server);
      if (!web) return terminal.fail(web.error());
      web_ = std::move(*web);
    }
    announce(terminal, **server);
    return serve(terminal, **server, loaded->config.server.drain_s, load);
  }

 private:
  Result<std::unique_ptr<WebProcess>> start_web(const Config& config,
                                                const LocalServer& server) const {
    if (!server.server_key().empty() && config.web.key.empty()) {
      return failed_precondition(
          "web.key: found none, expected a client key, because the server requires keys; run `hone "
          "keys new web --role monitor` and set web.key to the path of the file that it writes");
    }
    const std::string& control = server.control_endpoint();
    return WebProcess::start({config.web.listen, config.web.token_file, config.web.key,
                              control.empty() ? server.endpoint() : control, config.log.level,
                              log_format_of(config.log), config.journal.path, config_.file,
                              config_.sets});
  }

  void announce(Terminal& terminal, const LocalServer& server) const {
    log_info("hone", server.description());
    if (json_) {
      terminal.json(Value::map({{"endpoint", server.endpoint()},
                                {"control", server.control_endpoint()},
                                {"server_key", server.server_key()},
                                {"web", web_ ? Value(web_->url()) : Value()},
                                {"version", HONE_VERSION_STRING},
                                {"description", server.description()}}));
      return;
    }
    const std::string control =
        server.control_endpoint().empty() ? "" : ", control on " + server.control_endpoint();
    terminal.line("hone " HONE_VERSION_STRING " serves on " + server.endpoint() + control);
    terminal.line(server.description());
    if (!server.server_key().empty()) {
      terminal.line("encrypted; its public key: " + server.server_key());
    }
    if (web_) terminal.line("web page, metrics and health on " + shown_url(web_->url()));
  }

  using Load = std::function<Result<LoadedConfig>()>;

  /// On SIGHUP. Rationale: only what can change under running episodes.
  static void reload(LocalServer& server, const Load& load) {
    server.reload_keys();
    const auto loaded = load();
    if (!loaded) {
      log_error("hone", loaded.error().in("SIGHUP: the log level is unchanged").message);
      return;
    }
    const std::string& level = loaded->config.log.level;
    set_log_level(log_level_of(level));
    log_info("hone", "SIGHUP: log level " + level + "; other changes apply at the next start");
  }

  int serve(Terminal& terminal, LocalServer& server, double drain_s, const Load& load) {
    int stopped_by = 0;
    while ((stopped_by = stop_asked(1000)) == 0) {
      if (reload_asked()) reload(server, load);
      if (web_) web_->keep_alive();
      if (!server.alive()) {
        return terminal.fail(unavailable("the launcher process ended, so nothing can be evaluated"),
                             "start hone again; the log has the reason");
      }
    }
    log_info("hone", "stopping on " + stop_signal_name(stopped_by) +
                         (stopped_by == SIGHUP
                              ? " (the terminal closed; start hone with nohup to keep it running)"
                              : "") +
                         ": waiting for steps in flight, at most " + short_number(drain_s) +
                         " s; a second SIGINT or SIGTERM stops at once");
    const bool clean = server.shut_down(drain_s);
    log_info("hone",
             clean ? "stopped; all steps were answered"
                   : "stopped; steps that were not finished were answered with `unavailable`");
    return kExitOk;
  }

  static constexpr const char* kUnset = "\n";
  ConfigOptions config_;
  std::string endpoint_, control_ = kUnset, keys_;
  std::string web_listen_;
  std::unique_ptr<WebProcess> web_;  // ends after the server has drained
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_serve_command() { return std::make_unique<ServeCommand>(); }

}  // namespace hone
