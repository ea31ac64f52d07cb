#include "evaluate/player_process.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/clock.hpp"
#include "base/utf8.hpp"
#include "channel/stream.hpp"
#include "evaluate/await_answer.hpp"

namespace hone {
namespace {

constexpr double kRequestSeconds = 10, kProcessEndSeconds = 10;
constexpr double kAnswerSeconds = 2;  // for the rest of an answer that has begun
constexpr double kShortest = 0.01;
constexpr double kBeginSeconds = 2;  // for a process that waited to begin with its request
constexpr std::size_t kGreetingProblemMax = 500;
constexpr std::size_t kGreetingBytesMax = 64 << 10;
constexpr std::size_t kAnswerBytesMax = std::size_t{8} << 20;
constexpr std::int64_t kPlayerMemoryMax = std::int64_t{16} << 30;
constexpr std::int64_t kPlayerFilesMax = std::int64_t{128} << 20;
constexpr int kPlayerProcessesMax = 512;  // threads of the driver and of a sanitizer among them

/// Without symbolic links. Rationale: the sandbox has neither their folder nor /etc/alternatives.
std::filesystem::path real_path(const std::string& program) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(program, error);
  return error ? std::filesystem::path(program) : real;
}

SpawnRequest spawn_of(const EvaluatorOptions& options, const DeviceSpec& spec,
                      const std::vector<std::string>& hidden_nodes, const std::string& service,
                      const std::string& path) {
  const std::filesystem::path tool = real_path(path);
  SpawnRequest spawn;
  spawn.jail = Jail::kBuilder;
  spawn.label = "player";
  spawn.program = options.libexec / "hone-player";
  spawn.device = true;
  spawn.hidden_nodes = hidden_nodes;
  spawn.readable = {
      options.backend_library.parent_path().string(),
      (options.libexec.parent_path() / "lib").string(),
      tool.parent_path().string(),
  };
  spawn.arguments = {service, options.backend_library.string(),
                     hidden_nodes.empty() ? std::to_string(spec.index) : "0", tool.string()};
  spawn.arguments.insert(spawn.arguments.end(), spawn.readable.begin(), spawn.readable.end());
  spawn.cpus = cores_without_other_devices(options.devices, spec.index);
  spawn.limits.memory_bytes = kPlayerMemoryMax;
  spawn.limits.file_bytes = kPlayerFilesMax;
  spawn.limits.processes = kPlayerProcessesMax;
  return spawn;
}

/// Receives the message {`word`: true}. nullopt: it came. Otherwise the process' answer, which says why it cannot serve.
Result<std::optional<std::string>> take_word(const Process& process, int socket, const char* word,
                                             double seconds) {
  const auto said = receive_message(socket, kGreetingBytesMax, seconds, process.pidfd());
  if (!said) return said.error();
  HONE_ASSIGN(const Value value, from_msgpack(said->bytes));
  const Value* found = value.is_map() ? value.find(word) : nullptr;
  if (found != nullptr && *found == Value(true)) return std::optional<std::string>();
  return std::optional<std::string>(said->bytes);
}

/// Waits for the message, then does as take_word(). Ends a process that does not send it.
Result<std::optional<std::string>> await_word(const Player& player, const char* word,
                                              const AnswerLimits& limits) {
  const int socket = player.socket.get();
  const Waited waited = await_answer(socket, *player.process, limits);
  auto said = take_word(*player.process, socket, word,
                        waited.reached == TimeLimit::kNone ? kAnswerSeconds : 0);
  if (!said) return fault_of_player(*player.process, said.error().message);
  return said;
}

/// Sends the request, and waits for the answer.
Result<PlayerAnswer> exchange(Player& player, const PlayerRequest& asked, double ends_s) {
  const auto left_s = [ends_s] { return std::max(ends_s - monotonic_s(), kShortest); };
  const int socket = player.socket.get();
  const Status sent =
      send_message(socket, to_msgpack(asked.request), {}, std::min(kRequestSeconds, left_s()));
  if (!sent) return fault_of_player(*player.process, sent.error().message);
  // Rationale: if a process that waited hangs, time is left for another one.
  const double begin_s = player.is_ready ? std::min(kBeginSeconds, left_s()) : left_s();
  HONE_ASSIGN(auto own_problem, await_word(player, "begins", {begin_s, left_s()}));
  if (own_problem) return PlayerAnswer{std::move(*own_problem), false};
  player.has_begun = true;
  const Waited waited = await_answer(socket, *player.process, {left_s(), left_s()});
  auto answer = receive_message(socket, kAnswerBytesMax,
                                waited.reached == TimeLimit::kNone ? kAnswerSeconds : 0,
                                player.process->pidfd());
  PlayerAnswer given;
  given.was_starved = waited.was_starved();
  if (answer) {
    given.bytes = std::move(answer->bytes);
    return given;
  }
  // Its kernels must not run while the next submission is measured.
  player.process->kill();
  const auto exit = player.process->wait(kProcessEndSeconds);
  constexpr int kOwnFailure = 70;  // exit status of hone-player after a failure of its own
  if (exit && exit->exit_code == kOwnFailure)
    return unavailable("the player's process failed: " + exit->output);
  return given;
}

}  // namespace

Result<Player> start_player(Launcher& launcher, const EvaluatorOptions& options,
                            const DeviceSpec& spec, const std::vector<std::string>& hidden_nodes,
                            const std::string& service, const std::string& tool) {
  HONE_ASSIGN(auto ends, stream_pair());
  SpawnRequest spawn = spawn_of(options, spec, hidden_nodes, service, tool);
  spawn.fds = {ends.second.get()};
  Player player;
  HONE_ASSIGN(player.process, launcher.spawn(spawn));
  player.socket = std::move(ends.first);
  return player;
}

Status take_greeting(Process& process, int socket) {
  const auto said = take_word(process, socket, "ready", kAnswerSeconds);
  if (!said) return fault_of_player(process, said.error().message);
  if (!*said) return {};
  HONE_ASSIGN(const Value answer, from_msgpack(**said));
  const Value* problem = answer.is_map() ? answer.find("problem") : nullptr;
  return failed_precondition(problem != nullptr && problem->is_string()
                                 ? printable_ascii(problem->as_string(), kGreetingProblemMax)
                                 : "its first message has neither ready nor a problem");
}

Error fault_of_player(Process& process, const std::string& message) {
  process.kill();
  const auto exit = process.wait(kProcessEndSeconds);
  return unavailable("the player's process failed: " + message +
                     (exit && !exit->output.empty() ? "; its output: " + exit->output : ""));
}

Result<PlayerAnswer> ask_player(Player& player, const PlayerRequest& asked) {
  const double ends_s = monotonic_s() + asked.seconds;
  if (!player.is_ready) {
    HONE_ASSIGN(auto problem, await_word(player, "ready", {asked.seconds, asked.seconds}));
    if (problem) return PlayerAnswer{std::move(*problem), false};
  }
  return exchange(player, asked, ends_s);
}

}  // namespace hone
