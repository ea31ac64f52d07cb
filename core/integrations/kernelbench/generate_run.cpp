// One turn for each sample, as in KernelBench. hone.rollout records the model's answers, so a repeated
// command asks for no sample twice.
#include "integrations/kernelbench/generate_run.hpp"

#include <filesystem>

#include "app/client_package.hpp"
#include "app/host.hpp"
#include "app/local_server.hpp"
#include "app/parts.hpp"
#include "base/crypto.hpp"
#include "base/files.hpp"
#include "hone/version.h"
#include "integrations/kernelbench/run_lock.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTracesBytesMax = 1u << 30;

/// "generate_level_1", with the problems if not all are requested.
std::string name_of(const RunRequest& run, const std::vector<Problem>& chosen, bool all) {
  std::string name = "generate_level_" + std::to_string(run.analysis.level);
  if (all) return name;
  name += "_problem_" + std::to_string(chosen.front().number);
  if (chosen.size() == 1) return name;
  return name + "_to_" + std::to_string(chosen.back().number) + "_" + std::to_string(chosen.size());
}

Result<std::vector<Problem>> choose(const RunRequest& run, const std::vector<Problem>& problems) {
  std::vector<Problem> chosen;
  for (const Problem& problem : problems) {
    if (run.wants(problem.number)) chosen.push_back(problem);
  }
  const std::size_t named = run.problems.size();
  if (chosen.empty() || (named > 0 && chosen.size() < named)) {
    return not_found("level " + std::to_string(run.analysis.level) + " has the problems " +
                     std::to_string(problems.front().number) + " to " +
                     std::to_string(problems.back().number) +
                     "; a requested problem is not among them");
  }
  return chosen;
}

/// Receives the answers of a rollout, and keeps code and verdicts.
class Keeper {
 public:
  Keeper(const RunRequest& run, const Catalog& catalog, const Environment& environment,
         const std::string& backend, EvalResults& results)
      : run_(run),
        catalog_(catalog),
        environment_(environment),
        backend_(backend),
        results_(results) {}

  bool left() const { return left_; }

  Status keep(const std::vector<Problem>& problems, const Value& row) {
    const Value* task = row.find("task");
    const Value* sample = row.find("sample");
    const Value* turns = row.find("turns");
    if (task == nullptr || sample == nullptr || turns == nullptr || turns->as_array().empty()) {
      return {};  // the endpoint refused the request: there is no answer
    }
    for (const Problem& problem : problems) {
      if (problem.task_id != task->as_string()) continue;
      return keep(problem, sample->as_int(), turns->as_array().front());
    }
    return {};
  }

 private:
  Status keep(const Problem& problem, std::int64_t sample, const Value& turn) {
    HONE_ASSIGN(const auto task, catalog_.find_for(backend_, problem.task_id));
    HONE_ASSIGN(const Value action, from_json(turn.find("action")->as_string()));
    const Value options = Value::map({{"max_turns", 1}});
    Fields fields(options, "options");
    const auto settings = environment_.read_options(fields, *task, backend_);
    HONE_ASSIGN(const auto prepared,
                environment_.prepare({*task, backend_, *settings, {}, 0}, action));
    const Generation generation{
        problem.number, sample,
        run_.folder / generation_name(run_.analysis.level, problem.number, sample)};
    std::string hash;
    if (const SubmittedCode* candidate = std::get_if<SubmittedCode>(&prepared)) {
      HONE_TRY(write_file(generation.file, candidate->source));
      hash = sha256_hex(candidate->source);
    }
    const Value* verdict = turn.find("verdict");
    const Value* valid = turn.find("reward_valid");
    if (verdict == nullptr || !verdict->is_map() || valid == nullptr || !valid->is_bool() ||
        !valid->as_bool()) {
      left_ = true;
      return {};
    }
    if (results_.has(generation, hash)) return {};
    HONE_ASSIGN(const Verdict judged, verdict_from_value(*verdict));
    results_.put(generation, hash, judged);
    return {};
  }

  const RunRequest& run_;
  const Catalog& catalog_;
  const Environment& environment_;
  const std::string& backend_;
  EvalResults& results_;
  bool left_ = false;
};

/// Starts the server and runs hone.rollout.
Status play(Terminal& terminal, const LoadedConfig& loaded, const std::string& python,
            std::vector<std::string> arguments) {
  LoadedConfig here = on_free_ports(loaded);
  here.config.journal.path.clear();
  HONE_ASSIGN(const auto server, LocalServer::start(here, show_steps(terminal)));
  terminal.clear_status();
  arguments.insert(arguments.end(), {"--endpoint", server->endpoint()});
  const auto status = run_rollout(python, arguments);
  server->shut_down(5);
  if (!status) return status.error();
  if (*status == kExitOk) return {};
  const std::string said = "hone.rollout ended with status " + std::to_string(*status) +
                           "; its messages are above; the same command continues";
  if (*status != kExitUsage) return unavailable(said);
  return invalid_argument(said +
                          "; if it rejects an option, it is too old; install "
                          "hone.rollout of version " HONE_VERSION_STRING
                          ", the version of this hone");
}

}  // namespace

Result<bool> generate_run(Terminal& terminal, const LoadedConfig& loaded, const RunRequest& run,
                          const GenerateRequest& request) {
  const Config& config = loaded.config;
  HONE_ASSIGN(const std::string dataset, kernelbench_dataset(config, run.dataset));
  const auto registry = open_registry(config);
  HONE_ASSIGN(const auto catalog, open_catalog(loaded, *registry));
  HONE_ASSIGN(const auto problems, problems_of(*catalog, dataset, run.analysis.level));
  HONE_ASSIGN(const auto chosen, choose(run, problems));
  HONE_ASSIGN(const auto environment, open_kernel_refine(config));
  const std::string python = client_python();
  if (const Status found = find_rollout(python); !found) {
    return failed_precondition(found.error().message + "; " + kHowToGetRollout);
  }
  std::error_code error;
  fs::create_directories(run.folder, error);
  if (error) return failed_precondition(run.folder.string() + ": " + error.message());
  HONE_ASSIGN(const RunLock lock, RunLock::take(run.folder));
  HONE_ASSIGN(EvalResults results, EvalResults::read(run.folder / "eval_results.json"));

  const std::string name = name_of(run, chosen, chosen.size() == problems.size());
  std::vector<std::string> arguments = {"--url",     request.url,
                                        "--output",  (run.folder / (name + ".json")).string(),
                                        "--samples", std::to_string(request.samples),
                                        "--once"};
  arguments.insert(arguments.end(), request.options.begin(), request.options.end());
  arguments.push_back("--tasks");
  for (const Problem& problem : chosen) arguments.push_back(problem.task_id);
  HONE_TRY(play(terminal, loaded, python, std::move(arguments)));

  const fs::path traces = run.folder / (name + ".hone.jsonl");
  HONE_ASSIGN(const std::string text, read_text(traces, kTracesBytesMax));
  Keeper keeper(run, *catalog, *environment, config.backend, results);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const auto row = from_json(std::string_view(text).substr(start, end - start));
    if (!row) return row.error().in(traces.string());
    HONE_TRY(keeper.keep(chosen, *row));
    start = end + 1;
  }
  HONE_TRY(results.write());
  return keeper.left();
}

}  // namespace hone
