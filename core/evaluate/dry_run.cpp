// Runs one process for one artifact and reads its report.
#include "evaluate/dry_run.hpp"

#include <poll.h>

#include <algorithm>

#include "base/clock.hpp"
#include "channel/stream.hpp"
#include "evaluate/interpreter.hpp"
#include "sandbox/starved_time.hpp"

namespace hone {
namespace {

constexpr std::size_t kAnswerMax = 24u << 20;
constexpr std::int64_t kDryRunFileBytesMax = std::int64_t{16} << 20;
constexpr double kSeconds = 15;           // limit of the process' own time
constexpr double kDryRunClockFactor = 4;  // limit of elapsed time, as a multiple of the limit above
constexpr int kLookMs = 25;
constexpr double kDryRunSendSeconds = 10;
constexpr double kGoneSeconds = 5;
constexpr std::size_t kWordsMax = 300, kCompilersWordsMax = 2100;
constexpr char kLineEnd =
    '\x1e';  // replaces line ends in the compiler's output, which is sent as one line

// Limits for sources that build torch extensions. With all of torch's headers nvcc takes a minute, 3 GB and
// files of 17 MB, and the host compiler 1 GB at the same time.
constexpr double kBuildSecondsFactor = 3;
constexpr std::int64_t kBuildFileBytesMax = std::int64_t{64} << 20;
constexpr std::int64_t kBuildMemoryFactor = 3;

/// Printable words of at most `size_max` characters.
std::string words_of(std::string_view line, std::size_t size_max) {
  std::string words(line.substr(0, size_max));
  for (char& c : words) c = c >= ' ' && c <= '~' ? c : '?';
  return words;
}

std::string compilers_words(std::string_view line) {
  std::string words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(kLineEnd), line.size());
    words += words_of(line.substr(0, end), kCompilersWordsMax) + "\n";
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
  said.words = of_extension ? compilers_words(line) : words_of(line, kWordsMax);
  if (said.words.empty()) return invalid_argument("dry run: found a failure without a message");
  return {};
}

/// Waits until the process has answered or ended. deadline_exceeded: it ran too long; resource_exhausted: it
/// was starved.
Status await_answer(int socket, const Process& process, double seconds) {
  StarvedTime starved(ProcessWatch(process.pid(), Watched::kTree, process.freeze_fd()));
  starved.begin();
  const double begun_s = monotonic_s();
  for (;;) {
    pollfd polled[] = {{socket, POLLIN, 0}, {process.pidfd(), POLLIN, 0}};
    if (::poll(polled, 2, kLookMs) > 0) return {};
    starved.sample();
    const double passed_s = monotonic_s() - begun_s;
    if (passed_s - starved.seconds() > seconds)
      return Error{Code::kDeadlineExceeded, "no answer in time"};
    if (passed_s - starved.halted_s() > kDryRunClockFactor * seconds)
      return resource_exhausted("no answer in time; the machine is too busy, or was stopped");
  }
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
  HONE_ASSIGN(auto ends, stream_pair());
  const bool builds = builds_extensions(artifact);
  const double seconds = builds ? kBuildSecondsFactor * options.build_seconds : kSeconds;
  SpawnRequest spawn;
  spawn.jail = Jail::kBuilder;
  spawn.label = "dry run";
  run_interpreter(options, "builder/dry_run_module.py", {device}, spawn);
  spawn.fds = {ends.second.get()};
  spawn.limits.memory_bytes = (builds ? kBuildMemoryFactor : 1) * options.build_memory_mb << 20;
  spawn.limits.file_bytes = builds ? kBuildFileBytesMax : kDryRunFileBytesMax;
  spawn.limits.cpu_seconds = seconds + kDryRunSendSeconds;
  HONE_ASSIGN(const auto process, zygotes.spawn(spawn, Zygotes::Use::kSubmission));
  HONE_TRY(send_message(ends.first.get(), artifact, {}, kDryRunSendSeconds));
  const Status waited = await_answer(ends.first.get(), *process, seconds);
  auto answer =
      waited ? receive_message(ends.first.get(), kAnswerMax, kDryRunSendSeconds, process->pidfd())
             : Result<StreamMessage>(waited.error());
  process->kill();
  // Its children must not run while the next submission is measured.
  static_cast<void>(process->wait(kGoneSeconds));
  if (!answer) return answer.error().in("dry run");
  return read_dry_run(std::move(answer->bytes));
}

}  // namespace hone
