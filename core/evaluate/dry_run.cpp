// Limits of a dry run, and its answer.
#include "evaluate/dry_run.hpp"

#include <algorithm>

#include "base/utf8.hpp"
#include "evaluate/ask_interpreter.hpp"
#include "evaluate/diagnostics.hpp"

namespace hone {
namespace {

constexpr std::size_t kAnswerMax = 24u << 20;
constexpr std::int64_t kDryRunFileBytesMax = std::int64_t{16} << 20;
constexpr double kSeconds = 15;  // limit of the process' own time
constexpr std::size_t kWordsMax = 300, kCompilersWordsMax = 2100;
constexpr char kLineEnd =
    '\x1e';  // replaces line ends in the compiler's output, which is sent as one line

// Limits for sources that build torch extensions. With all of torch's headers nvcc takes a minute, 3 GB and
// files of 17 MB, and the host compiler 1 GB at the same time.
constexpr double kBuildSecondsFactor = 3;
constexpr std::int64_t kBuildFileBytesMax = std::int64_t{64} << 20;
constexpr std::int64_t kBuildMemoryFactor = 3;

std::string compilers_words(std::string_view line) {
  std::string words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(kLineEnd), line.size());
    words += printable_ascii(line.substr(0, end), kCompilersWordsMax) + "\n";
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words.substr(0, kCompilersWordsMax);
}

/// Reads the first line of an answer.
Status read_failure(std::string_view line, DryRun& said) {
  if (line.empty()) return {};
  const auto next_word = [&line] {
    const std::string_view word = line.substr(0, std::min(line.find(' '), line.size()));
    line.remove_prefix(std::min(word.size() + 1, line.size()));
    return word;
  };
  HONE_ASSIGN(said.failure, parse_enum<DryRunFailure>(next_word()));
  const bool of_extension = is_of_extension(said.failure);
  if (of_extension) {
    HONE_ASSIGN(said.kind, parse_enum<ExtensionKind>(next_word()));
  }
  said.words = of_extension ? compilers_words(line) : printable_ascii(line, kWordsMax);
  if (said.words.empty()) {
    return invalid_argument("dry run: found the failure '" + std::string(enum_name(said.failure)) +
                            "' without a message, expected one after it; the device decides");
  }
  return {};
}

}  // namespace

bool is_of_extension(DryRunFailure failure) {
  return failure == DryRunFailure::kBuild || failure == DryRunFailure::kLink ||
         failure == DryRunFailure::kHindered;
}

Result<DryRun> read_dry_run(std::string bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string::npos)
    return invalid_argument("dry run: found an empty report, expected three lines");
  DryRun said;
  HONE_TRY(read_failure({bytes.data(), end}, said));
  const std::size_t second = bytes.find('\n', end + 1);
  if (second == std::string::npos)
    return invalid_argument("dry run: found one line, expected three");
  const std::string_view witness(bytes.data() + end + 1, second - end - 1);
  if (witness.size() < kObservedMax) {
    if (auto work = work_from_json(witness)) said.started = std::move(*work);
  }
  bytes.erase(0, second + 1);
  if (bytes.find('\n') != std::string::npos)
    return invalid_argument("dry run: found more than three lines");
  said.compiled = std::move(bytes);
  return said;
}

Result<DryRun> dry_run(Zygotes& zygotes, const EvaluatorOptions& options, const std::string& device,
                       const std::string& artifact) {
  const bool builds = builds_extensions(artifact);
  Question question;
  question.label = "dry run";
  question.script = "builder/dry_run_module.py";
  question.arguments = {device};
  question.seconds = builds ? kBuildSecondsFactor * options.build_seconds : kSeconds;
  question.memory_bytes = (builds ? kBuildMemoryFactor : 1) * options.build_memory_mb << 20;
  question.file_bytes = builds ? kBuildFileBytesMax : kDryRunFileBytesMax;
  question.answer_bytes_max = kAnswerMax;
  question.use = Zygotes::Use::kSubmission;
  HONE_ASSIGN(std::string answer, ask_interpreter(zygotes, options, question, artifact));
  return read_dry_run(std::move(answer));
}

}  // namespace hone
