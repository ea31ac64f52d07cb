// `hone top`: the figures of a running server in a terminal, refreshed each second.
#include <algorithm>
#include <utility>

#include "app/stop_signals.hpp"
#include "base/clock.hpp"
#include "cli/command.hpp"
#include "cli/running_server.hpp"
#include "cli/top_view.hpp"
#include "hone/client.hpp"
#include "terminal/screen.hpp"

namespace hone {
namespace {

// Limit of the first connection, and of each request for the first figures.
constexpr double kFirstS = 5;
constexpr double kAnswerS = 1;  // limit of each later request; no key is read meanwhile
constexpr int kRefreshMs = 1000;

struct Sample {
  Value health, metrics;
  double at = 0;
};

/// Asks a server. After a failure it connects again with the next request.
class Asker {
 public:
  explicit Asker(const RunningServer& server) : server_(server) {}

  Status connect(double timeout_s) {
    ClientOptions options;
    options.name = "hone-top";
    options.connect_timeout_s = timeout_s;
    HONE_ASSIGN(client_, server_.connect(std::move(options)));
    return {};
  }
  Result<Sample> ask(double timeout_s) {
    auto sample = ask_once(timeout_s);
    if (!sample) client_.reset();
    return sample;
  }

 private:
  Result<Sample> ask_once(double timeout_s) {
    if (client_ == nullptr) HONE_TRY(connect(timeout_s));
    RequestOptions options;
    options.timeout_s = timeout_s;
    Sample sample;
    HONE_ASSIGN(sample.health, client_->call("health", Value::map(), options));
    HONE_ASSIGN(const Value metrics, client_->call("metrics", Value::map(), options));
    if (const Value* found = metrics.find("metrics")) sample.metrics = *found;
    sample.at = wall_s();
    return sample;
  }

  const RunningServer& server_;
  std::unique_ptr<Client> client_;
};

class TopCommand : public Command {
 public:
  std::string name() const override { return "top"; }
  std::string summary() const override {
    return "Show live figures of a running server in the terminal.";
  }
  std::vector<std::string> examples() const override {
    return {"hone top                                      # quit with q",
            "hone top tcp://HOST:5917 --key grafana.key",
            "hone top --once                               # print once, as text",
            "hone top --json                               # one line each second"};
  }
  void declare(OptionSet& options) override {
    server_.declare(options, true);
    options.flag({.name = "--once", .doc = "print once and exit"}, once_);
    options.flag(
        {.name = "--json", .doc = "print health and metrics as JSON, one line each second"}, json_);
  }

  int run(Terminal& terminal) override {
    Asker asker(server_);
    if (const Status reached = asker.connect(kFirstS); !reached)
      return server_.config.fail(terminal, reached.error());
    if (json_) return print_json(terminal, asker);
    TopView view(server_.endpoint);
    if (!once_) {
      if (const auto screen = Screen::open()) return draw(terminal, asker, view, **screen);
    }
    const auto sample = asker.ask(kFirstS);  // --once, or standard output is no terminal
    if (!sample) return terminal.fail(sample.error());
    view.record(sample->health, sample->metrics, sample->at);
    for (const std::string& line : painted(terminal, view.rows(0), 0)) terminal.line(line);
    return kExitOk;
  }

 private:
  static int draw(const Terminal& terminal, Asker& asker, TopView& view, Screen& screen) {
    double next_s = 0, timeout_s = kFirstS;
    for (Screen::Event event = Screen::Event::kTimeout; event != Screen::Event::kQuit;) {
      if (monotonic_s() >= next_s) {
        next_s = monotonic_s() + kRefreshMs / 1e3;
        if (auto sample = asker.ask(std::exchange(timeout_s, kAnswerS))) {
          view.record(std::move(sample->health), std::move(sample->metrics), sample->at);
        } else {
          view.record_failure(sample.error().message);
        }
      }
      const Screen::Size size = screen.size();
      screen.show(painted(terminal, view.rows(size.rows, size.columns), size.columns));
      event = screen.wait(static_cast<int>(std::max(0.0, (next_s - monotonic_s()) * 1e3)));
    }
    return kExitOk;
  }

  int print_json(Terminal& terminal, Asker& asker) const {
    if (const Status caught = catch_stop_signals(); !caught) return terminal.fail(caught.error());
    double next_s = 0, timeout_s = kFirstS;
    do {
      next_s = monotonic_s() + kRefreshMs / 1e3;
      const auto sample = asker.ask(std::exchange(timeout_s, kAnswerS));
      if (!sample && once_) return terminal.fail(sample.error());
      terminal.json(sample ? Value::map({{"at", sample->at},
                                         {"health", sample->health},
                                         {"metrics", sample->metrics}})
                           : Value::map({{"at", wall_s()}, {"error", sample.error().message}}));
    } while (!once_ &&
             stop_asked(static_cast<int>(std::max(0.0, (next_s - monotonic_s()) * 1e3))) == 0);
    return kExitOk;
  }

  RunningServer server_;
  bool once_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_top_command() { return std::make_unique<TopCommand>(); }

}  // namespace hone
