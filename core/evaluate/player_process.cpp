#include "evaluate/player_process.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "channel/stream.hpp"
#include "evaluate/await_answer.hpp"

namespace hone {
namespace {

constexpr double kRequestSeconds = 10, kProcessEndSeconds = 10;
constexpr double kAnswerSeconds = 2;  // for the rest of an answer that has begun
constexpr double kShortest = 0.01;
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
                      const std::vector<std::string>& hidden_nodes, const PlayerRequest& asked) {
  const std::filesystem::path tool = real_path(asked.tool);
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
  spawn.arguments = {asked.service, options.backend_library.string(),
                     hidden_nodes.empty() ? std::to_string(spec.index) : "0", tool.string()};
  spawn.arguments.insert(spawn.arguments.end(), spawn.readable.begin(), spawn.readable.end());
  spawn.cpus = cores_without_other_devices(options.devices, spec.index);
  spawn.limits.memory_bytes = kPlayerMemoryMax;
  spawn.limits.file_bytes = kPlayerFilesMax;
  spawn.limits.processes = kPlayerProcessesMax;
  return spawn;
}

}  // namespace

Result<PlayerAnswer> ask_player(Launcher& launcher, const EvaluatorOptions& options,
                                const DeviceSpec& spec,
                                const std::vector<std::string>& hidden_nodes,
                                const PlayerRequest& asked,
                                const std::function<void(Process*)>& running) {
  HONE_ASSIGN(auto ends, stream_pair());
  SpawnRequest spawn = spawn_of(options, spec, hidden_nodes, asked);
  spawn.fds = {ends.second.get()};
  HONE_ASSIGN(const auto process, launcher.spawn(spawn));
  ends.second.reset();
  running(process.get());
  const double ends_s = monotonic_s() + asked.seconds;
  const auto left_s = [ends_s] { return std::max(ends_s - monotonic_s(), kShortest); };
  const Status sent = send_message(ends.first.get(), to_msgpack(asked.request), {},
                                   std::min(kRequestSeconds, left_s()));
  const Waited waited =
      sent ? await_answer(ends.first.get(), *process, {left_s(), left_s()}) : Waited();
  auto answer = sent ? receive_message(ends.first.get(), kAnswerBytesMax,
                                       waited.reached == TimeLimit::kNone ? kAnswerSeconds : 0,
                                       process->pidfd())
                     : Result<StreamMessage>(sent.error());
  running(nullptr);
  process->kill();
  // Its kernels must not run while the next submission is measured.
  const auto exit = process->wait(kProcessEndSeconds);
  if (!exit) {
    log_warning("evaluate", "process " + std::to_string(process->pid()) + " (player, " +
                                asked.service + ") has not ended; it may still use the device");
  }
  if (!sent) {
    return unavailable("player: " + sent.error().message +
                       (exit && !exit->output.empty() ? "; its output: " + exit->output : ""));
  }
  constexpr int kOwnFailure = 70;  // exit status of hone-player after a failure of its own
  if (!answer && exit && exit->exit_code == kOwnFailure)
    return unavailable("the player's process failed: " + exit->output);
  PlayerAnswer given;
  // Without an answer, the submission may have stopped or ended the process, so this is not a fault.
  if (answer) given.bytes = std::move(answer->bytes);
  given.was_starved = waited.was_starved();
  return given;
}

}  // namespace hone
