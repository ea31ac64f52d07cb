// One process, one artifact, one answer.
#include "evaluate/rehearsal.hpp"

#include "channel/stream.hpp"

namespace hone {
namespace {

constexpr std::size_t kAnswerMax = 24u << 20;
constexpr std::int64_t kFileBytesMax = std::int64_t{16} << 20;
constexpr double kSeconds = 15;  // rehearse_module.py gives up before
constexpr double kSendSeconds = 10;
constexpr double kGoneSeconds = 5;
constexpr std::size_t kWordsMax = 300;

/// Printable words of at most so many characters.
std::string words_of(std::string_view line) {
  std::string words(line.substr(0, kWordsMax));
  for (char& c : words) c = c >= ' ' && c <= '~' ? c : '?';
  return words;
}

Result<Rehearsed> read(std::string bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string::npos) return invalid_argument("rehearsal: found no line");
  Rehearsed said;
  const std::string_view line(bytes.data(), end);
  for (const std::string_view stage : {"load", "run"}) {
    if (!line.starts_with(stage) || line.size() <= stage.size() + 1) continue;
    said.raised_in = stage;
    said.words = words_of(line.substr(stage.size() + 1));
  }
  bytes.erase(0, end + 1);
  if (bytes.find('\n') != std::string::npos) return invalid_argument("rehearsal: found more lines");
  said.compiled = std::move(bytes);
  return said;
}

}  // namespace

Result<Rehearsed> rehearse(WarmInterpreters& interpreters, const EvaluatorOptions& options,
                           const std::string& architecture, const std::string& artifact) {
  HONE_ASSIGN(auto ends, stream_pair());
  const auto root = options.libexec.parent_path();
  const std::string candidate = (options.libexec / "hone-candidate.so").string();
  SpawnRequest spawn;
  spawn.jail = Jail::kBuilder;
  spawn.label = "rehearsal";
  spawn.program = options.toolchains.at("python").compiler;
  spawn.readable = options.python_readable;
  spawn.arguments = {"-I",
                     "-B",
                     (root / "share/module/rehearse_module.py").string(),
                     module_place_of(options),
                     candidate,
                     architecture};
  spawn.arguments.insert(spawn.arguments.end(), spawn.readable.begin(), spawn.readable.end());
  spawn.readable.push_back((root / "share/module").string());
  spawn.readable.push_back((root / "lib").string());
  spawn.readable.push_back(candidate);
  spawn.fds = {ends.second.get()};
  spawn.limits.memory_bytes = options.build_memory_mb << 20;
  spawn.limits.file_bytes = kFileBytesMax;
  spawn.limits.cpu_seconds = kSeconds + kSendSeconds;
  HONE_ASSIGN(const auto process, interpreters.spawn(spawn, WarmInterpreters::Use::kSubmission));
  HONE_TRY(send_message(ends.first.get(), artifact, {}, kSendSeconds));
  auto answer = receive_message(ends.first.get(), kAnswerMax, kSeconds, process->pidfd());
  process->kill();
  // What it started must not run on beside what is measured next.
  static_cast<void>(process->wait(kGoneSeconds));
  if (!answer) return answer.error().in("rehearsal");
  return read(std::move(answer->bytes));
}

}  // namespace hone
