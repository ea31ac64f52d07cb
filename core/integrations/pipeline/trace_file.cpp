// Reads traces, strictly for all members that affect a verdict, and compares two verdicts.
#include "integrations/pipeline/trace_file.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/files.hpp"
#include "base/nearest.hpp"
#include "base/utf8.hpp"
#include "integrations/kernelbench/python_json.hpp"
#include "kernel_refine/words.hpp"

namespace hone {
namespace {

constexpr std::size_t kLineMax = 200;
constexpr std::size_t kTurnsMax = 64;
constexpr std::size_t kKeyMax = 100;
constexpr std::int64_t kTurnMax = 1 << 20;
constexpr std::size_t kTraceFileBytesMax = 256u << 20;
// The members of a row that the plugin kernelbook reads. Others may be large.
constexpr std::string_view kTaskKeys[] = {"sample_key",  "pytorch_code", "python_code", "name",
                                          "entry_point", "module_name",  "source"};

std::string_view first_line(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin);
  return text.substr(0, std::min({text.find('\n'), text.size(), kLineMax}));
}

/// "CompilationError" of "CompilationError: at 39:12:…"; anything else is an "error".
std::string word_of(std::string_view error) {
  const std::string_view name = error.substr(0, error.find(':'));
  const bool plain = !name.empty() && name.size() <= 48 &&
                     name.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyz"
                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") == std::string_view::npos;
  return plain ? std::string(name) : "error";
}

/// Triton's messages begin with the place and end with the cause, so this is the last line that names an
/// exception.
std::string telling_line(std::string_view error) {
  std::string found(first_line(error));
  for (std::size_t at = 0; at < error.size();) {
    const std::size_t end = std::min(error.find('\n', at), error.size());
    const std::string_view line = error.substr(at, end - at);
    const std::size_t colon = line.find("Error: ");
    const bool names = colon != std::string_view::npos && line.find(' ') == colon + 6;
    if (names && line.find("Error: at ") == std::string_view::npos) {
      found = std::string(line.substr(0, kLineMax));
    }
    at = end + 1;
  }
  return found;
}

/// "found int, expected a map": the type of a value in error messages.
std::string found_in(const Value* value) {
  if (value == nullptr) return "nothing";
  return value->is_nil() ? "null" : std::string(value->type_name());
}

Error mismatch(const std::string& key, const Value* value, const std::string& expected) {
  return invalid_argument(key + ": found " + found_in(value) + ", expected " + expected);
}

/// A text that may be missing or null, which counts as empty. Text of only blanks is empty as well.
Result<std::string> text_in(const Value& map, const char* key) {
  const Value* value = map.find(key);
  if (value == nullptr || value->is_nil()) return std::string();
  if (!value->is_string()) return mismatch(key, value, "a string or null");
  const std::string& text = value->as_string();
  return text.find_first_not_of(" \t\r\n") == std::string::npos ? std::string() : text;
}

Status read_result(const Value& row, RecordedTurn& turn) {
  const Value* result = row.find("result");
  turn.has_result = result != nullptr && !result->is_nil();
  if (!turn.has_result) {
    HONE_ASSIGN(const std::string error, text_in(row, "error"));
    turn.error = telling_line(error);
    return {};
  }
  if (!result->is_map()) return mismatch("result", result, "a map with correctness");
  const Value* correct = result->find("correctness");
  if (correct == nullptr || !correct->is_bool()) {
    return mismatch("result/correctness", correct, "true or false");
  }
  turn.correct = correct->as_bool();
  const Value* speedup = result->find("speedup");
  if (turn.correct && speedup != nullptr && speedup->is_number())
    turn.speedup = speedup->as_double();
  HONE_ASSIGN(const std::string said, text_in(*result, "error"));
  turn.word = turn.correct ? "correct" : said.empty() ? "wrong" : word_of(first_line(said));
  turn.error = turn.correct ? "" : telling_line(said);
  return {};
}

/// `row` is a turn of a trace, or a trace with a single turn.
Result<RecordedTurn> read_turn(const Value& row, std::int64_t number) {
  RecordedTurn turn;
  turn.turn = number;
  HONE_ASSIGN(turn.response, text_in(row, "full_completion"));
  HONE_ASSIGN(turn.code, text_in(row, "triton_code"));
  HONE_TRY(read_result(row, turn));
  // A response without a recorded verdict is one in which the pipeline found no code. A correct turn had
  // code, even if the trace does not have the code separately.
  const bool without_code = turn.code.empty() && (row.find("triton_code") || !turn.has_result);
  turn.generated = !(without_code && (turn.response.empty() || !turn.correct));
  if (turn.generated && turn.code.empty() && turn.response.empty()) {
    return invalid_argument("found neither triton_code nor full_completion, expected one of them");
  }
  return turn;
}

bool is_key(std::string_view text) {
  return !text.empty() && text.size() <= kKeyMax &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
             std::string_view::npos;
}

/// The module's source; nullptr if the row has none.
const Value* module_of(const Value& row) {
  for (const char* key : {"pytorch_code", "python_code"}) {
    const Value* found = row.find(key);
    if (found != nullptr && found->is_string() && !found->as_string().empty()) return found;
  }
  return nullptr;
}

/// Reads rows in order, and keeps the errors of broken ones.
class RowReader {
 public:
  void read(const std::string& place, const Value& row) {
    if (const Status done = read_row(place, row); !done) refuse(place, done.error());
    key_.clear();
  }
  void refuse(const std::string& place, const Error& error) {
    file_.broken.push_back({key_, place + ": " + printable(error.message)});
  }
  TraceFile take() {
    for (auto& [key, task] : tasks_) file_.tasks.push(std::move(task.row));
    return std::move(file_);
  }

 private:
  struct Task {
    std::string place;
    Value row;
  };

  Status read_row(const std::string& place, const Value& row) {
    if (!row.is_map()) {
      return invalid_argument("found " + found_in(&row) + ", expected a map with sample_key");
    }
    const Value* key = row.find("sample_key");
    if (key == nullptr || !key->is_string()) return mismatch("sample_key", key, "a string");
    if (!is_key(key->as_string())) {
      return invalid_argument("sample_key: found " + to_json(cut_end(key->as_string(), kKeyMax)) +
                              ", expected at most " + std::to_string(kKeyMax) +
                              " letters, digits, '_', '.' and '-'");
    }
    key_ = key->as_string();
    RecordedTrace trace;
    trace.key = key_;
    const Value* name = row.find("name");
    trace.title = name != nullptr && name->is_string() ? name->as_string() : trace.key;
    HONE_TRY(read_turns(place, row, trace));
    const bool has_code = std::any_of(trace.turns.begin(), trace.turns.end(),
                                      [](const RecordedTurn& turn) { return turn.generated; });
    if (has_code) HONE_TRY(add_task(place, row));
    trace.sample = samples_[key_]++;
    file_.traces.push_back(std::move(trace));
    return {};
  }

  /// The other turns of the row are still used.
  Status read_turns(const std::string& place, const Value& row, RecordedTrace& trace) {
    const Value* turns = row.find("turns");
    if (turns == nullptr) {
      if (!row.find("triton_code") && !row.find("full_completion")) {
        return invalid_argument("found neither turns nor triton_code, expected one of them");
      }
      HONE_ASSIGN(RecordedTurn turn, read_turn(row, 1));
      trace.turns.push_back(std::move(turn));
      return {};
    }
    if (!turns->is_array()) return mismatch("turns", turns, "a list");
    const Value::Array& listed = turns->as_array();
    if (listed.size() > kTurnsMax) {
      return invalid_argument("turns: found " + std::to_string(listed.size()) +
                              ", expected at most " + std::to_string(kTurnsMax));
    }
    for (std::size_t i = 0; i < listed.size(); ++i) {
      auto turn = read_listed_turn(listed[i]);
      if (turn) {
        trace.turns.push_back(std::move(*turn));
      } else {
        refuse(place + ": turns/" + std::to_string(i), turn.error());
      }
    }
    return {};
  }

  static Result<RecordedTurn> read_listed_turn(const Value& row) {
    if (!row.is_map()) return invalid_argument("found " + found_in(&row) + ", expected a map");
    const Value* number = row.find("turn");
    if (number == nullptr || !number->is_int()) return mismatch("turn", number, "an integer");
    if (number->as_int() < 1 || number->as_int() > kTurnMax) {
      return invalid_argument("turn: found " + std::to_string(number->as_int()) +
                              ", expected 1 to " + std::to_string(kTurnMax));
    }
    return read_turn(row, number->as_int());
  }

  /// Rows with the same key are samples of the same task.
  Status add_task(const std::string& place, const Value& row) {
    const Value* module = module_of(row);
    if (module == nullptr) {
      return mismatch("pytorch_code", row.find("pytorch_code"), "the source of the task's module");
    }
    const auto known = tasks_.find(key_);
    if (known != tasks_.end()) {
      if (*module_of(known->second.row) == *module) return {};
      return invalid_argument("pytorch_code: found another module than " + known->second.place +
                              " has for " + key_ + ", expected the same");
    }
    Value task = Value::map();
    for (const auto& [name, member] : row.as_map()) {
      const bool about =
          std::find(std::begin(kTaskKeys), std::end(kTaskKeys), name) != std::end(kTaskKeys);
      if (about) task.set(name, member);
    }
    tasks_.emplace(key_, Task{place, std::move(task)});
    return {};
  }

  TraceFile file_;
  std::map<std::string, Task> tasks_;
  std::map<std::string, std::int64_t> samples_;
  std::string key_;  // of the current row
};

/// Reads JSON Lines: a row in each line that is not empty.
void read_lines(std::string_view text, RowReader& reader) {
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string place = "line " + std::to_string(number);
    const auto row = from_python_json(line);
    row ? reader.read(place, *row) : reader.refuse(place, row.error());
  }
}

Status read_list(std::string_view text, RowReader& reader) {
  const auto list = from_python_json(text);
  if (!list) {
    return invalid_argument("no traces: expected a JSON list, or JSON Lines: " +
                            list.error().message);
  }
  if (!list->is_array()) {
    return invalid_argument("no traces: expected a list, found " + std::string(list->type_name()));
  }
  if (list->as_array().empty()) return invalid_argument("no traces: the list is empty");
  std::size_t number = 0;
  for (const Value& row : list->as_array()) reader.read("row " + std::to_string(++number), row);
  return {};
}

}  // namespace

Value RecordedTurn::action() const {
  return response.empty() ? Value::map({{"code", code}, {"language", "python"}})
                          : Value::map({{"response", response}});
}

bool TraceFile::is_all_broken() const {
  return !broken.empty() && std::all_of(traces.begin(), traces.end(),
                                        [](const auto& trace) { return trace.turns.empty(); });
}

Error TraceFile::refusal() const {
  const std::size_t more = broken.size() - 1;
  return invalid_argument(broken.front().what +
                          (more == 0 ? "" : " (and " + std::to_string(more) + " more)"));
}

Result<TraceFile> read_traces(std::string_view text) {
  RowReader reader;
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && text[begin] == '{') {
    read_lines(text, reader);
  } else {
    HONE_TRY(read_list(text, reader));
  }
  TraceFile file = reader.take();
  if (file.is_all_broken()) return file.refusal();
  return file;
}

Result<TraceFile> read_trace_file(const std::string& file, const std::vector<std::string>& keys) {
  HONE_ASSIGN(const std::string text, read_text(file, kTraceFileBytesMax));
  auto read = read_traces(text);
  if (!read) return read.error().in(file);
  if (keys.empty()) return read;
  std::vector<std::string> names;
  for (const RecordedTrace& trace : read->traces) names.push_back(trace.key);
  for (const BrokenRow& row : read->broken) names.push_back(row.key);
  for (const std::string& key : keys) {
    if (std::find(names.begin(), names.end(), key) == names.end()) {
      return not_found(file + ": " + unknown_name("trace", key, names));
    }
  }
  const auto unwanted = [&keys](const auto& one) {
    return std::find(keys.begin(), keys.end(), one.key) == keys.end();
  };
  std::erase_if(read->traces, unwanted);
  std::erase_if(read->broken, unwanted);
  std::erase_if(read->tasks.as_array(), [&keys](const Value& task) {
    const std::string& key = task.find("sample_key")->as_string();
    return std::find(keys.begin(), keys.end(), key) == keys.end();
  });
  if (read->is_all_broken()) return read->refusal().in(file);
  return read;
}

std::string TraceComparison::why() const {
  if (!recorded->generated) {
    return recorded->error.empty() ? "" : "recorded: " + recorded->error;
  }
  if (!now) return {};
  if (!now->ok()) return now->error().message;
  const Verdict& verdict = **now;
  if (verdict.correct()) {
    if (recorded->correct || !recorded->has_result) return {};
    return recorded->error.empty() ? "recorded: outputs that do not match, without a place"
                                   : "recorded: " + recorded->error;
  }
  return verdict.mismatch ? kernel_refine::mismatch_text(*verdict.mismatch) : verdict.reason;
}

Value TraceComparison::to_value() const {
  Value was;
  if (recorded->has_result) {
    was = Value::map({{"correct", recorded->correct},
                      {"word", recorded->word},
                      {"error", recorded->error},
                      {"speedup", recorded->speedup ? Value(*recorded->speedup) : Value()}});
  }
  return Value::map({{"trace", trace->key},
                     {"sample", trace->sample},
                     {"title", trace->title},
                     {"turn", recorded->turn},
                     {"generated", recorded->generated},
                     {"recorded", std::move(was)},
                     {"verdict", judged() ? verdict_to_value(**now) : Value()},
                     {"agrees", compared() ? Value(agrees()) : Value()},
                     {"why", why()}});
}

void TraceCounts::add(const TraceComparison& turn) {
  ++turns;
  ++(!turn.recorded->generated ? not_generated
     : !turn.judged()          ? not_judged
     : !turn.compared()        ? not_recorded
     : turn.agrees()           ? agree
                               : differ);
  if (!turn.judged()) return;
  const Outcome outcome = (*turn.now)->outcome;
  ++(outcome == Outcome::kCorrect ? correct : outcome == Outcome::kWrong ? wrong : other);
}

}  // namespace hone
