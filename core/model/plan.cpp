// Parser for the lines of a plan.
#include "model/plan.hpp"

#include <algorithm>
#include <cctype>

#include "base/nearest.hpp"

namespace hone {
namespace {

constexpr std::string_view kMark = "// hone:";
constexpr std::size_t kLineMax = 2000;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Reads one line, from left to right.
class Line {
 public:
  Line(std::string_view text, int number, std::size_t offset)
      : text_(text), number_(number), offset_(offset) {}

  Error mistake(const std::string& what) const {
    return invalid_argument(std::to_string(number_) + ":" + std::to_string(offset_ + at_ + 1) +
                            ": error: " + what);
  }
  int number() const { return number_; }
  bool ended() {
    skip_space();
    return at_ == text_.size();
  }
  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string word() {
    skip_space();
    const std::size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }
  /// Whether the next word is a setting of a launch, which ends an expression.
  bool at_setting() {
    const std::size_t start = at_;
    const std::string next = word();
    at_ = start;
    static const std::vector<std::string> kSettings{"grid",   "block",       "cluster",
                                                    "shared", "cooperative", "args"};
    return std::find(kSettings.begin(), kSettings.end(), next) != kSettings.end();
  }
  /// The text up to a comma outside parentheses, a setting, a colon or the end.
  std::string expression(bool in_parentheses = false) {
    skip_space();
    const std::size_t start = at_;
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (depth == 0 && (c == ',' || c == ':' || (c == ')' && in_parentheses))) break;
      if (depth == 0 && c == ' ' && at_setting()) break;
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (depth < 0) break;
      ++at_;
    }
    return trimmed(start);
  }
  /// A name, with template arguments in brackets.
  std::string kernel() {
    skip_space();
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == ':')) ++at_;
    if (at_ < text_.size() && text_[at_] == '<') {
      int depth = 0;
      while (at_ < text_.size()) {
        depth += text_[at_] == '<' ? 1 : text_[at_] == '>' ? -1 : 0;
        ++at_;
        if (depth == 0) break;
      }
    }
    return trimmed(start);
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  std::string trimmed(std::size_t start) const {
    std::size_t end = at_;
    while (end > start && text_[end - 1] == ' ') --end;
    return std::string(text_.substr(start, end - start));
  }

  std::string_view text_;
  int number_;
  std::size_t offset_, at_ = 0;
};

Status expect_equals(Line& line, const std::string& setting) {
  if (line.accept('=')) return {};
  return line.mistake("expected '=' after " + setting);
}

Result<std::vector<std::string>> read_extents(Line& line, const std::string& setting) {
  HONE_TRY(expect_equals(line, setting));
  std::vector<std::string> extents;
  // Parentheses may hold the list, or be part of its only expression: "(n + 3) / 4".
  Line tried = line;
  if (tried.accept('(')) {
    do {
      extents.push_back(tried.expression(true));
    } while (tried.accept(','));
    if (tried.accept(')') && (tried.ended() || tried.at_setting())) {
      line = tried;
    } else {
      extents.clear();
    }
  }
  if (extents.empty()) extents.push_back(line.expression());
  if (extents.size() > 3) return line.mistake(setting + ": expected at most three expressions");
  for (const std::string& text : extents) {
    if (text.empty()) return line.mistake(setting + ": expected an expression");
  }
  return extents;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string::npos;
}

Result<PlanArgument> read_argument(Line& line) {
  PlanArgument argument;
  argument.text = line.expression();
  if (argument.text.empty()) return line.mistake("args: expected a name or an expression");
  if (line.accept(':')) {
    const std::string type = line.word();
    if (type == "i32") {
      argument.kind = PlanArgument::Kind::kI32;
    } else if (type == "i64") {
      argument.kind = PlanArgument::Kind::kI64;
    } else if (type == "f32" || type == "f64") {
      argument.kind = type == "f32" ? PlanArgument::Kind::kF32 : PlanArgument::Kind::kF64;
      if (!is_number(argument.text))
        return line.mistake("args: found '" + argument.text +
                            "', expected a number before :" + type);
    } else {
      return line.mistake("args: found type '" + type + "', expected i32, i64, f32 or f64");
    }
    return argument;
  }
  if (!std::all_of(argument.text.begin(), argument.text.end(), is_word) ||
      std::isdigit(static_cast<unsigned char>(argument.text[0]))) {
    argument.kind = PlanArgument::Kind::kI64;
  }
  return argument;
}

std::vector<PlanArgument> task_arguments(const Task& task) {
  std::vector<PlanArgument> arguments;
  for (const std::string& name : task.arguments)
    arguments.push_back({PlanArgument::Kind::kName, name});
  return arguments;
}

Result<PlanLaunch> read_launch(Line& line, const Task& task) {
  PlanLaunch launch;
  launch.line = line.number();
  launch.kernel = line.kernel();
  if (launch.kernel.empty()) return line.mistake("launch: expected the name of a kernel");
  bool arguments_said = false;
  while (!line.ended()) {
    const std::string setting = line.word();
    if (setting == "grid") {
      HONE_ASSIGN(launch.grid, read_extents(line, setting));
    } else if (setting == "block") {
      HONE_ASSIGN(launch.block, read_extents(line, setting));
    } else if (setting == "cluster") {
      HONE_ASSIGN(launch.cluster, read_extents(line, setting));
    } else if (setting == "shared") {
      HONE_TRY(expect_equals(line, setting));
      launch.shared = line.expression();
      if (launch.shared.empty()) return line.mistake("shared: expected an expression");
    } else if (setting == "cooperative") {
      launch.cooperative = true;
    } else if (setting == "args") {
      HONE_TRY(expect_equals(line, setting));
      arguments_said = true;
      do {
        HONE_ASSIGN(PlanArgument argument, read_argument(line));
        launch.arguments.push_back(std::move(argument));
      } while (line.accept(','));
    } else {
      return line.mistake(unknown_name(
          "setting", setting, {"grid", "block", "cluster", "shared", "cooperative", "args"}));
    }
  }
  if (launch.grid.empty()) return line.mistake("launch " + launch.kernel + ": no grid");
  if (launch.block.empty()) return line.mistake("launch " + launch.kernel + ": no block");
  if (launch.arguments.size() > HONE_ARGUMENTS_MAX) {
    return line.mistake("launch " + launch.kernel + ": found " +
                        std::to_string(launch.arguments.size()) + " arguments, expected at most " +
                        std::to_string(HONE_ARGUMENTS_MAX));
  }
  if (!arguments_said) launch.arguments = task_arguments(task);
  return launch;
}

Result<PlanScratch> read_scratch(Line& line, const Task& task, const Plan& plan) {
  PlanScratch scratch;
  scratch.line = line.number();
  scratch.name = line.word();
  if (scratch.name.empty()) return line.mistake("scratch: expected a name");
  const auto& names = task.arguments;
  const bool taken =
      std::find(names.begin(), names.end(), scratch.name) != names.end() ||
      std::any_of(plan.scratch.begin(), plan.scratch.end(),
                  [&](const PlanScratch& other) { return other.name == scratch.name; });
  if (taken) return line.mistake("scratch: the name '" + scratch.name + "' is taken");
  HONE_TRY(expect_equals(line, "the name of scratch memory"));
  scratch.bytes = line.expression();
  if (scratch.bytes.empty()) return line.mistake("scratch: expected its bytes, an expression");
  if (!line.ended()) return line.mistake("scratch: expected nothing more");
  return scratch;
}

PlanLaunch default_launch(const Task& task, const std::string& entry) {
  PlanLaunch launch;
  launch.kernel = entry;
  std::string elements = "1";
  for (const Tensor& tensor : task.tensors) {
    if (tensor.role == Role::kIn) continue;
    for (const std::string& extent : tensor.shape) elements += " * (" + extent + ")";
    break;
  }
  launch.grid = {"ceil_div(" + elements + ", 256)"};
  launch.block = {"256"};
  launch.arguments = task_arguments(task);
  return launch;
}

/// Reports an unknown name with its line and the known names.
Status check_names(const Task& task, const Plan& plan) {
  for (const PlanLaunch& launch : plan.launches) {
    for (const PlanArgument& argument : launch.arguments) {
      if (argument.kind != PlanArgument::Kind::kName) continue;
      std::vector<std::string> names = task.arguments;
      for (const PlanScratch& scratch : plan.scratch) names.push_back(scratch.name);
      names.insert(names.end(), task.dims.begin(), task.dims.end());
      if (std::find(names.begin(), names.end(), argument.text) != names.end()) continue;
      return invalid_argument(std::to_string(launch.line) +
                              ":1: error: args: " + unknown_name("name", argument.text, names));
    }
  }
  return {};
}

}  // namespace

Result<Plan> parse_plan(std::string_view source, const Task& task, const std::string& entry,
                        std::string_view form, bool first_form) {
  Plan plan;
  bool mine = first_form;
  int number = 0;
  while (!source.empty()) {
    const std::size_t end = source.find('\n');
    std::string_view text = source.substr(0, end);
    source.remove_prefix(end == std::string_view::npos ? source.size() : end + 1);
    ++number;
    const std::size_t start = text.find_first_not_of(" \t");
    if (start == std::string_view::npos || !text.substr(start).starts_with(kMark)) continue;
    const std::size_t offset = start + kMark.size();
    Line line(text.substr(offset), number, offset);
    if (text.size() > kLineMax) return line.mistake("a line of a plan is at most 2000 characters");
    const std::string verb = line.word();
    if (verb == "plan") {
      mine = line.word() == form;
    } else if (!mine) {
      continue;
    } else if (verb == "launch") {
      HONE_ASSIGN(PlanLaunch launch, read_launch(line, task));
      if (plan.launches.size() == kPlanLaunchesMax) return line.mistake("more than 16 launches");
      plan.launches.push_back(std::move(launch));
    } else if (verb == "scratch") {
      HONE_ASSIGN(PlanScratch scratch, read_scratch(line, task, plan));
      if (plan.scratch.size() == kPlanScratchMax) return line.mistake("more than 8 scratch areas");
      plan.scratch.push_back(std::move(scratch));
    } else {
      return line.mistake(unknown_name("line", verb, {"launch", "scratch", "plan"}));
    }
  }
  if (plan.launches.empty()) plan.launches.push_back(default_launch(task, entry));
  HONE_TRY(check_names(task, plan));
  HONE_TRY(plan_kernels(task, {&plan}));
  return plan;
}

Plan host_plan(const Task& task, const std::string& entry) {
  PlanLaunch launch;
  launch.kernel = entry;
  launch.arguments = task_arguments(task);
  return {{}, {std::move(launch)}};
}

}  // namespace hone
