// `hone doctor`: reports what this machine supports, and how to install what is missing.

#include "app/host.hpp"
#include "cli/command.hpp"
#include "cli/doctor_devices.hpp"
#include "cli/doctor_probe.hpp"
#include "sandbox/gaps.hpp"
#include "sandbox/level.hpp"
#include "sandbox/probe.hpp"

namespace hone {
namespace {

Colour colour_of(DoctorFinding::Kind kind) {
  switch (kind) {
    case DoctorFinding::kGood:
      return Colour::kGreen;
    case DoctorFinding::kNote:
      return Colour::kYellow;
    case DoctorFinding::kMissing:
      return Colour::kRed;
  }
  return Colour::kPlain;
}

const char* word_of(DoctorFinding::Kind kind) {
  switch (kind) {
    case DoctorFinding::kGood:
      return "ok";
    case DoctorFinding::kNote:
      return "note";
    case DoctorFinding::kMissing:
      return "missing";
  }
  return "";
}

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
    terminal.status("testing this machine…");
    const LauncherOptions launcher = launcher_options(loaded->config);
    const Ready ready = decide(launcher, probe_machine());
    std::vector<DoctorFinding> findings = examine_machine(launcher, ready);
    terminal.status("querying devices and their compilers…");
    const std::vector<BackendReport> reports =
        examine_backends(loaded->config, static_cast<double>(timeout_s_));
    for (const BackendReport& report : reports) {
      for (DoctorFinding& finding : findings_of(report)) findings.push_back(std::move(finding));
    }
    terminal.status("starting the interpreters of modules…");
    for (DoctorFinding& finding : examine_interpreters(loaded->config))
      findings.push_back(std::move(finding));
    terminal.status("opening datasets…");
    for (DoctorFinding& finding : examine_datasets(loaded->config))
      findings.push_back(std::move(finding));
    const std::string packages = missing_packages(findings);
    bool serves = true;
    for (const DoctorFinding& finding : findings)
      serves = serves && finding.kind != DoctorFinding::kMissing;
    if (json_) {
      print_json(terminal, ready, findings, reports, packages, serves);
    } else {
      print(terminal, ready, findings, packages, serves);
    }
    return serves ? kExitOk : kExitNo;
  }

 private:
  static void print(Terminal& terminal, const Ready& ready,
                    const std::vector<DoctorFinding>& findings, const std::string& packages,
                    bool serves) {
    std::vector<Row> rows;
    for (const DoctorFinding& f : findings) {
      rows.push_back({{word_of(f.kind), colour_of(f.kind)}, {f.what, Colour::kBold}, {f.found}});
      for (const std::string& detail : f.details) rows.push_back({{""}, {""}, {detail}});
      if (!f.advice.empty()) rows.push_back({{""}, {""}, {"→ " + f.advice, Colour::kDim}});
    }
    terminal.table({"", "", ""}, rows);
    if (!ready.capabilities.notes.empty()) {
      terminal.line();
      terminal.line(terminal.paint(Colour::kBold, "Details of failed tests"));
      for (const std::string& note : ready.capabilities.notes) terminal.line("  " + note);
    }
    terminal.line();
    terminal.line(terminal.paint(
        Colour::kBold, "Risks that isolation `" + std::string(isolation_name(ready.level)) +
                           "` does not prevent on this machine (docs/threats.md)"));
    for (const Gap& gap : open_gaps(ready.level, ready.capabilities)) {
      terminal.line("  " + std::string(gap.text));
    }
    terminal.line();
    if (!packages.empty()) terminal.line("to install what is missing: apt-get install " + packages);
    terminal.line(
        serves
            ? terminal.paint(Colour::kGreen, "hone can serve on this machine: try `hone demo`")
            : terminal.paint(Colour::kRed,
                             "hone cannot serve on this machine yet: see what is marked missing"));
  }

  static void print_json(Terminal& terminal, const Ready& ready,
                         const std::vector<DoctorFinding>& findings,
                         const std::vector<BackendReport>& reports, const std::string& packages,
                         bool serves) {
    Value listed = Value::array();
    for (const DoctorFinding& f : findings) {
      listed.push(Value::map({{"what", f.what},
                              {"state", word_of(f.kind)},
                              {"found", f.found},
                              {"advice", f.advice}}));
    }
    Value backends = Value::array();
    for (const BackendReport& report : reports) backends.push(value_of(report));
    Value gaps = Value::array();
    for (const Gap& gap : open_gaps(ready.level, ready.capabilities)) gaps.push(gap.text);
    const Value::Array notes(ready.capabilities.notes.begin(), ready.capabilities.notes.end());
    terminal.json(Value::map({{"serves", serves},
                              {"isolation", isolation_name(ready.level)},
                              {"freezer", ready.freezer},
                              {"findings", listed},
                              {"backends", backends},
                              {"notes", notes},
                              {"not_stopped", gaps},
                              {"packages", packages}}),
                  2);
  }

  ConfigOptions config_;
  std::string ask_, library_;
  // Rationale: an idle device takes seconds to initialise, and a host may have eight devices.
  std::int64_t timeout_s_ = 60;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() { return std::make_unique<DoctorCommand>(); }

}  // namespace hone
