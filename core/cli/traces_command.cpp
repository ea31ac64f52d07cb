// `hone traces`: judges the turns of recorded traces again, and compares with the recorded verdicts.
#include "cli/command.hpp"
#include "integrations/pipeline/judge_traces.hpp"

namespace hone {
namespace {

class TracesCommand : public Command {
 public:
  std::string name() const override { return "traces"; }
  std::string summary() const override {
    return "Judge recorded traces of PyTorch modules again and compare verdicts.";
  }
  std::vector<std::string> examples() const override {
    return {"hone traces traces.json -c modules.yaml   # sets the Python interpreters",
            "hone traces traces.json --trace kernelbook_632 --trace kernelbench_9",
            "hone traces traces.json --read-only   # do not judge"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "FILE",
                  .doc = "JSON list or JSON Lines of traces; a trace has sample_key, pytorch_code, "
                         "and either turns, or triton_code and result",
                  .value = "FILE",
                  .required = true},
                 request_.file);
    options.texts({.name = "--trace", .doc = "judge only this trace (repeatable)", .value = "KEY"},
                  request_.keys);
    options.flag({.name = "--read-only", .doc = "print tasks and extracted code without judging"},
                 request_.read_only);
    config_.declare(options);
    options.flag({.name = "--json", .doc = "print one JSON line per turn, then a summary"},
                 request_.json);
  }

  int run(Terminal& terminal) override {
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    return judge_traces(terminal, std::move(*loaded), request_);
  }

 private:
  ConfigOptions config_;
  TracesRequest request_;
};

}  // namespace

std::unique_ptr<Command> make_traces_command() { return std::make_unique<TracesCommand>(); }

}  // namespace hone
