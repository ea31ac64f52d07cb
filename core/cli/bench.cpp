// `hone bench`: measures hone against baselines, in one run on one machine.
#include "app/parts.hpp"
#include "bench/benchmark.hpp"
#include "bench/figure_table.hpp"
#include "cli/command.hpp"

namespace hone {
namespace {

class BenchCommand : public Command {
 public:
  std::string name() const override { return "bench"; }
  std::string summary() const override {
    return "Measure the performance of hone against plain baselines.";
  }
  std::vector<std::string> examples() const override {
    return {"hone bench protocol           # requests/s, against a plain ROUTER/DEALER echo",
            "hone bench fairness           # throughput of other clients when one floods",
            "hone bench step               # overhead of each stage (1 to 2 minutes)",
            "hone bench gpu --config FILE  # rate, clock and noise of a device (2 minutes)",
            "hone bench modules --config FILE --task kernelbench/level1/19",
            "hone bench modules --config FILE --run runs/first --level 1",
            "hone bench journal            # cost of durability, and restart (minutes)",
            "hone bench web                # the web page, and a server with browsers (minutes)",
            "hone bench plugin             # a reward in hone, in a plugin host and in Python",
            "hone bench idle               # memory with up to 100,000 open episodes",
            "hone bench noise --count 50   # a kernel against itself (500 take 30 min)",
            "hone bench protocol --json"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "WHAT",
                  .doc = "benchmark to run",
                  .choices = {"protocol", "fairness", "step", "gpu", "modules", "journal", "web",
                              "plugin", "idle", "noise"},
                  .required = true},
                 request_.what);
    options.text({.name = "--task",
                  .doc = "step, gpu, modules, noise: task (default: add_relu)",
                  .value = "TASK"},
                 request_.task);
    options.integer({.name = "--count",
                     .doc = "step, modules: submissions of each kind (default: 20), with --run or "
                            "--traces: timed submissions (default: each once); gpu: submissions "
                            "(default: 64); noise: repetitions "
                            "(default: 500); journal, web: rounds of steps that build (default: 2)",
                     .value = "N"},
                    request_.count, 2, 1'000'000);
    options.text({.name = "--source",
                  .doc = "modules: a correct submission (default: the module itself)",
                  .value = "FILE"},
                 request_.source);
    options.texts({.name = "--run",
                   .doc = "modules: folder with level_1_problem_P_sample_S_kernel.py; the baseline "
                          "runs it without a sandbox (repeatable)",
                   .value = "DIR"},
                  request_.mix.runs);
    options.integer({.name = "--level",
                     .doc = "modules: KernelBench level of every --run folder",
                     .value = "N"},
                    request_.mix.level, 1, 1'000'000);
    options.text({.name = "--traces",
                  .doc = "modules: file of traces, as for `hone traces`",
                  .value = "FILE"},
                 request_.mix.traces);
    options.integer({.name = "--in-flight",
                     .doc = "modules, with --run or --traces: submissions in flight (default: 16)",
                     .value = "N"},
                    request_.mix.in_flight, 1, 1024);
    options.texts({.name = "--trace",
                   .doc = "modules: run only this trace of --traces (repeatable)",
                   .value = "KEY"},
                  request_.mix.keys);
    options.integer({.name = "--episodes",
                     .doc = "journal, web: episodes in the journal (default: 100000)",
                     .value = "N"},
                    request_.episodes, 1, 100'000'000);
    options.integer({.name = "--steps",
                     .doc = "journal, web: steps of these episodes in total (default: 1000000)",
                     .value = "N"},
                    request_.steps, 1, 1'000'000'000);
    options.text({.name = "--folder",
                  .doc = "journal, web: folder on the disk to measure (default: .)",
                  .value = "DIR"},
                 request_.folder);
    config_.declare(options);
    options.flag(
        {.name = "--json", .doc = "print a JSON list of figures with unit, baseline and ratio"},
        json_);
  }

  int run(Terminal& terminal) override {
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    const auto bench = Benchmark::open(std::move(request_), std::move(*loaded));
    if (!bench) return terminal.fail(bench.error());
    const auto figures = bench->measure(show_steps(terminal));
    terminal.clear_status();
    if (!figures) return terminal.fail(without_verbs(figures.error()), next_step(figures.error()));
    return print_figures(terminal, *figures, json_);
  }

 private:
  ConfigOptions config_;
  BenchRequest request_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace hone
