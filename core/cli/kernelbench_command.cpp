// `hone kernelbench`: the arguments of KernelBench's scripts: generate and judge a problem, judge the folder of a run, analyse its results.
#include "app/parts.hpp"
#include "base/log.hpp"
#include "cli/command.hpp"
#include "integrations/kernelbench/run_arguments.hpp"
#include "integrations/kernelbench/script_request.hpp"

namespace hone {
namespace {

class KernelbenchCommand : public Command {
 public:
  std::string name() const override { return "kernelbench"; }
  std::string summary() const override {
    return "Generate, judge or analyse a KernelBench run, with KernelBench's arguments.";
  }
  std::vector<std::string> examples() const override {
    return {
        "hone kernelbench generate level=1 run_name=first server_address=127.0.0.1 "
        "server_port=8000",
        "hone kernelbench generate level=1 run_name=first url=http://127.0.0.1:8000/v1 "
        "num_samples=4",
        "hone kernelbench eval level=1 run_name=first subset=1,20   # runs/first/*_kernel.py",
        "hone kernelbench analyse level=1 run_name=first --p 0,1,1.5",
        "hone kernelbench analyse level=1 run_name=first baseline_file=baseline.json"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "ACTION",
                  .doc = "action",
                  .choices = {"generate", "eval", "analyse"},
                  .required = true},
                 action_);
    options.texts(
        {.name = "WORDS",
         .doc =
             "arguments of KernelBench's script:\n"
             "all: level run_name [runs_dir]\n"
             "generate: url, or server_address and server_port; [problem_id] [subset] "
             "[problem_ids] [num_samples] [num_workers] [model_name] [max_tokens] [temperature] "
             "[prompt_option] [hardware_gpu_name] [api_key_file]\n"
             "eval: [subset] [problem_ids] [num_samples_per_problem] [pass_at_k_values]\n"
             "analyse: [hardware and baseline, or baseline_file] [pass_at_k_values] [output_file]",
         .value = "NAME=VALUE"},
        given_);
    options.text({.name = "--p", .doc = "thresholds of fast_p, as in 0.5,0.8,1", .value = "LIST"},
                 p_);
    options.flag({.name = "--again", .doc = "judge again the samples that have a result"}, again_);
    config_.declare(options);
    options.flag({.name = "--json", .doc = "print one JSON line per sample, then the analysis"},
                 json_);
  }

  int run(Terminal& terminal) override {
    auto script = read_script_arguments(action_, given_);
    if (!script) return terminal.fail(script.error(), "see: hone kernelbench --help");
    if (const auto& idle = script->without_effect; !idle.empty()) {
      log_warning("kernelbench", "ignored because the configuration decides them: " + joined(idle));
    }
    RunRequest& request = script->run;
    if (!p_.empty()) {
      auto thresholds = parse_thresholds(p_);
      if (!thresholds) return terminal.fail(thresholds.error().in("--p"));
      request.analysis.thresholds = std::move(*thresholds);
    }
    if (!script->baseline.empty()) {
      auto times = read_baseline(script->baseline, request.analysis.level);
      if (!times) return terminal.fail(times.error());
      request.analysis.baseline_ms = std::move(*times);
    }
    request.json = json_;
    request.again = again_;
    request.judge = action_ == "eval";
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    if (action_ != "generate") return judge_run(terminal, std::move(*loaded), request);
    const auto left = generate_run(terminal, *loaded, request, script->generate);
    if (!left) return terminal.fail(left.error(), next_step(left.error()));
    request.judge = *left;
    return judge_run(terminal, std::move(*loaded), request);
  }

 private:
  ConfigOptions config_;
  std::string action_, p_;
  std::vector<std::string> given_;
  bool again_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_kernelbench_command() {
  return std::make_unique<KernelbenchCommand>();
}

}  // namespace hone
