// A table; then the feedback of a single file, or the reasons of several.
#include "offline/file_report.hpp"

#include "base/utf8.hpp"
#include "kernel_refine/compiler_words.hpp"
#include "kernel_refine/words.hpp"

namespace hone {
namespace {

constexpr std::size_t kWordsBytesMax = 2000;  // of a compiler's, for one of several files

Row file_row(const JudgedFile& entry, const Verdict& verdict) {
  std::string speedup, note = verdict.correct() ? "" : verdict.reason;
  if (verdict.speedup) {
    speedup = short_number(verdict.speedup->value) + "× (" + short_number(verdict.speedup->low) +
              "–" + short_number(verdict.speedup->high) + ")";
    for (const std::string& flag : verdict.speedup->flags) {
      note += (note.empty() ? "" : ", ") + flag;
    }
  }
  if (verdict.second_look == "agreed")
    note += std::string(note.empty() ? "" : ", ") + "confirmation run agreed";
  const auto ms = [&verdict](const char* stage) {
    const auto found = verdict.stage_ms.find(stage);
    return found == verdict.stage_ms.end() ? 0.0 : found->second;
  };
  const double took_ms = ms("total") - ms("queue");  // other files' time is not its own
  return {{entry.file, Colour::kBold},
          {std::string(outcome_name(verdict.outcome)),
           verdict.correct() ? Colour::kGreen : Colour::kRed},
          {speedup},
          {entry.reward ? short_number(*entry.reward) : ""},
          {took_ms > 0 ? short_number(took_ms) : ""},
          {note}};
}

/// For a single file: prints the feedback.
void print_feedback(Terminal& terminal, const JudgedFile& entry) {
  if (!entry.feedback.empty()) terminal.line("\n" + entry.feedback);
}

/// Of several: the worst element of a wrong one, and the compiler's words.
void print_details(Terminal& terminal, const std::vector<JudgedFile>& files) {
  for (const JudgedFile& entry : files) {
    if (!entry.result->ok() || (*entry.result)->correct()) continue;
    const Verdict& verdict = **entry.result;
    std::string text =
        kernel_refine::trim_compiler_words(valid_utf8(verdict.diagnostics), kWordsBytesMax);
    if (verdict.mismatch) text = kernel_refine::mismatch_text(*verdict.mismatch);
    if (text.empty()) continue;
    terminal.line("\n" + terminal.paint(Colour::kBold, entry.file) + "\n" + text);
  }
}

}  // namespace

int report_files(Terminal& terminal, const std::vector<JudgedFile>& files, bool json) {
  bool all_correct = true, fault = false, usage = false;
  std::vector<Row> rows;
  Value listed = Value::array();
  for (const JudgedFile& entry : files) {
    if (!entry.result->ok()) {
      const Error& error = entry.result->error();
      (exit_code_for(error.code) == kExitUsage ? usage : fault) = true;
      rows.push_back({{entry.file, Colour::kBold},
                      {"not judged", Colour::kYellow},
                      {""},
                      {""},
                      {""},
                      {error.message}});
      listed.push(Value::map({{"file", entry.file},
                              {"reward_valid", false},
                              {"error", error.message},
                              {"code", code_name(error.code)}}));
      continue;
    }
    const Verdict& verdict = **entry.result;
    all_correct = all_correct && verdict.correct();
    rows.push_back(file_row(entry, verdict));
    listed.push(Value::map({{"file", entry.file},
                            {"reward_valid", true},
                            {"reward", entry.reward ? Value(*entry.reward) : Value()},
                            {"verdict", verdict_to_value(verdict)},
                            {"feedback", entry.feedback}}));
  }
  if (json) {
    terminal.json(listed, 2);
  } else {
    terminal.table({"file", "outcome", "speedup", "reward", "ms", "note"}, rows);
    files.size() == 1 ? print_feedback(terminal, files[0]) : print_details(terminal, files);
  }
  if (usage) return kExitUsage;
  if (fault) return kExitFault;
  return all_correct ? kExitOk : kExitNo;
}

}  // namespace hone
