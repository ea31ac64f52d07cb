// `hone demo`: a real server in this process, and one episode of four turns through the C++ client.
#include <filesystem>

#include "app/local_server.hpp"
#include "app/parts.hpp"
#include "base/files.hpp"
#include "cli/command.hpp"
#include "hone/client.hpp"

namespace hone {
namespace {

struct DemoTurn {
  const char* file;  ///< without extension; the language decides it
  const char* about;
};
constexpr DemoTurn kTurns[] = {
    {"demo_1_wrong", "multiplies where it should add"},
    {"demo_2_crash", "has no bounds check"},
    {"demo_3_slow", "right, but through a temporary"},
    {"demo_4_fused", "fused: one pass over memory"},
};
constexpr const char* kTask = "add_relu";

const Value* find_path(const Value& value, std::initializer_list<std::string_view> path) {
  const Value* at = &value;
  for (const std::string_view key : path) {
    at = at == nullptr ? nullptr : at->find(key);
  }
  return at == nullptr || at->is_nil() ? nullptr : at;
}

std::string text_at(const Value& value, std::initializer_list<std::string_view> path) {
  const Value* found = find_path(value, path);
  return found != nullptr && found->is_string() ? found->as_string() : "";
}

std::string number_at(const Value& value, std::initializer_list<std::string_view> path,
                      int digits = 3) {
  const Value* found = find_path(value, path);
  return found != nullptr && found->is_number() ? short_number(found->as_double(), digits) : "–";
}

std::string show(const std::optional<double>& number) {
  return number ? short_number(*number) : "none";
}

/// The first lines of a feedback.
std::string shortened(const std::string& text, std::size_t lines_max) {
  std::string kept;
  std::size_t lines = 0;
  for (std::size_t start = 0; start < text.size() && lines < lines_max;) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    if (end > start) {
      kept += "    " + text.substr(start, end - start) + "\n";
      ++lines;
    }
    start = end + 1;
  }
  if (!kept.empty()) kept.pop_back();
  return kept;
}

class DemoCommand : public Command {
 public:
  std::string name() const override { return "demo"; }
  std::string summary() const override {
    return "Play one episode with four kernels on this machine.";
  }
  std::vector<std::string> examples() const override {
    return {"hone demo", "hone demo --show-source   # with the source of each kernel",
            "hone demo --json          # one JSON object per turn",
            "hone demo --backend NAME  # the same kernels for a GPU"};
  }
  void declare(OptionSet& options) override {
    options.flag({.name = "--show-source", .doc = "print each submission before it is sent"},
                 show_source_);
    options.flag({.name = "--json", .doc = "print one JSON object per turn"}, json_);
    options.text(
        {.name = "--backend", .doc = "backend to evaluate with (default: from the configuration)"},
        backend_);
    config_.declare(options);
  }

  int run(Terminal& terminal) override {
    std::vector<std::string> sets = config_.sets;
    if (!backend_.empty()) sets.push_back("backend=" + backend_);
    const auto loaded = load_config(config_.file, sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    LoadedConfig here = on_free_ports(*loaded);
    here.config.environment.max_turns = static_cast<std::int64_t>(std::size(kTurns));
    auto server = LocalServer::start(here, show_steps(terminal));
    if (!server) return terminal.fail(server.error(), next_step(server.error()));
    ClientOptions options;
    options.name = "hone-demo/1";
    auto client = Client::connect((*server)->endpoint(), options);
    if (!client) return terminal.fail(client.error());
    const int status = play(terminal, **client, **server, here.config.backend);
    client->reset();
    (*server)->shut_down(5);
    return status;
  }

 private:
  int play(Terminal& terminal, Client& client, const LocalServer& server,
           const std::string& backend) const {
    const std::string language = backend == "cpu" ? "c++" : backend;
    const char* ending = backend == "cpu" ? ".cpp" : ".cu";
    ResetOptions options;
    options.task = kTask;
    options.seed = 1;
    auto episode = client.reset(options);
    if (!episode) return terminal.fail(episode.error());
    if (!json_) {
      terminal.line("A server in this process serves on " + server.endpoint() + ";");
      terminal.line("one episode of the task " + terminal.paint(Colour::kBold, kTask) +
                    " through the C++ client:");
    }
    for (std::size_t i = 0; i < std::size(kTurns); ++i) {
      const auto source = read_text(install_root() / "share/tasks" / kTask / "golden" /
                                    (std::string(kTurns[i].file) + ending));
      if (!source)
        return terminal.fail(source.error(),
                             "the installation is incomplete; check it with `hone doctor`");
      if (show_source_ && !json_) terminal.line("\n" + terminal.paint(Colour::kDim, *source));
      const auto step = take_step(terminal, client, *episode, *source, language, i);
      if (!step) return terminal.fail(step.error());
      json_ ? print_json(terminal, *step, *source) : print(terminal, *step, kTurns[i].about);
      if (step->ended()) break;
    }
    if (!json_) {
      terminal.line();
      const std::string program = std::filesystem::proximate(install_root() / "hone").string();
      terminal.line("To serve your trainer: " + terminal.paint(Colour::kBold, program + " serve") +
                    "  (then, in Python: hone.connect(\"tcp://127.0.0.1:5917\"))");
    }
    return kExitOk;
  }

  static Result<Step> take_step(Terminal& terminal, Client& client, Episode& episode,
                                const std::string& source, const std::string& language,
                                std::size_t i) {
    const std::string turn =
        "turn " + std::to_string(i + 1) + " of " + std::to_string(std::size(kTurns)) + ": ";
    terminal.status(turn + "sent…");
    const Pending pending =
        client.submit_step(episode, {.code = source, .response = {}, .language = language});
    while (!pending.done()) {
      pending.wait(-1, true);
      for (const Value& progress : Pending(pending).take_progress()) {
        terminal.status(turn + text_at(progress, {"stage"}) + "…");
      }
    }
    terminal.clear_status();
    return Client::finish_step(episode, Pending(pending).take());
  }

  void print_json(Terminal& terminal, const Step& step, const std::string& source) const {
    const Value none;
    const auto take = [&](std::initializer_list<std::string_view> path) {
      const Value* found = find_path(step.info, path);
      return found == nullptr ? none : *found;
    };
    Value object = Value::map({
        {"turn", step.turn},
        {"outcome", take({"verdict", "outcome"})},
        {"speedup", take({"verdict", "speedup", "value"})},
        {"reward", step.reward ? Value(*step.reward) : none},
        {"return_to_date", step.return_to_date ? Value(*step.return_to_date) : none},
        {"reward_valid", step.reward_valid},
        {"speedup_low", take({"verdict", "speedup", "low"})},
        {"speedup_high", take({"verdict", "speedup", "high"})},
        {"reason", take({"verdict", "reason"})},
        {"components", take({"components"})},
        {"stage_ms", take({"verdict", "stage_ms"})},
        {"feedback", text_at(step.observation, {"feedback"})},
        {"terminated", step.terminated},
        {"truncated", step.truncated},
    });
    if (show_source_) object.set("source", source);
    terminal.json(object);
  }

  static void print(Terminal& terminal, const Step& step, const std::string& about) {
    const std::string outcome =
        step.reward_valid ? text_at(step.info, {"verdict", "outcome"}) : "not scored";
    const Colour colour = outcome == "correct" ? Colour::kGreen : Colour::kRed;
    std::string headline = "\n" +
                           terminal.paint(Colour::kBold, "turn " + std::to_string(step.turn)) +
                           "  " + terminal.paint(colour, outcome);
    if (find_path(step.info, {"verdict", "speedup"}) != nullptr) {
      headline += "  " +
                  terminal.paint(Colour::kBold,
                                 number_at(step.info, {"verdict", "speedup", "value"}) + "×") +
                  " the baseline (95 %: " + number_at(step.info, {"verdict", "speedup", "low"}) +
                  "–" + number_at(step.info, {"verdict", "speedup", "high"}) + ")";
    }
    terminal.line(headline + terminal.paint(Colour::kDim, "  — " + about));
    terminal.line("  reward " + show(step.reward) + ", return " + show(step.return_to_date));
    const auto ms = [&](const char* stage) {
      return number_at(step.info, {"verdict", "stage_ms", stage});
    };
    terminal.line(terminal.paint(Colour::kDim, "  build " + ms("build") + " ms, check " +
                                                   ms("check") + " ms, measurement " +
                                                   ms("measure") + " ms"));
    const std::string fault = text_at(step.info, {"fault"});
    if (!fault.empty()) terminal.line("  fault: " + fault);
    terminal.line(shortened(text_at(step.observation, {"feedback"}), 8));
  }

  ConfigOptions config_;
  std::string backend_;
  bool show_source_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_demo_command() { return std::make_unique<DemoCommand>(); }

}  // namespace hone
