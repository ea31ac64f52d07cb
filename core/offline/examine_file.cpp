// An episode of one call, which is not stored.
#include "offline/examine_file.hpp"

#include <memory>
#include <utility>

#include "app/host.hpp"
#include "app/parts.hpp"
#include "base/crypto.hpp"
#include "base/files.hpp"
#include "offline/golden.hpp"
#include "web/roofline.hpp"

namespace hone {
namespace {

constexpr std::size_t kSourceFileBytesMax = 4u << 20;

/// Whether sanitize finished all calls and found no error. Always true for other tools.
bool is_clean(Tool tool, const Value& facts) {
  if (tool != Tool::kSanitize) return true;
  const Value *findings = facts.find("findings"), *finished = facts.find("finished");
  return findings != nullptr && findings->as_array().empty() && finished != nullptr &&
         *finished == Value(true);
}

Status write_roofline(const Task& task, const Value& facts, const std::string& file) {
  HONE_ASSIGN(const Roofline roofline, roofline_of_profile(task.title, facts));
  return write_file(file, roofline_svg(roofline));
}

Result<Value> tool_action(const Task& task, const std::string& backend,
                          const ToolRequest& request) {
  Value action = Value::map({{"tool", enum_name(request.tool)}});
  if (request.file.empty()) return action;
  HONE_ASSIGN(std::string source, read_text(request.file, kSourceFileBytesMax));
  action.set("code", std::move(source));
  const std::string language =
      request.language.empty() ? language_of_file(request.file, task.backends.at(backend).languages)
                               : request.language;
  if (!language.empty()) action.set("language", language);
  return action;
}

/// Settings of an episode with one use of the tool, and room for its whole answer.
std::shared_ptr<const Settings> one_tool(const Environment& environment, const Task& task,
                                         const std::string& backend, Tool tool) {
  const Value options = Value::map({{"max_turns", 1},
                                    {"feedback_tokens", 65536},
                                    {"tools", Value::map({{std::string(enum_name(tool)), 1}})}});
  Fields fields(options, "options");
  return environment.read_options(fields, task, backend);
}

int examine_task(Terminal& terminal, Host& host, const Environment& environment,
                 const std::shared_ptr<const Task>& task, const std::string& backend,
                 const ToolRequest& request) {
  const Tool tool = request.tool;
  const auto action = tool_action(*task, backend, request);
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
  submission.client = submission.episode = request.client;
  submission.seed = random_u64() >> 1;
  terminal.status(std::string(enum_name(tool)) + "…");
  const auto found = examine_and_wait(host.evaluator(), std::move(submission), tool);
  if (!found) return terminal.fail(found.error());
  const Value observation = environment.observe_call(view, *action, tool, *found);
  if (request.json) {
    terminal.json(
        Value::map({{"tool", enum_name(tool)},
                    {"facts", found->facts},
                    {"verdict", found->verdict ? verdict_to_value(*found->verdict) : Value()},
                    {"feedback", *observation.find("feedback")}}),
        2);
  } else {
    terminal.line(observation.find("feedback")->as_string());
  }
  if (!request.roofline.empty() && !found->facts.as_map().empty()) {
    if (const Status written = write_roofline(*task, found->facts, request.roofline); !written)
      return terminal.fail(written.error());
    if (!request.json) terminal.line("Roofline: " + request.roofline);
  }
  return is_clean(tool, found->facts) && (!found->verdict || found->verdict->correct()) ? kExitOk
                                                                                        : kExitNo;
}

}  // namespace

int examine_file(Terminal& terminal, LoadedConfig loaded, const ToolRequest& request) {
  loaded.config.journal.path.clear();  // a server's, for episodes
  const auto environment = open_kernel_refine(loaded.config);
  if (!environment) return terminal.fail(environment.error());
  const bool may_count = request.tool == Tool::kProfile && request.language != "python" &&
                         !request.file.ends_with(".py");
  auto host = Host::start(loaded, show_steps(terminal),
                          may_count ? CountersAhead::kOnce : CountersAhead::kAfterFirst);
  if (!host) return terminal.fail(host.error(), next_step(host.error()));
  const auto task = (*host)->catalog().find_for(loaded.config.backend, request.task);
  if (!task) return terminal.fail(without_verbs(task.error()), "all tasks: hone tasks");
  if (!request.roofline.empty() && (*task)->flops.empty())
    return terminal.fail(
        failed_precondition("task " + (*task)->id +
                            " has no 'flops', which a roofline needs; add it to the task "
                            "(docs/tasks.md), or leave out --roofline"));
  return examine_task(terminal, **host, **environment, *task, loaded.config.backend, request);
}

}  // namespace hone
