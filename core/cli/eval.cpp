// `hone eval`: judges and times kernels from files as a step of an episode would, with no server.
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>

#include "app/evaluate_all.hpp"
#include "app/host.hpp"
#include "app/one_turn.hpp"
#include "app/parts.hpp"
#include "base/crypto.hpp"
#include "base/files.hpp"
#include "base/utf8.hpp"
#include "cli/command.hpp"
#include "cli/golden.hpp"
#include "integrations/kernelbench/judge_run.hpp"
#include "integrations/kernelbench/run_arguments.hpp"
#include "kernel_refine/compiler_words.hpp"
#include "kernel_refine/extract.hpp"
#include "kernel_refine/words.hpp"
#include "terminal/progress.hpp"

namespace hone {
namespace {

constexpr std::size_t kFileBytesMax = 64u << 20;  // of what is read; what is taken is configured
constexpr std::size_t kWordsBytesMax = 2000;      // of a compiler's, for one of several files

/// One file and what became of it.
struct Entry {
  std::string file, text, language;
  std::optional<Result<Verdict>> result;
  std::optional<double> reward;
  std::string feedback;
};

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
bool is_response(const Entry& entry) {
  if (ends_with_any(entry.file, {".py", ".c", ".cpp", ".cc", ".cxx", ".cu", ".h", ".hpp"}))
    return entry.text.starts_with("```");
  return ends_with_any(entry.file, {".md", ".markdown"}) || kernel_refine::has_marks(entry.text);
}

Value action_of(const Entry& entry) {
  Value action = Value::map({{is_response(entry) ? "response" : "code", entry.text}});
  if (!entry.language.empty()) action.set("language", entry.language);
  return action;
}

class EvalCommand : public Command {
 public:
  std::string name() const override { return "eval"; }
  std::string summary() const override {
    return "Judge, time and reward kernels from files, without a server.";
  }
  std::vector<std::string> examples() const override {
    return {"hone eval add_relu kernel.cpp                  # verdict and feedback",
            "hone eval softmax attempts/*.cpp               # a table of several files",
            "hone eval softmax a.cpp b.c --json             # complete verdicts",
            "hone eval softmax answer.md                    # takes the code from a model's answer",
            "hone eval -c kb.yaml kernelbench/level1 runs/a # a KernelBench level, with fast_p",
            "hone eval sum kernel.cpp --reward kevin",
            "generate | hone eval sum -                     # from standard input"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "TASK",
                  .doc = "task as DATASET/ID or ID; `hone tasks` lists them",
                  .value = "TASK",
                  .required = true},
                 task_);
    options.texts({.name = "FILES",
                   .doc = "source files, or answers of a model (.md, or text with a ``` fence, "
                          "<triton> or <think>); -: standard input; for dataset/level1: a folder "
                          "with level_1_problem_P_sample_S_kernel.py",
                   .value = "FILE",
                   .required = true},
                  files_);
    options.text({.name = "--language",
                  .doc = "language of all files (default: from the file name's extension)"},
                 language_);
    options.text(
        {.name = "--reward", .doc = "name of a reward, or path of a .so or .py", .value = "FILE"},
        reward_);
    options.text({.name = "--p",
                  .doc = "thresholds of fast_p, as in 0.5,0.8,1 (only for a level)",
                  .value = "LIST"},
                 p_);
    options.flag(
        {.name = "--again", .doc = "judge again samples that have a result (only for a level)"},
        again_);
    config_.declare(options);
    options.flag(
        {.name = "--json",
         .doc = "files: print a JSON list; level: print one JSON line per result, then a summary"},
        json_);
  }

  int run(Terminal& terminal) override {
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    const auto level = parse_level(task_);
    const bool folder = level && files_.size() == 1 && std::filesystem::is_directory(files_[0]);
    if (const Status fit = fits_options(folder); !fit) return terminal.fail(fit.error());
    if (folder) {
      return judge_level(terminal, std::move(*loaded), level->first, level->second);
    }
    if (const Status fit = fits_task(); !fit) return terminal.fail(fit.error());
    choose_reward(loaded->config, reward_);
    loaded->config.journal.path.clear();  // a server's, for episodes
    for (const std::string& file : files_) {
      auto text = read_input(file);
      if (!text) return terminal.fail(text.error());
      entries_.push_back({file == "-" ? "standard input" : file, std::move(*text), "", {}, {}, {}});
    }
    const auto environment = open_kernel_refine(loaded->config);  // files are sources
    if (!environment) return terminal.fail(environment.error());
    auto host = Host::start(*loaded, show_steps(terminal));
    if (!host) return terminal.fail(host.error(), next_step(host.error()));
    terminal.status(reading_text("task " + task_));
    const auto task = (*host)->catalog().find_for(loaded->config.backend, task_);
    if (!task) {
      const Status configured = level_is_configured(loaded->config);
      if (!configured) return terminal.fail(configured.error());
      return terminal.fail(without_verbs(task.error()), "all tasks: hone tasks");
    }
    const auto reward = open_reward(loaded->config, (*host)->registry());
    if (!reward) return terminal.fail(reward.error(), "all rewards: hone plugins");
    const Judge judge{**task, loaded->config.backend, **environment, **reward};
    const auto& languages = (*task)->backends.at(loaded->config.backend).languages;
    if (!language_.empty() &&
        std::find(languages.begin(), languages.end(), language_) == languages.end())
      return terminal.fail(invalid_argument("--language: found " + language_ + ", expected " +
                                            joined(languages, " or ") +
                                            ", the languages of the task"));
    for (Entry& entry : entries_) entry.language = language_of(entry, languages);
    evaluate(terminal, **host, *task, judge);
    for (Entry& entry : entries_) score(entry, judge);
    return report(terminal);
  }

 private:
  /// Options that say nothing of what is judged are a mistake.
  Status fits_options(bool folder) const {
    const char* unfit = folder        ? !language_.empty() ? "--language"
                                        : !reward_.empty() ? "--reward"
                                                           : nullptr
                        : !p_.empty() ? "--p"
                        : again_      ? "--again"
                                      : nullptr;
    if (unfit == nullptr) return {};
    return invalid_argument(std::string(unfit) +
                            (folder ? ": not allowed with the folder of a level; give files"
                                    : ": allowed only with the folder of a level"));
  }

  /// A folder is a level's.
  Status fits_task() const {
    const auto level = level_of_problem(task_);
    for (const std::string& file : files_) {
      if (!level || !std::filesystem::is_directory(file)) continue;
      return invalid_argument(file + ": found a folder, expected a file; give " + *level +
                              " for a folder");
    }
    return {};
  }

  /// Of a level's problem that is not found: whether there is a dataset that could have it.
  Status level_is_configured(const Config& config) const {
    const auto level = parse_level(level_of_problem(task_).value_or(""));
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

  int judge_level(Terminal& terminal, LoadedConfig loaded, const std::string& dataset,
                  std::int64_t level) const {
    RunRequest request;
    request.folder = files_[0];
    request.dataset = dataset;
    request.again = again_;
    request.json = json_;
    request.analysis.level = level;
    request.analysis.run_name = files_[0];
    if (!p_.empty()) {
      auto thresholds = parse_thresholds(p_);
      if (!thresholds) return terminal.fail(thresholds.error().in("--p"));
      request.analysis.thresholds = std::move(*thresholds);
    }
    return judge_run(terminal, std::move(loaded), request);
  }

  std::string language_of(const Entry& entry, const std::vector<std::string>& languages) const {
    if (!language_.empty()) return language_;
    if (is_response(entry)) return "";  // as its fence says
    const std::string found = language_of_file(entry.file, languages);
    return found.empty() ? languages.front() : found;
  }

  /// Takes each apart as a step does, and evaluates what has code to build.
  void evaluate(Terminal& terminal, Host& host, const std::shared_ptr<const Task>& task,
                const Judge& judge) {
    std::vector<Submission> submissions;
    std::vector<Entry*> waiting;
    const std::uint64_t seed = random_u64();  // one for all, so that all are asked the same
    for (Entry& entry : entries_) {
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
    Progress progress(terminal, "", submissions.size());
    auto results = evaluate_all(progress, host.evaluator(), submissions);
    for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i]->result = std::move(results[i]);
  }

  static void score(Entry& entry, const Judge& judge) {
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

  int report(Terminal& terminal) const {
    bool all_correct = true, fault = false, usage = false;
    std::vector<Row> rows;
    Value listed = Value::array();
    for (const Entry& entry : entries_) {
      if (!entry.result->ok()) {
        const Error& error = entry.result->error();
        (exit_code_for(error.code) == kExitUsage ? usage : fault) = true;
        rows.push_back({{entry.file, Colour::kBold},
                        {"not judged", Colour::kYellow},
                        {""},
                        {""},
                        {""},
                        {error.message}});
        listed.push(Value::map({{"file", entry.file},
                                {"reward_valid", false},
                                {"error", error.message},
                                {"code", code_name(error.code)}}));
        continue;
      }
      const Verdict& verdict = **entry.result;
      all_correct = all_correct && verdict.correct();
      rows.push_back(row_of(entry, verdict));
      listed.push(Value::map({{"file", entry.file},
                              {"reward_valid", true},
                              {"reward", entry.reward ? Value(*entry.reward) : Value()},
                              {"verdict", verdict_to_value(verdict)},
                              {"feedback", entry.feedback}}));
    }
    if (json_) {
      terminal.json(listed, 2);
    } else {
      terminal.table({"file", "outcome", "speedup", "reward", "ms", "note"}, rows);
      entries_.size() == 1 ? print_feedback(terminal) : print_details(terminal);
    }
    if (usage) return kExitUsage;
    if (fault) return kExitFault;
    return all_correct ? kExitOk : kExitNo;
  }

  static Row row_of(const Entry& entry, const Verdict& verdict) {
    std::string speedup, note = verdict.correct() ? "" : verdict.reason;
    if (verdict.speedup) {
      speedup = short_number(verdict.speedup->value) + "× (" + short_number(verdict.speedup->low) +
                "–" + short_number(verdict.speedup->high) + ")";
      for (const std::string& flag : verdict.speedup->flags) {
        note += (note.empty() ? "" : ", ") + flag;
      }
    }
    const auto ms = [&verdict](const char* stage) {
      const auto found = verdict.stage_ms.find(stage);
      return found == verdict.stage_ms.end() ? 0.0 : found->second;
    };
    const double took_ms = ms("total") - ms("queue");  // other files' time is not its own
    return {{entry.file, Colour::kBold},
            {std::string(outcome_name(verdict.outcome)),
             verdict.correct() ? Colour::kGreen : Colour::kRed},
            {speedup},
            {entry.reward ? short_number(*entry.reward) : ""},
            {took_ms > 0 ? short_number(took_ms) : ""},
            {note}};
  }

  /// For a single file: prints the feedback.
  void print_feedback(Terminal& terminal) const {
    if (!entries_[0].feedback.empty()) terminal.line("\n" + entries_[0].feedback);
  }

  /// Of several: the worst element of a wrong one, and the compiler's words.
  void print_details(Terminal& terminal) const {
    for (const Entry& entry : entries_) {
      if (!entry.result->ok() || (*entry.result)->correct()) continue;
      const Verdict& verdict = **entry.result;
      std::string text =
          kernel_refine::trim_compiler_words(valid_utf8(verdict.diagnostics), kWordsBytesMax);
      if (verdict.mismatch) text = kernel_refine::mismatch_text(*verdict.mismatch);
      if (text.empty()) continue;
      terminal.line("\n" + terminal.paint(Colour::kBold, entry.file) + "\n" + text);
    }
  }

  ConfigOptions config_;
  std::string task_, language_, reward_, p_;
  std::vector<std::string> files_;
  std::vector<Entry> entries_;
  bool again_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_eval_command() { return std::make_unique<EvalCommand>(); }

}  // namespace hone
