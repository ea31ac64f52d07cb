// Traces of the KernelBench Triton pipeline: answers of models with the verdicts of the pipeline's harness,
// and their comparison with hone's verdicts.
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

/// The recorded result of one turn.
struct RecordedTurn {
  std::int64_t turn = 0;
  std::string response;    ///< the model's whole answer; empty if only its code was recorded
  std::string code;        ///< the code that the pipeline extracted
  bool generated = true;   ///< false: the pipeline found no code, so there is nothing to judge
  bool has_result = true;  ///< false: no verdict was recorded
  bool correct = false;
  std::string word;   ///< "correct", "wrong", or the name of the exception: "CompilationError"
  std::string error;  ///< the most informative line of the exception
  std::optional<double> speedup;

  /// The turn as the action of a step.
  Value action() const;
};

/// One sample of a task.
struct RecordedTrace {
  std::string key;          ///< "kernelbook_632"; also the task's id in the dataset kernelbook
  std::int64_t sample = 0;  ///< number of earlier rows with the same key
  std::string title;        ///< "80_Gemm_Max_Subtract_GELU", or the key
  std::vector<RecordedTurn> turns;

  std::string task_id() const { return "traces/" + key; }
  /// "kernelbook_632"; "kernelbook_632/1" for the second sample.
  std::string name() const { return sample == 0 ? key : key + "/" + std::to_string(sample); }
};

/// A row or a turn that cannot be read.
struct BrokenRow {
  std::string key;  ///< its sample_key; empty if that cannot be read either
  std::string
      what;  ///< "row 3: turn 2: found …, expected …", or "line 3: …" for JSON Lines; rows count from 1
};

struct TraceFile {
  std::vector<RecordedTrace> traces;  ///< in file order
  std::vector<BrokenRow> broken;
  Value tasks = Value::array();  ///< a row for each task, as input of the plugin kernelbook

  /// Whether no turn can be read.
  bool is_all_broken() const;
  /// One error for all broken rows: the first one, and the number of the others.
  Error refusal() const;
};

/// Reads a JSON list or JSON Lines. A row has `turns`, or is itself a turn. An error only if no row can be
/// read.
Result<TraceFile> read_traces(std::string_view text);

/// The rows of a file with these keys; without keys, all rows. A key that the file lacks is not_found.
Result<TraceFile> read_trace_file(const std::string& file, const std::vector<std::string>& keys);

/// One turn, evaluated again.
struct TraceComparison {
  const RecordedTrace* trace = nullptr;
  const RecordedTurn* recorded = nullptr;
  std::optional<Result<Verdict>> now;

  bool judged() const { return now && now->ok(); }
  /// Whether both verdicts exist.
  bool compared() const { return judged() && recorded->has_result; }
  /// Whether both are correct, or neither is.
  bool agrees() const { return compared() && (*now)->correct() == recorded->correct; }
  /// The likely reason of a difference. If neither is correct, hone's reason.
  std::string why() const;
  Value to_value() const;
};

/// Numbers of turns by kind.
struct TraceCounts {
  std::size_t turns = 0, agree = 0, differ = 0, not_recorded = 0, not_generated = 0, not_judged = 0;
  std::size_t correct = 0, wrong = 0, other = 0;  ///< hone's verdicts

  void add(const TraceComparison& turn);
};

}  // namespace hone
