// One function for each group of arguments.
#include "integrations/kernelbench/script_request.hpp"

#include <filesystem>

#include "integrations/kernelbench/run_arguments.hpp"

namespace hone {
namespace {

void read_common(RunArguments& arguments, const std::string& action, RunRequest& request) {
  arguments.require("level", "one, such as level=1");
  arguments.require("run_name", "the name of a folder in runs_dir");
  request.analysis.level = arguments.integer("level", 0);
  request.analysis.run_name = arguments.text("run_name", "");
  const std::string elsewhere = action == "analyse" ? arguments.text("eval_results_dir", "") : "";
  const std::string runs = arguments.text("runs_dir", "runs");
  request.folder =
      std::filesystem::path(elsewhere.empty() ? runs : elsewhere) / request.analysis.run_name;
  if (action != "generate") request.analysis.ks = arguments.integers("pass_at_k_values");
  const std::string precision = arguments.text("precision", "fp32");
  if (precision != "fp32") {
    arguments.mistake("precision: found '" + precision +
                      "', expected fp32: modules are judged in the types that their problem has");
  }
  const std::string mode = arguments.text("eval_mode", "local");
  if (mode != "local") arguments.mistake("eval_mode: found '" + mode + "', expected local");
}

void read_problems(RunArguments& arguments, const std::string& action, RunRequest& request) {
  request.problems = arguments.integers("problem_ids");
  if (action == "generate" && arguments.has("problem_id")) {
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

void read_generate(RunArguments& arguments, GenerateRequest& generate) {
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

void read_analysis(RunArguments& arguments, ScriptRequest& script) {
  script.run.output = arguments.text("output_file", "");
  script.baseline = arguments.text("baseline_file", "");
  const std::string hardware = arguments.text("hardware", ""),
                    name = arguments.text("baseline", "");
  if (hardware.empty() != name.empty() && script.baseline.empty()) {
    arguments.mistake("found one of hardware and baseline, expected both");
  }
  if (script.baseline.empty() && !hardware.empty()) {
    script.baseline = "results/timing/" + hardware + "/" + name + ".json";
  }
}

}  // namespace

Result<ScriptRequest> read_script_arguments(const std::string& action,
                                            const std::vector<std::string>& given) {
  RunArguments arguments(given, "kernelbench " + action);
  ScriptRequest script;
  read_common(arguments, action, script.run);
  if (action != "analyse") read_problems(arguments, action, script.run);
  if (action == "generate") read_generate(arguments, script.generate);
  if (action == "eval") script.run.samples = arguments.integer("num_samples_per_problem", 0);
  if (action == "analyse") read_analysis(arguments, script);
  script.without_effect = arguments.without_effect();
  HONE_TRY(arguments.finish());
  return script;
}

}  // namespace hone
