// Fills the templates, by outcome.
#include "kernel_refine/messages.hpp"

#include <algorithm>
#include <cctype>

#include "base/assert.hpp"
#include "base/nearest.hpp"
#include "kernel_refine/compiler_words.hpp"
#include "kernel_refine/words.hpp"

namespace hone::kernel_refine {
namespace {

constexpr std::string_view kLinkage = "extern \"C\" ";
constexpr std::string_view kHostBackend = "cpu";
constexpr std::size_t kReasonMax = 400;
constexpr std::size_t kDiagnosticsMin = 64;
constexpr std::int64_t kMultiple = 8;

const std::vector<std::string>& known_words() {
  static const std::vector<std::string> kWords = {
      "advice",        "alignment",      "arguments",      "baseline_time",   "best",
      "cache",         "configurations", "description",    "diagnostics",     "entry",
      "examples",      "fence",          "findings",       "flags",           "hardware",
      "hidden_shapes", "in_language",    "interval",       "languages",       "memory",
      "mismatch",      "nans",           "reason",         "reason_sentence", "run_seconds",
      "shape_hint",    "shown_shapes",   "signal_meaning", "signature",       "slowdown",
      "speedup",       "stop_rule",      "target",         "threads",         "time",
      "timed_shape",   "title",          "tolerance",      "turns",           "turns_left"};
  return kWords;
}

/// The required templates: one for each outcome, and several for a correct one.
const std::vector<std::string>& required_templates() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names{"system", "task"};
    for (const OutcomeRow& row : kOutcomes) {
      if (row.outcome != Outcome::kCorrect) names.emplace_back(row.name);
    }
    for (const char* name : {"slow", "fast", "correct_unmeasured", "rejected_work", "unscored"}) {
      names.emplace_back(name);
    }
    return names;
  }();
  return kNames;
}
constexpr std::string_view kExamples = "examples_";
// Need not exist.
constexpr const char *kAdvice = "advice", *kBuildEnded = "build_ended";

bool is_template(std::string_view name) {
  const std::vector<std::string>& required = required_templates();
  const bool known = std::find(required.begin(), required.end(), name) != required.end();
  return known || name == kAdvice || name == kBuildEnded ||
         (name.starts_with(kExamples) && name.size() > kExamples.size());
}

std::string alignment_text(const Task& task) {
  return task.alignment == 0 ? "their element's size" : std::to_string(task.alignment) + " bytes";
}

std::string sentence(std::string reason) {
  if (reason.empty()) return {};
  if (reason[0] >= 'a' && reason[0] <= 'z') reason[0] = static_cast<char>(reason[0] - 'a' + 'A');
  return reason + (reason.back() == '.' ? "" : ".");
}

std::string stop_rule_text(const RefineSettings& settings) {
  if (!settings.rules.stop_speedup) return {};
  return " You are done when a correct kernel reaches " +
         speedup_text(*settings.rules.stop_speedup) + ".";
}

std::string turns_left_text(const Turn& turn) {
  if (turn.ended) return {};
  return turn.turns_left == 1 ? "One turn is left."
                              : std::to_string(turn.turns_left) + " turns are left.";
}

bool is_python(const std::vector<std::string>& languages) {
  return !languages.empty() && languages.front() == "python";
}

/// Of native code on the processor. Other advice is in templates.
std::string advice_text(const Speedup& speedup) {
  if (speedup.value < 0.9) {
    return "It is slower than the plain baseline: look for temporaries, extra passes over memory, "
           "and work that the "
           "compiler cannot vectorise.";
  }
  return "To gain more: pass over memory once, let the innermost loop run over contiguous elements "
         "so that it "
         "vectorises (`__restrict`, no branches in it), keep reused data in cache with blocks, and "
         "use every core that "
         "is granted.";
}

std::string findings_text(const std::vector<std::string>& findings) {
  std::string text;
  for (const std::string& finding : findings)
    text +=
        (text.empty() ? "Where its time goes:\n- " : "\n- ") + without_fences(valid_utf8(finding));
  return text;
}

/// Only the first few configurations, with short texts, to leave room for the rest of the feedback.
std::string configurations_text(const std::vector<ChosenConfiguration>& configurations) {
  constexpr std::size_t kShown = 4, kNameMax = 60, kParametersMax = 120;
  const auto shown = [](const std::string& text, std::size_t most) {
    return without_fences(cut_end(text, most));
  };
  std::string text;
  for (std::size_t i = 0; i < std::min(configurations.size(), kShown); ++i) {
    const ChosenConfiguration& one = configurations[i];
    text += "\n- " + shown(one.kernel, kNameMax) +
            (one.key.empty() ? "" : " (" + shown(one.key, kNameMax) + ")") + ": configuration " +
            std::to_string(one.number) + " of " + std::to_string(one.count) + " (" +
            shown(one.parameters, kParametersMax) + ")";
  }
  if (configurations.size() > kShown)
    text += "\n- " + std::to_string(configurations.size() - kShown) + " more";
  return text.empty() ? text : "Configurations that your autotuned kernels ran:" + text;
}

std::string flags_text(const std::vector<std::string>& flags) {
  std::string text;
  for (const std::string& flag : flags) text += (text.empty() ? "Flags: " : ", ") + flag;
  return text;
}

std::string_view template_name(const Turn& turn) {
  if (!turn.result.verdict) return "unscored";
  const Verdict& verdict = *turn.result.verdict;
  if (verdict.outcome == Outcome::kRejected && verdict.work) return "rejected_work";
  if (!verdict.correct()) return outcome_name(verdict.outcome);
  if (!verdict.speedup) return "correct_unmeasured";
  const std::optional<double> target = turn.settings.rules.stop_speedup;
  const bool fast = target ? verdict.speedup->value >= *target : verdict.speedup->low > 1;
  return fast ? "fast" : "slow";
}

/// The limit applies only on a device, to submissions without host code.
std::string slowdown_text(const Task& task, std::string_view backend) {
  if (backend == kHostBackend || task.slowdown_max <= 0 || task.run_seconds <= kSlowCallSeconds)
    return {};
  return " A call that takes over " + number(kSlowCallSeconds) + " s and over " +
         number(task.slowdown_max) + " times the baseline's time may be stopped.";
}

void add_task_words(Words& words, const Task& task, const std::vector<std::string>& languages,
                    std::string_view backend) {
  words["entry"] = task.entry;
  words["signature"] = signature_of(task, languages.empty() ? "c++" : languages.front());
  if (languages == std::vector<std::string>{"c"}) words["signature"].erase(0, kLinkage.size());
  words["fence"] = languages.empty() ? "" : fence_tag(languages.front());
  words["languages"] = languages_text(languages);
  words["memory"] = megabytes(task.memory_mb);
  words["run_seconds"] = number(task.run_seconds);
  words["slowdown"] = slowdown_text(task, backend);
  words["alignment"] = alignment_text(task);
}

void add_speedup_words(Words& words, const Turn& turn, const Speedup& speedup) {
  words["speedup"] = speedup_text(speedup.value);
  words["interval"] = "95 % interval " + number(speedup.low) + " to " + number(speedup.high);
  words["time"] = microseconds(speedup.time_us);
  words["baseline_time"] = microseconds(speedup.baseline_us);
  words["flags"] = flags_text(speedup.flags);
  if (turn.settings.rules.stop_speedup) {
    words["target"] = "The target is " + speedup_text(*turn.settings.rules.stop_speedup) + ".";
  }
  if (turn.best_speedup > speedup.value) {
    words["best"] =
        "Your best so far is " + speedup_text(turn.best_speedup) + ": go on from that version.";
  }
}

void add_verdict_words(Words& words, const Turn& turn, const Verdict& verdict) {
  words["reason"] = cut_end(valid_utf8(verdict.reason), kReasonMax);
  words["reason_sentence"] = sentence(words["reason"]);
  words["signal_meaning"] = signal_meaning(verdict.signal);
  // A kernel without code for the remaining elements accesses memory beyond the end. Cheating and forbidden system calls have
  // other causes.
  const bool may_be_beyond_the_end =
      verdict.signal.empty() || verdict.signal == "SIGSEGV" || verdict.signal == "SIGBUS";
  if (may_be_beyond_the_end && verdict.caught.empty())
    words["shape_hint"] = shape_hint(words["reason"]);
  if (verdict.mismatch) {
    const Mismatch& mismatch = *verdict.mismatch;
    words["mismatch"] = mismatch_text(mismatch);
    // The number of elements would reveal the size of a hidden shape, as in mismatch_text().
    if (mismatch.nans > 0) {
      words["nans"] =
          (mismatch.shape == "hidden" ? "Some" : std::to_string(mismatch.nans)) +
          " of them are NaN where a number was expected: look for a division by zero, a logarithm "
          "or root "
          "of a negative number, infinity minus infinity, or elements that were never written.";
    }
    // If most elements are wrong, the last ones are not the cause.
    if (2 * mismatch.wrong < mismatch.total) words["shape_hint"] = shape_hint(mismatch.shape);
  }
  if (verdict.speedup) add_speedup_words(words, turn, *verdict.speedup);
  words["configurations"] = configurations_text(verdict.configurations);
}

/// The text of a template with these findings, or with general advice if there are none. Empty lines at the end are removed.
std::string filled(const Template& chosen, Words& words, const std::vector<std::string>& findings,
                   const std::string& advice) {
  words["findings"] = findings_text(findings);
  words["advice"] = findings.empty() ? advice : "";
  std::string text = chosen.fill(words);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

Status Messages::read_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (at->path().extension() == ".md") files.push_back(at->path());
  }
  if (failed) return not_found("open " + folder.string() + "/: " + failed.message());
  for (const std::filesystem::path& file : files) {
    const std::string stem = file.stem().string();
    const std::string name = stem.substr(0, stem.find('.'));
    if (!is_template(name)) {
      std::vector<std::string> known = required_templates();
      known.insert(known.end(), {kAdvice, "examples_LANGUAGE"});
      return invalid_argument(file.string() + ": " + unknown_name("template", name, known));
    }
    HONE_ASSIGN(Template read, Template::load(file, known_words()));
    templates_.insert_or_assign(stem, std::move(read));
  }
  return {};
}

Result<Messages> Messages::load(const std::filesystem::path& folder,
                                const std::filesystem::path& own) {
  Messages messages;
  const std::string where = "templates of kernel_refine";
  if (const Status read = messages.read_folder(folder); !read) return read.error().in(where);
  if (!own.empty()) {
    if (const Status read = messages.read_folder(own); !read) return read.error().in(where);
  }
  for (const std::string& name : required_templates()) {
    if (messages.templates_.count(name) != 0) continue;
    return not_found(where + ": open " + folder.string() + "/" + name + ".md: no such file");
  }
  return messages;
}

const Template* Messages::find(std::string_view name, const Task& task,
                               std::string_view backend) const {
  const std::string of_dataset = std::string(name) + "." + task.dataset;
  const std::string of_backend = std::string(name) + "." + std::string(backend);
  const std::string of_both = of_dataset + "." + std::string(backend);
  const auto sources = task.backends.find(backend);
  const bool python = sources != task.backends.end() && is_python(sources->second.languages);
  const std::string of_language = python ? std::string(name) + ".python" : of_both;
  for (const std::string& key : {of_both, of_dataset, of_language, of_backend, std::string(name)}) {
    if (const auto found = templates_.find(key); found != templates_.end()) return &found->second;
  }
  return nullptr;
}

const Template& Messages::get(std::string_view name, const Task& task,
                              std::string_view backend) const {
  const Template* found = find(name, task, backend);
  HONE_ASSERT(found != nullptr);  // load() has checked that all required templates exist
  return *found;
}

bool Messages::has_examples(const Task& task, std::string_view language,
                            std::string_view backend) const {
  return find(std::string(kExamples) + fence_tag(std::string(language)), task, backend) != nullptr;
}

std::string Messages::system(const Task& task, const std::vector<std::string>& languages,
                             std::string_view backend) const {
  return get("system", task, backend)
      .fill({{"languages", languages_text(languages)},
             {"fence", languages.empty() ? "" : fence_tag(languages.front())}});
}

std::string Messages::task(const Task& task, const std::vector<std::string>& languages,
                           const RefineSettings& settings, std::string_view backend) const {
  Words words;
  add_task_words(words, task, languages, backend);
  words["title"] = task.title;
  words["description"] = task.description;
  while (!words["description"].empty() && words["description"].back() == '\n') {
    words["description"].pop_back();
  }
  words["in_language"] = " in " + languages_text(languages);
  words["arguments"] = arguments_text(task);
  words["shown_shapes"] = shapes_text(task.shown);
  words["hidden_shapes"] = task.hidden.empty() ? "" : ", and others that are not shown";
  words["timed_shape"] = shape_text(task.timed);
  words["cache"] = task.cache_warm ? "with the inputs in cache" : "with the inputs not in cache";
  words["tolerance"] = tolerance_text(task.tolerance);
  words["threads"] = count(task.threads, "CPU core", "CPU cores");
  words["turns"] = count(settings.rules.max_turns, "turn", "turns");
  words["stop_rule"] = stop_rule_text(settings);
  if (!settings.hardware.empty()) words["hardware"] = "- The machine: " + settings.hardware + ".";
  if (settings.prompt == kFewShot && !languages.empty()) {
    const std::string name = std::string(kExamples) + fence_tag(languages.front());
    if (const Template* examples = find(name, task, backend)) {
      words["examples"] = examples->fill(words);
    }
  }
  return get("task", task, backend).fill(words);
}

std::string Messages::general_advice(const Turn& turn) const {
  if (turn.ended || !turn.result.verdict || !turn.result.verdict->speedup) return {};
  const Template* found = find(kAdvice, turn.task, turn.backend);
  if (found == nullptr) return advice_text(*turn.result.verdict->speedup);
  std::string text = found->fill({});
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// A failed build without diagnostics has a template of its own, if there is one: it has no first error.
const Template& Messages::template_of(const Turn& turn) const {
  const auto& verdict = turn.result.verdict;
  if (verdict && verdict->outcome == Outcome::kBuildFailed && verdict->diagnostics.empty()) {
    if (const Template* found = find(kBuildEnded, turn.task, turn.backend)) return *found;
  }
  return get(template_name(turn), turn.task, turn.backend);
}

std::string Messages::feedback(const Turn& turn) const {
  const std::size_t bytes_max = turn.settings.text_bytes_max();
  const Template& chosen = template_of(turn);
  Words words;
  add_task_words(words, turn.task, turn.languages, turn.backend);
  words["turns_left"] = turns_left_text(turn);
  if (turn.result.verdict) add_verdict_words(words, turn, *turn.result.verdict);
  if (turn.result.verdict && !turn.result.verdict->diagnostics.empty()) {
    const std::size_t rest = chosen.fill(words).size();
    const std::size_t room = std::max(bytes_max > rest ? bytes_max - rest : 0, kDiagnosticsMin);
    words["diagnostics"] =
        without_fences(trim_compiler_words(valid_utf8(turn.result.verdict->diagnostics), room));
  }
  std::vector<std::string> findings;
  if (turn.result.verdict) findings = turn.result.verdict->findings;
  const std::string advice = general_advice(turn);
  std::string text = filled(chosen, words, findings, advice);
  while (text.size() > bytes_max && !findings.empty()) {
    findings.pop_back();
    text = filled(chosen, words, findings, advice);
  }
  return cut_end(text, bytes_max);
}

std::string signal_meaning(std::string_view signal) {
  if (signal == "SIGSEGV" || signal == "SIGBUS") {
    return "That is a read or write outside the arrays: check every index against the extents, "
           "above all in loops "
           "that take several elements at a time, and check the stack's size for large local "
           "arrays.";
  }
  if (signal == "SIGFPE") return "That is an integer division by zero, or one that overflows.";
  if (signal == "SIGILL" || signal == "SIGTRAP") {
    return "That is an instruction that this CPU does not have, a trap, or the end of a function "
           "that should have "
           "returned a value.";
  }
  if (signal == "SIGABRT") {
    return "That is abort(): a failed assertion, a C++ exception that left the function, or a heap "
           "that was written "
           "beyond its blocks.";
  }
  if (signal == "SIGSYS") {
    return "That is a system call which the jail does not allow: a kernel needs no files, sockets, "
           "processes or "
           "signals.";
  }
  if (signal == "SIGXCPU") return "That is the limit on CPU time.";
  return {};
}

std::string shape_hint(std::string_view text) {
  for (std::size_t at = text.find('='); at != std::string_view::npos; at = text.find('=', at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) != 0 ||
                         text[begin - 1] == '_')) {
      --begin;
    }
    std::int64_t value = 0;
    std::size_t end = at + 1;
    while (end < text.size() && end < at + 16 && text[end] >= '0' && text[end] <= '9') {
      value = value * 10 + (text[end++] - '0');
    }
    if (begin == at || end == at + 1 || value % kMultiple == 0) continue;
    return "Note that " + std::string(text.substr(begin, end - begin)) + " is no multiple of " +
           std::to_string(kMultiple) +
           ": a vectorised, unrolled or blocked loop needs a remainder that handles the last "
           "elements.";
  }
  return {};
}

}  // namespace hone::kernel_refine
