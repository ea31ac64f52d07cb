// `hone eval`: judges and times kernels from files as a step of an episode would, with no server.
#include <filesystem>

#include "cli/command.hpp"
#include "integrations/kernelbench/judge_run.hpp"
#include "integrations/kernelbench/run_arguments.hpp"
#include "offline/judge_files.hpp"

namespace hone {
namespace {

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
                 request_.task);
    options.texts({.name = "FILES",
                   .doc = "source files, or answers of a model (.md, or text with a ``` fence, "
                          "<triton> or <think>); -: standard input; for dataset/level1: a folder "
                          "with level_1_problem_P_sample_S_kernel.py",
                   .value = "FILE",
                   .required = true},
                  request_.files);
    options.text({.name = "--language",
                  .doc = "language of all files (default: from the file name's extension)"},
                 request_.language);
    options.text(
        {.name = "--reward", .doc = "name of a reward, or path of a .so or .py", .value = "FILE"},
        request_.reward);
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
        request_.json);
  }

  int run(Terminal& terminal) override {
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    const auto level = parse_level(request_.task);
    const std::vector<std::string>& files = request_.files;
    const bool folder = level && files.size() == 1 && std::filesystem::is_directory(files[0]);
    if (const Status fit = fits_options(folder); !fit) return terminal.fail(fit.error());
    if (!folder) return judge_files(terminal, std::move(*loaded), request_);
    return judge_level(terminal, std::move(*loaded), level->first, level->second);
  }

 private:
  /// Options that say nothing of what is judged are a mistake.
  Status fits_options(bool folder) const {
    const char* unfit = folder        ? !request_.language.empty() ? "--language"
                                        : !request_.reward.empty() ? "--reward"
                                                                   : nullptr
                        : !p_.empty() ? "--p"
                        : again_      ? "--again"
                                      : nullptr;
    if (unfit == nullptr) return {};
    return invalid_argument(std::string(unfit) +
                            (folder ? ": not allowed with the folder of a level; give files"
                                    : ": allowed only with the folder of a level"));
  }

  int judge_level(Terminal& terminal, LoadedConfig loaded, const std::string& dataset,
                  std::int64_t level) const {
    RunRequest run;
    run.folder = request_.files[0];
    run.dataset = dataset;
    run.again = again_;
    run.json = request_.json;
    run.analysis.level = level;
    run.analysis.run_name = request_.files[0];
    if (!p_.empty()) {
      auto thresholds = parse_thresholds(p_);
      if (!thresholds) return terminal.fail(thresholds.error().in("--p"));
      run.analysis.thresholds = std::move(*thresholds);
    }
    return judge_run(terminal, std::move(loaded), run);
  }

  ConfigOptions config_;
  FilesRequest request_;
  std::string p_;
  bool again_ = false;
};

}  // namespace

std::unique_ptr<Command> make_eval_command() { return std::make_unique<EvalCommand>(); }

}  // namespace hone
