// `hone status` and `hone metrics`: the state and the counters of a running server.
#include <cstdio>

#include "cli/command.hpp"
#include "cli/running_server.hpp"
#include "hone/client.hpp"

namespace hone {
namespace {

constexpr double kTimeoutS = 5;  // to connect, and for each request

/// Connects with short time limits.
Result<std::unique_ptr<Client>> connect_to(const RunningServer& server) {
  ClientOptions options;
  options.name = "hone-status";
  options.connect_timeout_s = options.request_timeout_s = kTimeoutS;
  return server.connect(std::move(options));
}

std::string count_of(const Value& map, std::string_view key) {
  const Value found = member_or_nil(map, key);
  return found.is_number() ? std::to_string(static_cast<std::int64_t>(found.as_double())) : "?";
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds);
  char text[64];
  std::snprintf(text, sizeof text, "%lld:%02d:%02d", static_cast<long long>(whole / 3600),
                static_cast<int>(whole / 60 % 60), static_cast<int>(whole % 60));
  return text;
}

class MetricsCommand : public Command {
 public:
  std::string name() const override { return "metrics"; }
  std::string summary() const override { return "Print the counters of a running server."; }
  std::vector<std::string> examples() const override {
    return {"hone metrics                    # JSON, from the server on this machine",
            "hone metrics --prometheus       # Prometheus' text format, for a textfile collector",
            "hone metrics --endpoint tcp://HOST:5917 --key grafana.key"};
  }
  void declare(OptionSet& options) override {
    options.flag({.name = "--prometheus", .doc = "print in Prometheus' text format 0.0.4"},
                 prometheus_);
    server_.declare(options);
  }
  int run(Terminal& terminal) override {
    const auto client = connect_to(server_);
    if (!client) return server_.config.fail(terminal, client.error());
    const char* format = prometheus_ ? "prometheus" : "map";
    const auto said = (*client)->call("metrics", Value::map({{"format", format}}));
    if (!said) return terminal.fail(said.error());
    if (prometheus_) {
      std::string text = text_or_empty(member_or_nil(*said, "text"));
      if (text.ends_with('\n')) text.pop_back();
      terminal.line(text);
    } else {
      terminal.json(member_or_nil(*said, "metrics"), 2);
    }
    return kExitOk;
  }

 private:
  RunningServer server_;
  bool prometheus_ = false;
};

class StatusCommand : public Command {
 public:
  std::string name() const override { return "status"; }
  std::string summary() const override {
    return "Show health, queue, steps and journal of a running server.";
  }
  std::vector<std::string> examples() const override {
    return {"hone status                     # exit status 1 if it drains or cannot step",
            "hone status --json", "hone status -c configs/server.yaml",
            "hone status tcp://HOST:5917 --key grafana.key"};
  }
  void declare(OptionSet& options) override {
    server_.declare(options, true);
    options.flag({.name = "--json", .doc = "print JSON"}, json_);
  }
  int run(Terminal& terminal) override {
    const auto client = connect_to(server_);
    if (!client) return server_.config.fail(terminal, client.error());
    const auto health = (*client)->call("health", Value::map());
    if (!health) return terminal.fail(health.error());
    const auto metrics = (*client)->call("metrics", Value::map());
    if (!metrics) return terminal.fail(metrics.error());
    const Value hello = (*client)->hello();
    const Value service = member_or_nil(member_or_nil(*metrics, "metrics"), "service");
    if (json_) {
      terminal.json(Value::map({{"health", *health}, {"server", hello}, {"service", service}}), 2);
    } else {
      print(terminal, *health, hello, service);
    }
    return text_or_empty(member_or_nil(*health, "status")) == "serving" ? kExitOk : kExitNo;
  }

 private:
  static void print(Terminal& terminal, const Value& health, const Value& hello,
                    const Value& service) {
    const std::string status = text_or_empty(member_or_nil(health, "status"));
    const Value uptime = member_or_nil(health, "uptime_s");
    const Value steps = member_or_nil(service, "steps"),
                episodes = member_or_nil(service, "episodes"),
                evaluator = member_or_nil(service, "evaluator"),
                journal = member_or_nil(service, "journal");
    const Value drain_ms = member_or_nil(health, "drain_ms");
    const std::string until =
        drain_ms.is_int() ? ": ends within " + std::to_string(drain_ms.as_int() / 1000 + 1) + " s"
                          : "";
    std::vector<Row> rows{
        {{"status"}, {status + until, status == "serving" ? Colour::kGreen : Colour::kRed}}};
    if (const Value problems = member_or_nil(health, "problems"); problems.is_array()) {
      for (const Value& one : problems.as_array()) rows.push_back({{""}, {one.as_string()}});
    }
    rows.push_back({{"server"},
                    {text_or_empty(member_or_nil(hello, "server")) + ", up " +
                     duration_text(uptime.is_number() ? uptime.as_double() : 0) + ", isolation " +
                     text_or_empty(member_or_nil(hello, "isolation"))}});
    rows.push_back({{"measures"}, {text_or_empty(member_or_nil(hello, "fingerprint"))}});
    rows.push_back({{"steps"},
                    {count_of(steps, "under_way") + " under way, " + count_of(steps, "done") +
                     " done, " + count_of(steps, "unscored") + " not scored"}});
    rows.push_back({{"queue"},
                    {count_of(evaluator, "queue") + " submissions, " + count_of(health, "queue") +
                     " requests"}});
    rows.push_back({{"episodes"}, {count_of(episodes, "open") + " open"}});
    rows.push_back({{"connections"}, {count_of(health, "connections") + " open"}});
    rows.push_back({{"journal"},
                    {journal.is_map() ? count_of(journal, "turns") + " turns recorded, " +
                                            count_of(journal, "failures") + " writes failed"
                                      : "none"}});
    terminal.table({"", ""}, rows);
  }

  RunningServer server_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_metrics_command() { return std::make_unique<MetricsCommand>(); }
std::unique_ptr<Command> make_status_command() { return std::make_unique<StatusCommand>(); }

}  // namespace hone
