// Limits of the sanitizer's process, its request and its answer.
#include "evaluate/device_sanitizing.hpp"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/log.hpp"
#include "channel/stream.hpp"
#include "evaluate/await_answer.hpp"
#include "judge_protocol/defences.hpp"
#include "model/fields.hpp"

namespace hone {
namespace {

constexpr double kRunSeconds = 10;  // of one run; a small kernel takes 1 to 4 s
constexpr double kStartSeconds = 5, kRequestSeconds = 10, kProcessEndSeconds = 10;
constexpr std::size_t kAnswerBytesMax = std::size_t{8} << 20;
constexpr std::int64_t kSanitizerMemoryMax = std::int64_t{16} << 30;
constexpr std::int64_t kSanitizerFilesMax = std::int64_t{128} << 20;
constexpr int kSanitizerProcessesMax =
    512;  // threads of the driver and of the sanitizer among them

/// Without symbolic links. Rationale: the sandbox has neither their folder nor /etc/alternatives.
std::filesystem::path real_path(const std::string& program) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(program, error);
  return error ? std::filesystem::path(program) : real;
}

SpawnRequest spawn_of(const EvaluatorOptions& options, const DeviceSpec& spec,
                      const std::vector<std::string>& hidden_nodes) {
  const std::filesystem::path program = real_path(options.sanitizer.program);
  SpawnRequest spawn;
  spawn.jail = Jail::kBuilder;
  spawn.label = "sanitizer";
  spawn.program = options.libexec / "hone-sanitizer";
  spawn.device = true;
  spawn.hidden_nodes = hidden_nodes;
  spawn.readable = {
      options.backend_library.parent_path().string(),
      (options.libexec.parent_path() / "lib").string(),
      program.parent_path().string(),
  };
  spawn.arguments = {options.backend_library.string(),
                     hidden_nodes.empty() ? std::to_string(spec.index) : "0", program.string()};
  spawn.arguments.insert(spawn.arguments.end(), spawn.readable.begin(), spawn.readable.end());
  spawn.cpus = cores_without_other_devices(options.devices, spec.index);
  spawn.limits.memory_bytes = kSanitizerMemoryMax;
  spawn.limits.file_bytes = kSanitizerFilesMax;
  spawn.limits.processes = kSanitizerProcessesMax;
  return spawn;
}

Value request_of(const EvaluatorOptions& options, const DeviceSanitizerProgram& program,
                 const std::string& artifact) {
  Value runs = Value::array();
  for (const DeviceSanitizer::Run& run : options.sanitizer.runs) {
    runs.push(Value::map({{"name", run.name}, {"arguments", texts_value(run.arguments)}}));
  }
  Value request = program.request;
  request.set("artifact", Value::bytes(artifact))
      .set("runs", std::move(runs))
      .set("seconds", kRunSeconds);
  if (!options.measure.defences.holds(Defence::kOwnReport)) request.set("mixed", true);
  return request;
}

std::string bytes_in(const Value& map, const char* name) {
  const Value* found = map.find(name);
  return found != nullptr && found->is_bytes() ? found->as_bytes() : "";
}

Result<SanitizerReply> read_reply(const std::string& bytes) {
  HONE_ASSIGN(const Value value, from_msgpack(bytes));
  Fields f(value, "answer of the sanitizer");
  const Value* runs = f.array("runs");
  HONE_TRY(f.finish_loosely());
  SanitizerReply reply;
  for (std::size_t i = 0; i < runs->as_array().size(); ++i) {
    const Value& one = runs->as_array()[i];
    Fields fields = f.inside("runs", *runs).inside(std::to_string(i), one);
    SanitizerReply::Run run;
    run.run.name = fields.text("name");
    run.status = fields.integer("status", 0, 255);
    run.timed_out = fields.flag("timed_out");
    HONE_TRY(fields.finish_loosely());
    run.run.report = bytes_in(one, "report");
    run.run.events = bytes_in(one, "events");
    reply.runs.push_back(std::move(run));
  }
  return reply;
}

}  // namespace

void use_named_program(DeviceSanitizer& sanitizer, const Value& options) {
  const Value* named = options.find(sanitizer.parameter);
  if (named == nullptr || !named->is_string()) return;
  if (!named->as_string().empty() && named->as_string() != "auto")
    sanitizer.program = named->as_string();
}

Status expect_sanitizer(const DeviceSanitizer& sanitizer) {
  const std::filesystem::path program = sanitizer.program;
  std::error_code ignored;
  if (program.is_absolute() && std::filesystem::is_regular_file(program, ignored) &&
      ::access(program.c_str(), X_OK) == 0)
    return {};
  return failed_precondition((program.empty() ? std::string("no sanitizer of the device was found")
                                              : "cannot run " + program.string()) +
                             "; " + sanitizer.help);
}

double sanitizer_seconds(const DeviceSanitizer& sanitizer) {
  return kStartSeconds + kRunSeconds * static_cast<double>(sanitizer.runs.size());
}

Result<SanitizerReply> sanitize_on_device(Launcher& launcher, const EvaluatorOptions& options,
                                          const DeviceSpec& spec,
                                          const std::vector<std::string>& hidden_nodes,
                                          const DeviceSanitizerProgram& program,
                                          const std::string& artifact,
                                          const std::function<void(Process*)>& running) {
  HONE_ASSIGN(auto ends, stream_pair());
  SpawnRequest spawn = spawn_of(options, spec, hidden_nodes);
  spawn.fds = {ends.second.get()};
  HONE_ASSIGN(const auto process, launcher.spawn(spawn));
  ends.second.reset();
  running(process.get());
  const std::string request = to_msgpack(request_of(options, program, artifact));
  const Status sent = send_message(ends.first.get(), request, {}, kRequestSeconds);
  const double seconds = sanitizer_seconds(options.sanitizer);
  const Waited waited =
      sent ? await_answer(ends.first.get(), *process, {seconds, seconds}) : Waited();
  auto answer = sent ? receive_message(ends.first.get(), kAnswerBytesMax,
                                       waited.reached == TimeLimit::kNone ? kRequestSeconds : 0,
                                       process->pidfd())
                     : Result<StreamMessage>(sent.error());
  running(nullptr);
  process->kill();
  // Its kernels must not run while the next submission is measured.
  const auto exit = process->wait(kProcessEndSeconds);
  if (!exit) {
    log_warning("evaluate", "process " + std::to_string(process->pid()) +
                                " (sanitizer) has not ended; it may still use the device");
  }
  if (!sent) {
    return unavailable("sanitizer: " + sent.error().message +
                       (exit && !exit->output.empty() ? "; its output: " + exit->output : ""));
  }
  constexpr int kOwnFailure = 70;  // exit status of hone-sanitizer after a failure of its own
  if (!answer && exit && exit->exit_code == kOwnFailure)
    return unavailable("the sanitizer's process failed: " + exit->output);
  // The submission may have stopped or ended the process, so this is an answer and not a fault.
  auto read = answer ? read_reply(answer->bytes) : Result<SanitizerReply>(answer.error());
  SanitizerReply reply = read ? std::move(*read) : SanitizerReply{};
  reply.was_starved = waited.was_starved();
  return reply;
}

}  // namespace hone
