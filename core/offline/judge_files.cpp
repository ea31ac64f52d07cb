// All files get the same inputs.
#include "offline/judge_files.hpp"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <iostream>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "app/evaluate_all.hpp"
#include "app/host.hpp"
#include "app/one_turn.hpp"
#include "app/parts.hpp"
#include "base/crypto.hpp"
#include "base/files.hpp"
#include "base/utf8.hpp"
#include "integrations/kernelbench/judge_run.hpp"
#include "integrations/kernelbench/run_arguments.hpp"
#include "kernel_refine/extract.hpp"
#include "offline/file_report.hpp"
#include "offline/golden.hpp"
#include "terminal/progress.hpp"

namespace hone {
namespace {

constexpr std::size_t kFileBytesMax = 64u << 20;  // of a file; the configuration limits submissions

Result<std::string> read_input(const std::string& file) {
  if (file != "-") return read_text(file, kFileBytesMax);
  const std::istreambuf_iterator<char> from(std::cin), end;
  return file_text(std::string(from, end), "standard input");
}

bool ends_with_any(const std::string& file, std::initializer_list<std::string_view> endings) {
  const std::string ending = std::filesystem::path(file).extension().string();
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

/// Whether it is a model's whole answer and not a source, which may have a fence in a comment.
bool is_response(const JudgedFile& entry) {
  if (ends_with_any(entry.file, {".py", ".c", ".cpp", ".cc", ".cxx", ".cu", ".h", ".hpp"}))
    return entry.text.starts_with("```");
  return ends_with_any(entry.file, {".md", ".markdown"}) || kernel_refine::has_marks(entry.text);
}

Value action_of(const JudgedFile& entry) {
  Value action = Value::map({{is_response(entry) ? "response" : "code", entry.text}});
  if (!entry.language.empty()) action.set("language", entry.language);
  return action;
}

class FileJudge {
 public:
  FileJudge(Terminal& terminal, const FilesRequest& request)
      : terminal_(terminal), request_(request) {}

  int run(LoadedConfig loaded) {
    if (const Status fit = fits_task(); !fit) return terminal_.fail(fit.error());
    choose_reward(loaded.config, request_.reward);
    loaded.config.journal.path.clear();  // a server's, for episodes
    for (const std::string& file : request_.files) {
      auto text = read_input(file);
      if (!text) return terminal_.fail(text.error());
      entries_.push_back({file == "-" ? "standard input" : file, std::move(*text), "", {}, {}, {}});
    }
    const auto environment = open_kernel_refine(loaded.config);  // files are sources
    if (!environment) return terminal_.fail(environment.error());
    auto host = Host::start(loaded, show_steps(terminal_));
    if (!host) return terminal_.fail(host.error(), next_step(host.error()));
    terminal_.status(reading_text("task " + request_.task));
    const auto task = (*host)->catalog().find_for(loaded.config.backend, request_.task);
    if (!task) {
      const Status configured = level_is_configured(loaded.config);
      if (!configured) return terminal_.fail(configured.error());
      return terminal_.fail(without_verbs(task.error()), "all tasks: hone tasks");
    }
    const auto reward = open_reward(loaded.config, (*host)->registry());
    if (!reward) return terminal_.fail(reward.error(), "all rewards: hone plugins");
    const Judge judge{**task, loaded.config.backend, **environment, **reward};
    const auto& languages = (*task)->backends.at(loaded.config.backend).languages;
    if (!request_.language.empty() &&
        std::find(languages.begin(), languages.end(), request_.language) == languages.end())
      return terminal_.fail(invalid_argument("--language: found " + request_.language +
                                             ", expected " + joined(languages, " or ") +
                                             ", the languages of the task"));
    for (JudgedFile& entry : entries_) entry.language = language_of(entry, languages);
    evaluate(**host, *task, judge);
    for (JudgedFile& entry : entries_) score(entry, judge);
    return report_files(terminal_, entries_, request_.json);
  }

 private:
  /// Refuses a folder for a problem of a level: a folder needs the level as its task.
  Status fits_task() const {
    const auto level = level_of_problem(request_.task);
    for (const std::string& file : request_.files) {
      if (!level || !std::filesystem::is_directory(file)) continue;
      return invalid_argument(file + ": found a folder, expected a file; give " + *level +
                              " for a folder");
    }
    return {};
  }

  /// For a problem of a level that was not found: an error if no dataset for it is configured.
  Status level_is_configured(const Config& config) const {
    const auto level = parse_level(level_of_problem(request_.task).value_or(""));
    if (!level) return {};
    HONE_TRY(kernelbench_dataset(config, level->first));
    return {};
  }

  /// What a file is judged with.
  struct Judge {
    const Task& task;
    const std::string& backend;
    const Environment& environment;
    const Reward& reward;
    std::shared_ptr<const Settings> settings = one_turn(environment, task, backend);

    EpisodeView view() const { return {task, backend, *settings, {}, 0}; }
  };

  std::string language_of(const JudgedFile& entry,
                          const std::vector<std::string>& languages) const {
    if (!request_.language.empty()) return request_.language;
    if (is_response(entry)) return "";  // as its fence says
    const std::string found = language_of_file(entry.file, languages);
    return found.empty() ? languages.front() : found;
  }

  /// Takes each apart as a step does, and evaluates what has code to build.
  void evaluate(Host& host, const std::shared_ptr<const Task>& task, const Judge& judge) {
    std::vector<Submission> submissions;
    std::vector<JudgedFile*> waiting;
    const std::uint64_t seed = random_u64();  // one for all, so that all are asked the same
    for (JudgedFile& entry : entries_) {
      auto prepared = prepare_turn(judge.environment, task, judge.backend, action_of(entry));
      if (!prepared) {
        entry.result = prepared.error();
      } else if (Verdict* verdict = std::get_if<Verdict>(&*prepared)) {
        entry.result = std::move(*verdict);
      } else {
        Submission& submission =
            submissions.emplace_back(std::get<Submission>(std::move(*prepared)));
        submission.client = submission.group = "eval";
        submission.episode = entry.file;
        submission.seed = seed;
        waiting.push_back(&entry);
      }
    }
    Progress progress(terminal_, "", submissions.size());
    auto results = evaluate_all(progress, host.evaluator(), submissions);
    for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i]->result = std::move(results[i]);
  }

  static void score(JudgedFile& entry, const Judge& judge) {
    if (!entry.result->ok()) return;
    const Verdict& verdict = **entry.result;
    const Value turn =
        Value::map({{"turn", 1}, {"scored", true}, {"verdict", verdict_to_value(verdict)}});
    const auto report =
        judge.reward.score(Value::map({{"task", task_for_client(judge.task, judge.backend)},
                                       {"ended", true},
                                       {"max_turns", 1},
                                       {"turns", Value::array({turn})}}));
    if (!report) {
      entry.result = report.error();
      return;
    }
    if (report->turns[0]) entry.reward = report->turns[0]->reward;
    const Value seen =
        judge.environment.observe(judge.view(), action_of(entry), {verdict, "", entry.reward});
    entry.feedback = seen.find("feedback")->as_string();
  }

  Terminal& terminal_;
  const FilesRequest& request_;
  std::vector<JudgedFile> entries_;
};

}  // namespace

int judge_files(Terminal& terminal, LoadedConfig loaded, const FilesRequest& request) {
  return FileJudge(terminal, request).run(std::move(loaded));
}

}  // namespace hone
