// `hone tool` and `hone profile`: examine a kernel from a file as a tool of an episode does.
#include <future>

#include "app/host.hpp"
#include "app/load_config.hpp"
#include "app/one_turn.hpp"
#include "app/parts.hpp"
#include "base/crypto.hpp"
#include "base/files.hpp"
#include "cli/command.hpp"
#include "offline/golden.hpp"
#include "terminal/progress.hpp"
#include "web/roofline.hpp"

namespace hone {
namespace {

constexpr std::size_t kSourceFileBytesMax = 4u << 20;

std::vector<std::string> tool_names() {
  const auto& names = EnumNames<Tool>::kNames;
  return {std::begin(names), std::end(names)};
}

class ToolCommand : public Command {
 public:
  /// `fixed`: the tool of a command of its own; none: the first argument names it.
  explicit ToolCommand(std::optional<Tool> fixed) : fixed_(fixed) {}

  std::string name() const override { return fixed_ ? std::string(enum_name(*fixed_)) : "tool"; }
  std::string summary() const override {
    return fixed_ ? "Judge and time a kernel, and show where its time goes."
                  : "Examine a kernel: check, profile, sanitize, disassemble, compile, hardware.";
  }
  std::vector<std::string> examples() const override {
    if (fixed_)
      return {"hone profile softmax kernel.cpp", "hone profile softmax kernel.cpp --json",
              "hone profile matmul kernel.cpp --roofline roofline.svg"};
    return {"hone tool sanitize softmax kernel.cpp     # memory errors with their lines",
            "hone tool disassemble softmax kernel.cpp  # its innermost loops",
            "hone tool hardware softmax"};
  }
  void declare(OptionSet& options) override {
    if (!fixed_) {
      options.text({.name = "TOOL",
                    .doc = "tool to run",
                    .value = "TOOL",
                    .choices = tool_names(),
                    .required = true},
                   tool_);
    }
    options.text({.name = "TASK",
                  .doc = "task as DATASET/ID or ID; `hone tasks` lists them",
                  .value = "TASK",
                  .required = true},
                 task_);
    options.text({.name = "FILE",
                  .doc = fixed_ ? "source file of the kernel"
                                : "source file of the kernel; none for hardware",
                  .value = "FILE",
                  .required = fixed_.has_value()},
                 file_);
    options.text({.name = "--language",
                  .doc = "language of the file (default: from the file name's extension)"},
                 language_);
    config_.declare(options);
    options.flag({.name = "--json", .doc = "print the facts and the verdict as JSON"}, json_);
    if (!fixed_) return;
    options.text({.name = "--roofline",
                  .doc = "draw a roofline of kernel and baseline to this SVG file",
                  .value = "FILE"},
                 roofline_);
  }

  int run(Terminal& terminal) override {
    const Tool tool = fixed_ ? *fixed_ : *parse_enum<Tool>(tool_);
    if ((tool == Tool::kHardware) != file_.empty())
      return terminal.fail(invalid_argument(std::string(enum_name(tool)) + ": found " +
                                            (file_.empty() ? "no FILE" : "a FILE") + ", expected " +
                                            (file_.empty() ? "a source file" : "none")));
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    loaded->config.journal.path.clear();  // a server's, for episodes
    const auto environment = open_kernel_refine(loaded->config);
    if (!environment) return terminal.fail(environment.error());
    auto host = Host::start(*loaded, show_steps(terminal));
    if (!host) return terminal.fail(host.error(), next_step(host.error()));
    const auto task = (*host)->catalog().find_for(loaded->config.backend, task_);
    if (!task) return terminal.fail(without_verbs(task.error()), "all tasks: hone tasks");
    if (!roofline_.empty() && (*task)->flops.empty())
      return terminal.fail(
          failed_precondition("task " + (*task)->id +
                              " has no 'flops', which a roofline needs; add it to the task "
                              "(docs/tasks.md), or leave out --roofline"));
    return examine(terminal, **host, **environment, *task, loaded->config.backend, tool);
  }

 private:
  int examine(Terminal& terminal, Host& host, const Environment& environment,
              const std::shared_ptr<const Task>& task, const std::string& backend, Tool tool) {
    const auto action = action_of(*task, backend, tool);
    if (!action) return terminal.fail(action.error());
    const auto settings = one_tool(environment, *task, backend, tool);
    const EpisodeView view{*task, backend, *settings, {}, 0};
    auto call = environment.prepare_call(view, *action);
    if (!call) return terminal.fail(call.error());
    Submission submission;
    submission.task = task;
    submission.backend = backend;
    submission.language = std::move(call->code.language);
    submission.source = std::move(call->code.source);
    submission.client = submission.episode = name();
    submission.seed = random_u64() >> 1;
    terminal.status(std::string(enum_name(tool)) + "…");
    const auto found = examine_and_wait(host.evaluator(), std::move(submission), tool);
    if (!found) return terminal.fail(found.error());
    const Value observation = environment.observe_call(view, *action, tool, *found);
    if (json_) {
      terminal.json(
          Value::map({{"tool", enum_name(tool)},
                      {"facts", found->facts},
                      {"verdict", found->verdict ? verdict_to_value(*found->verdict) : Value()},
                      {"feedback", *observation.find("feedback")}}),
          2);
    } else {
      terminal.line(observation.find("feedback")->as_string());
    }
    if (!roofline_.empty() && !found->facts.as_map().empty()) {
      if (const Status written = write_roofline(*task, found->facts); !written)
        return terminal.fail(written.error());
      if (!json_) terminal.line("Roofline: " + roofline_);
    }
    return is_clean(tool, found->facts) && (!found->verdict || found->verdict->correct()) ? kExitOk
                                                                                          : kExitNo;
  }

  /// Whether sanitize finished all calls and found no error. Always true for other tools.
  static bool is_clean(Tool tool, const Value& facts) {
    if (tool != Tool::kSanitize) return true;
    const Value *findings = facts.find("findings"), *finished = facts.find("finished");
    return findings != nullptr && findings->as_array().empty() && finished != nullptr &&
           *finished == Value(true);
  }

  Status write_roofline(const Task& task, const Value& facts) const {
    HONE_ASSIGN(const Roofline roofline, roofline_of_profile(task.title, facts));
    return write_file(roofline_, roofline_svg(roofline));
  }

  Result<Value> action_of(const Task& task, const std::string& backend, Tool tool) const {
    Value action = Value::map({{"tool", enum_name(tool)}});
    if (file_.empty()) return action;
    HONE_ASSIGN(std::string source, read_text(file_, kSourceFileBytesMax));
    action.set("code", std::move(source));
    const std::string language = language_.empty()
                                     ? language_of_file(file_, task.backends.at(backend).languages)
                                     : language_;
    if (!language.empty()) action.set("language", language);
    return action;
  }

  /// Settings of an episode with one use of the tool, and room for its whole answer.
  static std::shared_ptr<const Settings> one_tool(const Environment& environment, const Task& task,
                                                  const std::string& backend, Tool tool) {
    const Value options = Value::map({{"max_turns", 1},
                                      {"feedback_tokens", 65536},
                                      {"tools", Value::map({{std::string(enum_name(tool)), 1}})}});
    Fields fields(options, "options");
    return environment.read_options(fields, task, backend);
  }

  const std::optional<Tool> fixed_;
  ConfigOptions config_;
  std::string tool_, task_, file_, language_, roofline_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_tool_command() { return std::make_unique<ToolCommand>(std::nullopt); }
std::unique_ptr<Command> make_profile_command() {
  return std::make_unique<ToolCommand>(Tool::kProfile);
}

}  // namespace hone
