// `hone kernelbench`: the arguments of KernelBench's scripts: generate and judge a problem, judge the folder of a run, analyse its results.
#include <filesystem>

#include "app/parts.hpp"
#include "base/log.hpp"
#include "cli/command.hpp"
#include "integrations/kernelbench/generate_run.hpp"
#include "integrations/kernelbench/judge_run.hpp"
#include "integrations/kernelbench/run_arguments.hpp"

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
    RunArguments arguments(given_, "kernelbench " + action_);
    RunRequest request;
    GenerateRequest generate;
    read_common(arguments, request);
    if (action_ != "analyse") read_problems(arguments, request);
    if (action_ == "generate") read_generate(arguments, generate);
    if (action_ == "eval") request.samples = arguments.integer("num_samples_per_problem", 0);
    if (action_ == "analyse") read_baseline_arguments(arguments, request);
    const std::vector<std::string> idle = arguments.without_effect();
    if (const Status good = arguments.finish(); !good) {
      return terminal.fail(good.error(), "see: hone kernelbench --help");
    }
    if (!idle.empty()) {
      log_warning("kernelbench", "ignored because the configuration decides them: " + joined(idle));
    }
    if (!p_.empty()) {
      auto thresholds = parse_thresholds(p_);
      if (!thresholds) return terminal.fail(thresholds.error().in("--p"));
      request.analysis.thresholds = std::move(*thresholds);
    }
    if (const Status good = open_baseline(request); !good) return terminal.fail(good.error());
    request.json = json_;
    request.again = again_;
    request.judge = action_ == "eval";
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    if (action_ != "generate") return judge_run(terminal, std::move(*loaded), request);
    const auto left = generate_run(terminal, *loaded, request, generate);
    if (!left) return terminal.fail(left.error(), next_step(left.error()));
    request.judge = *left;
    return judge_run(terminal, std::move(*loaded), request);
  }

 private:
  void read_common(RunArguments& arguments, RunRequest& request) const {
    arguments.require("level", "one, such as level=1");
    arguments.require("run_name", "the name of a folder in runs_dir");
    request.analysis.level = arguments.integer("level", 0);
    request.analysis.run_name = arguments.text("run_name", "");
    const std::string elsewhere =
        action_ == "analyse" ? arguments.text("eval_results_dir", "") : "";
    const std::string runs = arguments.text("runs_dir", "runs");
    request.folder =
        std::filesystem::path(elsewhere.empty() ? runs : elsewhere) / request.analysis.run_name;
    if (action_ != "generate") request.analysis.ks = arguments.integers("pass_at_k_values");
    const std::string precision = arguments.text("precision", "fp32");
    if (precision != "fp32") {
      arguments.mistake("precision: found '" + precision +
                        "', expected fp32: modules are judged in the types that their problem has");
    }
    const std::string mode = arguments.text("eval_mode", "local");
    if (mode != "local") arguments.mistake("eval_mode: found '" + mode + "', expected local");
  }

  void read_problems(RunArguments& arguments, RunRequest& request) const {
    request.problems = arguments.integers("problem_ids");
    if (action_ == "generate" && arguments.has("problem_id")) {
      request.problems.push_back(arguments.integer("problem_id", 0));
    }
    const std::vector<std::int64_t> ends = arguments.integers("subset");
    if (ends.size() == 2) {
      request.subset = {ends[0], ends[1]};
    } else if (!ends.empty()) {
      arguments.mistake("subset: found " + std::to_string(ends.size()) +
                        " numbers, expected the first problem and the last");
    }
  }

  static void read_generate(RunArguments& arguments, GenerateRequest& generate) {
    const std::string type = arguments.text("server_type", "local");
    if (type != "local") {
      arguments.mistake(
          "server_type: found '" + type +
          "', expected local; any OpenAI-compatible endpoint will do: url=https://HOST/v1");
    }
    generate.url = arguments.text("url", "");
    const std::string address = arguments.text("server_address", "");
    const std::string port = arguments.text("server_port", "");
    if (generate.url.empty() && !address.empty()) {
      generate.url = "http://" + address + (port.empty() ? "" : ":" + port) + "/v1";
    }
    if (generate.url.empty()) {
      arguments.mistake(
          "found no endpoint, expected url=http://HOST:PORT/v1, or server_address and server_port");
    }
    generate.samples = arguments.integer("num_samples", 1);
    const auto pass_on = [&](const char* word, const char* option) {
      if (const std::string said = arguments.text(word, ""); !said.empty()) {
        generate.options.insert(generate.options.end(), {option, said});
      }
    };
    pass_on("model_name", "--model");
    pass_on("max_tokens", "--max-tokens");
    pass_on("temperature", "--temperature");
    pass_on("num_workers", "--batch-size");
    pass_on("hardware_gpu_name", "--hardware");
    pass_on("api_key_file", "--api-key-file");
    const std::string prompt = arguments.text("prompt_option", "zero_shot");
    if (prompt != "zero_shot" && prompt != "few_shot") {
      arguments.mistake("prompt_option: found '" + prompt + "', expected zero_shot or few_shot");
    }
    generate.options.insert(generate.options.end(), {"--prompt", prompt});
  }

  void read_baseline_arguments(RunArguments& arguments, RunRequest& request) {
    request.output = arguments.text("output_file", "");
    baseline_ = arguments.text("baseline_file", "");
    const std::string hardware = arguments.text("hardware", ""),
                      name = arguments.text("baseline", "");
    if (hardware.empty() != name.empty() && baseline_.empty()) {
      arguments.mistake("found one of hardware and baseline, expected both");
    }
    if (baseline_.empty() && !hardware.empty()) {
      baseline_ = "results/timing/" + hardware + "/" + name + ".json";
    }
  }

  Status open_baseline(RunRequest& request) const {
    if (baseline_.empty()) return {};
    HONE_ASSIGN(request.analysis.baseline_ms, read_baseline(baseline_, request.analysis.level));
    return {};
  }

  ConfigOptions config_;
  std::string action_, p_, baseline_;
  std::vector<std::string> given_;
  bool again_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_kernelbench_command() {
  return std::make_unique<KernelbenchCommand>();
}

}  // namespace hone
