// Traces of the KernelBench Triton pipeline: episodes of several turns with the verdicts that its
// own harness gave, and how hone's compare.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "model/value.hpp"
#include "model/verdict.hpp"

namespace hone {

/// What the other harness said of one turn.
struct RecordedTurn {
  std::int64_t turn = 0;
  std::string response;  ///< the model's whole answer; empty where only its code was kept
  std::string code;      ///< what the pipeline took of it
  bool correct = false;
  std::string word;   ///< "correct", "wrong", or what was raised: "CompilationError"
  std::string error;  ///< the first line of what was raised that says something
  std::optional<double> speedup;

  /// The action of a step.
  Value action() const;
};

struct RecordedTrace {
  std::string key;    ///< "kernelbook_632"; the id of its task in the dataset kernelbook
  std::string title;  ///< "80_Gemm_Max_Subtract_GELU", or the key
  std::vector<RecordedTurn> turns;

  /// Of traces_dataset().
  std::string task_id() const { return "traces/" + key; }
};

/// Reads a file's text: a JSON list of traces. A mistake names the trace and the turn.
Result<std::vector<RecordedTrace>> read_traces(std::string_view text);

/// Those of a file with these keys; without any all of them. A key that the file lacks is not_found.
Result<std::vector<RecordedTrace>> read_trace_file(const std::string& file,
                                                   const std::vector<std::string>& keys);

/// Traces hold their tasks: the dataset that reads the same file.
DatasetConfig traces_dataset(const std::string& file);

/// One turn, judged again.
struct TraceComparison {
  const RecordedTrace* trace = nullptr;
  const RecordedTurn* recorded = nullptr;
  std::optional<Result<Verdict>> now;

  bool judged() const { return now && now->ok(); }
  /// Both right, or neither.
  bool agrees() const { return judged() && (*now)->correct() == recorded->correct; }
  /// Why they differ, as far as it is known; of two that are not right what hone has against it.
  std::string why() const;
  Value to_value() const;
};

}  // namespace hone
