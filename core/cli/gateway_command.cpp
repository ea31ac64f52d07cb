// `hone gateway`: an HTTP server for clients of another system's evaluation server; hone evaluates.
#include <filesystem>

#include "app/local_server.hpp"
#include "app/log_options.hpp"
#include "app/parts.hpp"
#include "app/stop_signals.hpp"
#include "cli/command.hpp"
#include "gateway/gateway_server.hpp"

namespace hone {
namespace {

constexpr const char* kAddressTaken =
    "if another gateway is running, choose another address with --listen";

class GatewayCommand : public Command {
 public:
  std::string name() const override { return "gateway"; }
  std::string summary() const override {
    return "Serve clients of TritonForge's evaluation server over HTTP.";
  }
  std::vector<std::string> examples() const override {
    return {"hone gateway tritonforge --python build/python/bin/python   # starts a server",
            "hone gateway tritonforge -c modules.yaml --listen 127.0.0.1:0 --json",
            "hone gateway tritonforge --endpoint tcp://127.0.0.1:5917 --references FOLDER",
            "hone gateway tritonforge -c modules.yaml --listen 0.0.0.0:18188 --token-file token"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "KIND",
                  .doc = "protocol of the clients",
                  .choices = {"tritonforge"},
                  .required = true},
                 kind_);
    options.text({.name = "--listen",
                  .doc = "HOST:PORT to listen on; port 0: any (default: 127.0.0.1:18188)",
                  .value = "PLACE"},
                 options_.listen);
    options.text({.name = "--token-file",
                  .doc = "file with the clients' token; required unless on loopback",
                  .value = "FILE"},
                 options_.token_file);
    options.text({.name = "--endpoint",
                  .doc = "endpoint of a running server (default: start one)",
                  .value = "ENDPOINT"},
                 options_.endpoint);
    options.text({.name = "--key", .doc = "client key for that server", .value = "FILE"},
                 options_.key);
    options.text({.name = "--references",
                  .doc = "folder for the references that clients send; they run as trusted code",
                  .value = "DIR"},
                 options_.references);
    options.text({.name = "--python",
                  .doc = "Python with torch; sets plugins.python and cpu.python",
                  .value = "FILE"},
                 python_);
    options.integer({.name = "--timeout",
                     .doc = "time limit of one evaluation (s, default: 600)",
                     .value = "N"},
                    options_.seconds, 1, 86400);
    options.integer({.name = "--evaluations",
                     .doc = "evaluations in flight; beyond it clients get 429 (default: 256)",
                     .value = "N"},
                    options_.evaluations, 1, 4096);
    config_.declare(options);
    options.flag({.name = "--json", .doc = "print the address as a JSON object"}, json_);
  }

  int run(Terminal& terminal) override {
    const std::string endpoint = options_.endpoint;
    const auto gateway = GatewayServer::open(options_);
    if (!gateway) return terminal.fail(gateway.error());
    if (!endpoint.empty() && (!config_.file.empty() || !config_.sets.empty() || !python_.empty()))
      return terminal.fail(invalid_argument(
          "--endpoint: cannot be combined with a configuration, which is for the gateway's own "
          "server"));
    if (const Status free = (*gateway)->try_address(); !free)
      return terminal.fail(free.error(), kAddressTaken);
    if (const Status caught = catch_stop_signals(); !caught) return terminal.fail(caught.error());
    if (!endpoint.empty()) return serve(terminal, **gateway, endpoint, nullptr);
    auto loaded = load();
    if (!loaded) return config_.fail(terminal, loaded.error());
    set_up_log(loaded->config.log);
    if (const Status there = (*gateway)->place_references(loaded->config); !there)
      return terminal.fail(there.error());
    if (loaded->config.cpu.python.empty())
      return terminal.fail(
          failed_precondition("no interpreter runs modules: cpu.python is not set"),
          "scripts/setup --python makes one; then --python build/python/bin/python");
    const auto server = LocalServer::start(on_free_ports(*loaded),
                                           [](std::string_view what) { log_info("hone", what); });
    if (!server) return terminal.fail(server.error(), next_step(server.error()));
    return serve(terminal, **gateway, (*server)->endpoint(), server->get());
  }

 private:
  Result<LoadedConfig> load() const {
    std::vector<std::string> sets = config_.sets;
    if (!python_.empty()) {
      const std::string path = to_json(std::filesystem::absolute(python_).string());
      sets.push_back("plugins.python=" + path);
      sets.push_back("cpu.python=" + path);
    }
    return load_config(config_.file, sets);
  }

  int serve(Terminal& terminal, GatewayServer& gateway, const std::string& endpoint,
            LocalServer* server) const {
    if (const Status there = gateway.connect(endpoint); !there) return terminal.fail(there.error());
    const auto url = gateway.listen();
    if (!url) return terminal.fail(url.error(), kAddressTaken);
    announce(terminal, *url, gateway.has_token());
    int status = kExitOk;
    while (stop_asked(1000) == 0) {
      if (server == nullptr || server->alive()) continue;
      status = terminal.fail(unavailable("the launcher process ended, so nothing can be evaluated"),
                             "start it again; its log says what happened");
      break;
    }
    gateway.stop();
    if (server != nullptr) server->shut_down(1);
    return status;
  }

  void announce(Terminal& terminal, const std::string& url, bool token) const {
    if (json_) return terminal.json(Value::map({{"url", url}, {"kind", kind_}, {"token", token}}));
    terminal.line("hone serves TritonForge's clients on " + url + (token ? ", with a token" : ""));
  }

  ConfigOptions config_;
  GatewayOptions options_;
  std::string kind_, python_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_gateway_command() { return std::make_unique<GatewayCommand>(); }

}  // namespace hone
