// `hone doctor`: reports what this machine supports, and how to install what is missing.
#include "cli/command.hpp"
#include "doctor/report.hpp"

namespace hone {
namespace {

class DoctorCommand : public Command {
 public:
  std::string name() const override { return "doctor"; }
  std::string summary() const override {
    return "Report what this machine supports, and how to install what is missing.";
  }
  std::vector<std::string> examples() const override {
    return {"hone doctor                    # exit status 1 if hone cannot serve here",
            "hone doctor --config my.yaml   # check the needs of a configuration, too",
            "hone doctor --json"};
  }
  void declare(OptionSet& options) override {
    config_.declare(options);
    options.integer({.name = "--timeout",
                     .doc = "time limit for the query of one driver (s, default: 60)",
                     .value = "SECONDS"},
                    timeout_s_, 1, 3600);
    options.flag({.name = "--json", .doc = "print JSON"}, json_);
    options.text({.name = "--ask",
                  .doc = "answer one question in this process",
                  .value = "QUESTION",
                  .hidden = true},
                 ask_);
    options.text({.name = "LIBRARY", .doc = "library of the backend to query", .hidden = true},
                 library_);
  }

  int run(Terminal& terminal) override {
    if (!ask_.empty()) return answer_question(ask_, library_);
    if (!library_.empty())
      return terminal.fail(invalid_argument("found " + library_ + ", expected only options"),
                           "to check a configuration file: hone doctor -c " + library_);
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    const DoctorReport report =
        examine_all(terminal, loaded->config, static_cast<double>(timeout_s_));
    print_report(terminal, report, json_);
    return report.serves() ? kExitOk : kExitNo;
  }

 private:
  ConfigOptions config_;
  std::string ask_, library_;
  // Rationale: an idle device takes seconds to initialise, and a host may have eight devices.
  std::int64_t timeout_s_ = 60;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() { return std::make_unique<DoctorCommand>(); }

}  // namespace hone
