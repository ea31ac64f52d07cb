// Traces of the KernelBench Triton pipeline: what models answered, with the verdicts that its own
// harness gave, and how hone's compare.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"
#include "model/verdict.hpp"

namespace hone {

/// What the other harness said of one turn.
struct RecordedTurn {
  std::int64_t turn = 0;
  std::string response;    ///< the model's whole answer; empty where only its code was kept
  std::string code;        ///< what the pipeline took of it
  bool generated = true;   ///< false: the pipeline had no code of the model; nothing to judge
  bool has_result = true;  ///< false: it has no recorded verdict
  bool correct = false;
  std::string word;   ///< "correct", "wrong", or what was raised: "CompilationError"
  std::string error;  ///< the first line of what was raised that says something
  std::optional<double> speedup;

  /// The action of a step.
  Value action() const;
};

/// One sample of a task.
struct RecordedTrace {
  std::string key;          ///< "kernelbook_632"; the id of its task in the dataset kernelbook
  std::int64_t sample = 0;  ///< from 0: how many rows before have the same key
  std::string title;        ///< "80_Gemm_Max_Subtract_GELU", or the key
  std::vector<RecordedTurn> turns;

  std::string task_id() const { return "traces/" + key; }
  /// "kernelbook_632", and "kernelbook_632/1" for its second sample.
  std::string name() const { return sample == 0 ? key : key + "/" + std::to_string(sample); }
};

/// A row, or a turn of one, that cannot be read.
struct BrokenRow {
  std::string key;  ///< its sample_key; empty where that cannot be read either
  std::string what;  ///< "row 3: turn 2: found …, expected …", from 1; "line 3: …" of JSON Lines
};

struct TraceFile {
  std::vector<RecordedTrace> traces;  ///< in the file's order
  std::vector<BrokenRow> broken;
  Value tasks = Value::array();  ///< a row for each task: what the plugin kernelbook reads

  /// Whether there is not one turn to read.
  bool is_all_broken() const;
  /// All that is broken, in one error: the first row, and how many more there are.
  Error refusal() const;
};

/// Reads a file's text: a JSON list or JSON Lines. A row has `turns`, or is a turn itself. An error
/// only where no row at all can be read.
Result<TraceFile> read_traces(std::string_view text);

/// The rows of a file with these keys; without any all of them. A key that the file lacks is
/// not_found.
Result<TraceFile> read_trace_file(const std::string& file, const std::vector<std::string>& keys);

/// One turn, judged again.
struct TraceComparison {
  const RecordedTrace* trace = nullptr;
  const RecordedTurn* recorded = nullptr;
  std::optional<Result<Verdict>> now;

  bool judged() const { return now && now->ok(); }
  /// Whether there are two verdicts.
  bool compared() const { return judged() && recorded->has_result; }
  /// Both right, or neither.
  bool agrees() const { return compared() && (*now)->correct() == recorded->correct; }
  /// Why they differ, as far as it is known; of two that are not right what hone has against it.
  std::string why() const;
  Value to_value() const;
};

/// How many turns there are of each kind.
struct TraceCounts {
  std::size_t turns = 0, agree = 0, differ = 0, not_recorded = 0, not_generated = 0, not_judged = 0;
  std::size_t correct = 0, wrong = 0, other = 0;  ///< hone's verdicts

  void add(const TraceComparison& turn);
};

}  // namespace hone
