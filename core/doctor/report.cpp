// A table with advice, or JSON.
#include "doctor/report.hpp"

#include <algorithm>

#include "app/host.hpp"
#include "sandbox/gaps.hpp"
#include "sandbox/level.hpp"
#include "sandbox/probe.hpp"

namespace hone {
namespace {

struct State {
  const char* word;
  Colour colour;
};

State state_of(DoctorFinding::Kind kind) {
  switch (kind) {
    case DoctorFinding::kGood:
      return {"ok", Colour::kGreen};
    case DoctorFinding::kNote:
      return {"note", Colour::kYellow};
    case DoctorFinding::kMissing:
      return {"missing", Colour::kRed};
  }
  return {"", Colour::kPlain};
}

void print_text(Terminal& terminal, const DoctorReport& report) {
  std::vector<Row> rows;
  for (const DoctorFinding& f : report.findings) {
    const State state = state_of(f.kind);
    rows.push_back({{state.word, state.colour}, {f.what, Colour::kBold}, {f.found}});
    for (const std::string& detail : f.details) rows.push_back({{""}, {""}, {detail}});
    if (!f.advice.empty()) rows.push_back({{""}, {""}, {"→ " + f.advice, Colour::kDim}});
  }
  terminal.table({"", "", ""}, rows);
  if (!report.ready.capabilities.notes.empty()) {
    terminal.line();
    terminal.line(terminal.paint(Colour::kBold, "Details of failed tests"));
    for (const std::string& note : report.ready.capabilities.notes) terminal.line("  " + note);
  }
  terminal.line();
  terminal.line(terminal.paint(
      Colour::kBold, "Risks that isolation `" + std::string(isolation_name(report.ready.level)) +
                         "` does not prevent on this machine (docs/threats.md)"));
  for (const Gap& gap : open_gaps(report.ready.level, report.ready.capabilities)) {
    terminal.line("  " + std::string(gap.text));
  }
  terminal.line();
  if (!report.packages.empty())
    terminal.line("to install the missing packages: apt-get install " + report.packages);
  terminal.line(
      report.serves()
          ? terminal.paint(Colour::kGreen, "hone can serve on this machine: try `hone demo`")
          : terminal.paint(Colour::kRed,
                           "hone cannot serve on this machine yet: fix the rows marked 'missing'"));
}

void print_json(Terminal& terminal, const DoctorReport& report) {
  Value listed = Value::array();
  for (const DoctorFinding& f : report.findings) {
    listed.push(Value::map({{"what", f.what},
                            {"state", state_of(f.kind).word},
                            {"found", f.found},
                            {"advice", f.advice}}));
  }
  Value backends = Value::array();
  for (const BackendReport& one : report.backends) backends.push(value_of(one));
  Value gaps = Value::array();
  for (const Gap& gap : open_gaps(report.ready.level, report.ready.capabilities))
    gaps.push(gap.text);
  const Value::Array notes(report.ready.capabilities.notes.begin(),
                           report.ready.capabilities.notes.end());
  terminal.json(Value::map({{"serves", report.serves()},
                            {"isolation", isolation_name(report.ready.level)},
                            {"freezer", report.ready.freezer},
                            {"findings", listed},
                            {"backends", backends},
                            {"notes", notes},
                            {"not_stopped", gaps},
                            {"packages", report.packages}}),
                2);
}

}  // namespace

bool DoctorReport::serves() const {
  return std::none_of(findings.begin(), findings.end(), [](const DoctorFinding& finding) {
    return finding.kind == DoctorFinding::kMissing;
  });
}

DoctorReport examine_all(Terminal& terminal, const Config& config, double seconds) {
  DoctorReport report;
  const auto add = [&report](const std::vector<DoctorFinding>& more) {
    report.findings.insert(report.findings.end(), more.begin(), more.end());
  };
  const auto show = show_steps(terminal);
  show("testing this machine");
  const LauncherOptions launcher = launcher_options(config);
  report.ready = decide(launcher, probe_machine());
  add(examine_machine(launcher, report.ready));
  show("querying devices and their compilers");
  report.backends = examine_backends(config, seconds);
  for (const BackendReport& backend : report.backends) add(findings_of(backend));
  show("starting the interpreters of modules");
  add(examine_interpreters(config));
  show("opening datasets");
  add(examine_datasets(config));
  report.packages = missing_packages(report.findings);
  return report;
}

void print_report(Terminal& terminal, const DoctorReport& report, bool json) {
  json ? print_json(terminal, report) : print_text(terminal, report);
}

}  // namespace hone
