// `hone eval`: judges and times kernels from files, with no server.
#include <filesystem>
#include <optional>

#include "base/crypto.hpp"
#include "base/files.hpp"
#include "base/mutex.hpp"
#include "cli/command.hpp"
#include "cli/host.hpp"

namespace hone {
namespace {

/// One file and what became of it.
struct Entry {
  std::string file, source, language;
  std::optional<Result<Verdict>> result;
  std::optional<double> reward;
};

class EvalCommand : public Command {
 public:
  std::string name() const override { return "eval"; }
  std::string summary() const override {
    return "Judge, time and reward kernels from files; no server needed.";
  }
  std::vector<std::string> examples() const override {
    return {"hone eval add_relu kernel.cpp",
            "hone eval softmax attempts/*.cpp               # a table",
            "hone eval softmax a.cpp b.c --json             # verdicts in full",
            "hone eval sum kernel.cpp --reward kevin"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "TASK",
                  .doc = "dataset/id, or id; hone tasks lists them",
                  .value = "TASK",
                  .required = true},
                 task_);
    options.texts({.name = "FILES",
                   .doc = "sources; .c is C, anything else C++",
                   .value = "FILE",
                   .required = true},
                  files_);
    options.text({.name = "--language", .doc = "for all files", .choices = {"c++", "c"}},
                 language_);
    options.text(
        {.name = "--reward", .doc = "the reward: a name, or a .so or .py", .value = "FILE"},
        reward_);
    config_.declare(options);
    options.flag({.name = "--json", .doc = "print one JSON object per file, in a list"}, json_);
  }

  int run(Terminal& terminal) override {
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return terminal.fail(loaded.error(), "check it with: hone config FILE");
    choose_reward(loaded->config, reward_);
    for (const std::string& file : files_) {
      auto source =
          read_file(file, static_cast<std::size_t>(loaded->config.server.limits.source_bytes));
      if (!source) return terminal.fail(source.error());
      entries_.push_back({file, std::move(*source), language_of(file), {}, {}});
    }
    auto host = Host::start(
        loaded->config, [&](std::string_view what) { terminal.status(std::string(what) + "…"); });
    if (!host) return terminal.fail(host.error(), "what this machine allows: hone doctor");
    const auto task = (*host)->catalog().find(task_);
    if (!task) return terminal.fail(task.error(), "all tasks: hone tasks");
    const auto reward = open_reward(loaded->config, (*host)->registry());
    if (!reward) return terminal.fail(reward.error(), "all rewards: hone plugins");
    if (const Status ran = evaluate(terminal, **host, *task); !ran)
      return terminal.fail(ran.error());
    for (Entry& entry : entries_) score(entry, **task, **reward, loaded->config.backend);
    return report(terminal);
  }

 private:
  std::string language_of(const std::string& file) const {
    if (!language_.empty()) return language_;
    return std::filesystem::path(file).extension() == ".c" ? "c" : "c++";
  }

  /// Submits all, a queue's length at a time, and waits for all.
  Status evaluate(Terminal& terminal, Host& host, const std::shared_ptr<const Task>& task) {
    struct Shared {
      Mutex mutex;
      Condition changed;
      std::size_t done HONE_GUARDED_BY(mutex) = 0;
      std::string stage HONE_GUARDED_BY(mutex);
    };
    const auto shared = std::make_shared<Shared>();
    std::size_t submitted = 0;
    const std::uint64_t seed = random_u64();  // one for all, so that all are asked the same
    for (std::size_t done = 0; done < entries_.size();) {
      for (; submitted < entries_.size() && submitted - done < 64; ++submitted) {
        Entry& entry = entries_[submitted];
        Submission submission{.task = task,
                              .language = entry.language,
                              .source = entry.source,
                              .client = "eval",
                              .episode = entry.file,
                              .group = "eval",
                              .seed = seed};
        auto queued = host.evaluator().submit(
            std::move(submission),
            [shared](Stage stage) {
              MutexLock lock(shared->mutex);
              shared->stage = stage_name(stage);
              shared->changed.notify_all();
            },
            [shared, &entry](Result<Verdict> verdict) {
              MutexLock lock(shared->mutex);
              entry.result = std::move(verdict);
              ++shared->done;
              shared->changed.notify_all();
            });
        if (!queued) {
          MutexLock lock(shared->mutex);
          entry.result = queued.error();
          ++shared->done;
        }
      }
      std::string text;
      {
        MutexLock lock(shared->mutex);
        if (shared->done == done) shared->changed.wait(shared->mutex);
        done = shared->done;
        text = std::to_string(done) + " of " + std::to_string(entries_.size()) + " done; " +
               shared->stage + "…";
      }
      terminal.status(text);
    }
    terminal.clear_status();
    return {};
  }

  static void score(Entry& entry, const Task& task, const Reward& reward,
                    const std::string& backend) {
    const bool scored = entry.result->ok();
    if (!scored) return;
    const Value turn =
        Value::map({{"turn", 1}, {"scored", true}, {"verdict", verdict_to_value(**entry.result)}});
    const auto report = reward.score(Value::map({{"task", task_for_client(task, backend)},
                                                 {"ended", true},
                                                 {"max_turns", 1},
                                                 {"turns", Value::array({turn})}}));
    if (!report) {
      entry.result = report.error();
    } else if (report->turns[0]) {
      entry.reward = report->turns[0]->reward;
    }
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
                              {"verdict", verdict_to_value(verdict)}}));
    }
    if (json_) {
      terminal.json(listed, 2);
    } else {
      terminal.table({"file", "outcome", "speedup", "reward", "ms", "reason"}, rows);
      print_diagnostics(terminal);
    }
    if (usage) return kExitUsage;
    if (fault) return kExitFault;
    return all_correct ? kExitOk : kExitNo;
  }

  static Row row_of(const Entry& entry, const Verdict& verdict) {
    std::string speedup;
    if (verdict.speedup) {
      speedup = short_number(verdict.speedup->value) + "× (" + short_number(verdict.speedup->low) +
                "–" + short_number(verdict.speedup->high) + ")";
    }
    const auto total = verdict.stage_ms.find("total");
    return {{entry.file, Colour::kBold},
            {std::string(outcome_name(verdict.outcome)),
             verdict.correct() ? Colour::kGreen : Colour::kRed},
            {speedup},
            {entry.reward ? short_number(*entry.reward) : ""},
            {total == verdict.stage_ms.end() ? "" : short_number(total->second)},
            {verdict.correct() ? "" : verdict.reason}};
  }

  void print_diagnostics(Terminal& terminal) const {
    for (const Entry& entry : entries_) {
      if (!entry.result->ok() || (*entry.result)->diagnostics.empty() || (*entry.result)->correct())
        continue;
      terminal.line("\n" + terminal.paint(Colour::kBold, entry.file) + "\n" +
                    (*entry.result)->diagnostics);
    }
  }

  ConfigOptions config_;
  std::string task_, language_, reward_;
  std::vector<std::string> files_;
  std::vector<Entry> entries_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_eval_command() { return std::make_unique<EvalCommand>(); }

}  // namespace hone
