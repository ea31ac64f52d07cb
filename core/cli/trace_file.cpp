// Reading traces strictly where a verdict depends on it, and putting two verdicts side by side.
#include "cli/trace_file.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/files.hpp"
#include "base/nearest.hpp"
#include "kernel_refine/words.hpp"
#include "model/fields.hpp"

namespace hone {
namespace {

constexpr std::size_t kLineMax = 200;
constexpr std::size_t kTurnsMax = 64;
constexpr std::size_t kTracesBytesMax = 256u << 20;

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

/// Triton says where it failed first, and what it has against it last: the last line that names an
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

Result<RecordedTurn> read_turn(Fields f) {
  RecordedTurn turn;
  turn.turn = f.integer("turn", 1, 1 << 20);
  const auto text_or_null = [&](std::string_view key) {
    const Value* value = f.value_or_null(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
  };
  turn.response = text_or_null("full_completion");
  turn.code = text_or_null("triton_code");
  if (turn.response.empty() && turn.code.empty()) {
    f.mistake("triton_code", "expected code or a full_completion, found neither");
  }
  static const Value kNone = Value::map();
  const Value* result = f.map("result");
  HONE_TRY(f.finish_loosely());
  Fields r = f.inside("result", result == nullptr ? kNone : *result);
  turn.correct = r.flag("correctness");
  const Value* speedup = r.value_or_null("speedup");
  if (turn.correct && speedup != nullptr && speedup->is_number())
    turn.speedup = speedup->as_double();
  const Value* error = r.value_or_null("error");
  const std::string said =
      error != nullptr && error->is_string() ? error->as_string() : std::string();
  turn.word = turn.correct ? "correct" : said.empty() ? "wrong" : word_of(first_line(said));
  turn.error = turn.correct ? "" : telling_line(said);
  HONE_TRY(r.finish_loosely());
  return turn;
}

Result<RecordedTrace> read_trace(Fields f) {
  RecordedTrace trace;
  trace.key = f.text("sample_key", 100);
  const Value* name = f.value_or_null("name");
  trace.title = name != nullptr && name->is_string() ? name->as_string() : trace.key;
  if (const Value* turns = f.array("turns")) {
    if (turns->as_array().size() > kTurnsMax) {
      f.mistake("turns", "found " + std::to_string(turns->as_array().size()) + ", at most " +
                             std::to_string(kTurnsMax) + " are read");
    } else {
      for (std::size_t i = 0; i < turns->as_array().size(); ++i) {
        HONE_ASSIGN(
            RecordedTurn turn,
            read_turn(f.inside("turns", *turns).inside(std::to_string(i), turns->as_array()[i])));
        trace.turns.push_back(std::move(turn));
      }
    }
  }
  HONE_TRY(f.finish_loosely());
  return trace;
}

}  // namespace

Value RecordedTurn::action() const {
  return response.empty() ? Value::map({{"code", code}, {"language", "python"}})
                          : Value::map({{"response", response}});
}

/// JSON Lines: a trace in each that is not empty.
Result<Value> list_of_lines(std::string_view text) {
  Value list = Value::array();
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto trace = from_json(line);
    if (!trace) return trace.error().in("line " + std::to_string(number));
    list.push(std::move(*trace));
  }
  return list;
}

Result<std::vector<RecordedTrace>> read_traces(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool lines = begin != std::string_view::npos && text[begin] == '{';
  auto value = lines ? list_of_lines(text) : from_json(text);
  if (!value) {
    return invalid_argument("no traces: expected a JSON list, or JSON Lines: " +
                            value.error().message);
  }
  if (!value->is_array()) {
    return invalid_argument("no traces: expected a list, found " + std::string(value->type_name()));
  }
  std::vector<RecordedTrace> traces;
  std::set<std::string> keys;
  for (std::size_t i = 0; i < value->as_array().size(); ++i) {
    HONE_ASSIGN(RecordedTrace trace,
                read_trace(Fields(value->as_array()[i], "trace " + std::to_string(i))));
    if (!keys.insert(trace.key).second) {
      return invalid_argument("trace " + std::to_string(i) + ": two are called " + trace.key);
    }
    traces.push_back(std::move(trace));
  }
  if (traces.empty()) return invalid_argument("no traces: the list is empty");
  return traces;
}

Result<std::vector<RecordedTrace>> read_trace_file(const std::string& file,
                                                   const std::vector<std::string>& keys) {
  HONE_ASSIGN(const std::string text, read_file(file, kTracesBytesMax));
  auto traces = read_traces(text);
  if (!traces) return traces.error().in(file);
  std::vector<std::string> names;
  for (const RecordedTrace& trace : *traces) names.push_back(trace.key);
  for (const std::string& key : keys) {
    if (std::find(names.begin(), names.end(), key) == names.end()) {
      return not_found(file + ": " + unknown_name("trace", key, names));
    }
  }
  std::erase_if(*traces, [&keys](const RecordedTrace& trace) {
    return !keys.empty() && std::find(keys.begin(), keys.end(), trace.key) == keys.end();
  });
  return traces;
}

DatasetConfig traces_dataset(const std::string& file) {
  const std::string path = std::filesystem::absolute(file).string();
  return {"traces", "kernelbook", Value::map({{"path", path}})};
}

std::string TraceComparison::why() const {
  if (!now) return {};
  if (!now->ok()) return now->error().message;
  const Verdict& verdict = **now;
  if (verdict.correct()) {
    if (recorded->correct) return {};
    return recorded->error.empty() ? "recorded: outputs that do not match, without a place"
                                   : "recorded: " + recorded->error;
  }
  return verdict.mismatch ? kernel_refine::mismatch_text(*verdict.mismatch) : verdict.reason;
}

Value TraceComparison::to_value() const {
  Value value = Value::map(
      {{"trace", trace->key},
       {"title", trace->title},
       {"turn", recorded->turn},
       {"recorded",
        Value::map({{"correct", recorded->correct},
                    {"word", recorded->word},
                    {"error", recorded->error},
                    {"speedup", recorded->speedup ? Value(*recorded->speedup) : Value()}})},
       {"verdict", judged() ? verdict_to_value(**now) : Value()},
       {"agrees", judged() ? Value(agrees()) : Value()},
       {"why", why()}});
  return value;
}

}  // namespace hone
