// `hone serve`: runs the server until a stop signal.
#include <csignal>
#include <filesystem>

#include "app/local_server.hpp"
#include "app/parts.hpp"
#include "app/stop_signals.hpp"
#include "base/log.hpp"
#include "cli/command.hpp"
#include "hone/version.h"

namespace hone {
namespace {

class ServeCommand : public Command {
 public:
  std::string name() const override { return "serve"; }
  std::string summary() const override { return "Serve trainers until SIGINT, SIGTERM or SIGHUP."; }
  std::vector<std::string> examples() const override {
    return {"hone serve                          # on tcp://127.0.0.1:5917",
            "hone serve -c configs/server.yaml",
            "mkdir -m 700 /tmp/hone && hone serve --endpoint ipc:///tmp/hone/sock --control ''",
            "hone serve --endpoint 'tcp://*:5917' --control 'tcp://*:5918' --keys keys   ",
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
    const auto loaded = config_.load(sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    set_up_log(log_level_of(loaded->config.log.level), loaded->config.log.json);
    if (const Status good = check_endpoints(*loaded); !good) return terminal.fail(good.error());
    if (const Status caught = catch_stop_signals(); !caught) return terminal.fail(caught.error());
    auto server =
        LocalServer::start(*loaded, [&](std::string_view what) { log_info("hone", what); });
    if (!server) return terminal.fail(server.error(), next_step(server.error()));
    announce(terminal, **server);
    return serve(terminal, **server, loaded->config.server.drain_s);
  }

 private:
  void announce(Terminal& terminal, const LocalServer& server) const {
    log_info("hone", server.description());
    if (json_) {
      terminal.json(Value::map({{"endpoint", server.endpoint()},
                                {"control", server.control_endpoint()},
                                {"server_key", server.server_key()},
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
  }

  static int serve(Terminal& terminal, LocalServer& server, double drain_s) {
    int stopped_by = 0;
    while ((stopped_by = stop_asked(1000)) == 0) {
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
                         " s; Ctrl-C again stops at once");
    const bool clean = server.shut_down(drain_s);
    log_info("hone", clean ? "stopped; all steps were answered"
                           : "stopped; steps in flight were answered with `unavailable`");
    return kExitOk;
  }

  static constexpr const char* kUnset = "\n";
  ConfigOptions config_;
  std::string endpoint_, control_ = kUnset, keys_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_serve_command() { return std::make_unique<ServeCommand>(); }

}  // namespace hone
