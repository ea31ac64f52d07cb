// Standby builders and builds.
#include "evaluate/build_pool.hpp"

#include "base/code_number.hpp"
#include "base/crypto.hpp"
#include "base/log.hpp"
#include "channel/stream.hpp"
#include "evaluate/await_answer.hpp"
#include "evaluate/diagnostics.hpp"
#include "evaluate/interpreter.hpp"
#include "evaluate/sources.hpp"
#include "judge/known_answer.hpp"
#include "model/fields.hpp"
#include "sandbox/starved_time.hpp"

namespace hone {
namespace {

constexpr std::size_t kResultMax = 96u << 20;
constexpr double kSendSeconds = 10;
constexpr double kGraceSeconds = 10;  // for the rest of a message, and for the end of a builder (s)
// Multiples of the limit of processor time. Rationale: the kernel ends a compiler at its limit of processor time. One that
// waits, and uses no processor time, is ended at twice that limit. If other processes have its core, its elapsed time may be
// six times the limit; beyond that it is a fault.
constexpr double kOwnFactor = 2, kClockFactor = 6;
constexpr double kBuilderStartSeconds = 1;  // own time of the builder itself, with slow disks (s)
// Multiple of the host's limit by the clock: the builder's own limit. It is never reached before the host's.
constexpr double kBuilderFactor = 10;
// Limit for a build with sanitizers and the run of its program (s). The program can stop its builder, so this is how long
// it can hold up other builds.
constexpr double kSanitizerSeconds = 40;
constexpr std::int64_t kFileBytesMax = std::int64_t{64} << 20;

Result<Built> built_from_value(const Value& value) {
  if (const Value* error = value.find("error")) {
    const Value* code = value.find("code");
    return Error{
        code != nullptr && code->is_int() ? error_code_of(code->as_int()) : Code::kInternal,
        error->is_string() ? error->as_string() : "builder failed"};
  }
  Fields f(value, "build result");
  Built built;
  built.ok = f.flag("ok");
  const std::string failure = f.text("failure");
  built.diagnostics = f.text_or("diagnostics", "");
  built.toolchain = f.text_or("toolchain", "");
  const Value* artifact = f.value("artifact");
  const Value* report = f.value_or_null("report");
  HONE_TRY(f.finish_loosely());
  HONE_ASSIGN(built.failure, parse_enum<BuildFailure>(failure));
  if (built.ok != (built.failure == BuildFailure::kNone))
    return internal_error("build result: found ok " + std::string(built.ok ? "true" : "false") +
                          " with failure '" + failure +
                          "', expected a failure if and only if ok is false");
  if (artifact->is_bytes()) built.artifact = artifact->as_bytes();
  if (report != nullptr) built.report = *report;
  return built;
}

/// Parses the texts of the report "code" into `built.code` and drops them. Rationale: a submission can make them slow to parse, so
/// this is part of the build, and no device waits for it. The cache then keeps only the small result.
void parse_code(const BuildRequest& request, Built& built) {
  if (request.report != "code" || !built.report.is_map()) return;
  built.code = std::make_shared<const CodeReport>(read_code_report(
      report_text(built, "assembly"), report_text(built, "remarks"), request.name));
  built.report = Value();
}

/// The answer of a builder that got its request (`sent`) and reached no limit of its time.
Result<StreamMessage> answer_of(int socket, const Process& builder, const Status& sent,
                                TimeLimit reached) {
  HONE_TRY(sent);
  if (reached != TimeLimit::kNone) return Error{Code::kDeadlineExceeded, "no answer in time"};
  return receive_message(socket, kResultMax, kGraceSeconds, builder.pidfd());
}

/// A builder that ran a submission's program and did not answer: the program stopped or ended it. That is the submission's
/// doing, so it is an answer and not a fault.
Built built_without_answer() {
  Built built;
  built.ok = true;
  built.report = Value::map(
      {{"output", "the program did not end in time, or ended its sandbox"}, {"status", 137}});
  return built;
}

/// Whether the build failed without a mistake in the source.
bool has_no_cause(const Built& built, const std::string& source_name) {
  if (built.ok || built.over_memory) return false;
  if (built.failure == BuildFailure::kTimedOut) return built.starved;
  return built.failure != BuildFailure::kRefused ||
         submission_diagnostics(built.diagnostics, source_name).text.empty();
}

/// The facts of a device that torch and Triton use.
std::string device_for_dry_runs(const Value& facts) {
  Value device = Value::map();
  for (const char* name :
       {"architecture", "name", "memory_bytes", "cache_bytes", "multiprocessors"}) {
    if (const Value* value = facts.find(name)) device.set(name, *value);
  }
  if (const Value* limits = facts.find("limits")) {
    for (const char* name : {"block_threads", "shared_bytes"}) {
      if (const Value* value = limits->find(name)) device.set(name, *value);
    }
  }
  return to_json(device);
}

/// A short program: for device code, the judge's own smallest kernel.
BuildRequest probe_request(const std::string& language, const EvaluatorOptions& options) {
  BuildRequest request;
  request.language = language;
  request.name = "self_test";
  request.entries = {"probe"};
  if (language == "c") {
    request.text = "int probe(int x) { return x + 1; }\n";
  } else if (language == "c++") {
    request.text = "#include <vector>\nextern \"C\" int probe(int x) { return x + 1; }\n";
  } else if (language == "python") {
    request.text = "def probe(x):\n    return x + 1\n";
  } else {
    request.entries = known_answer_kernels();
    request.text =
        options.known_answer.empty() ? std::string(known_answer_source()) : options.known_answer;
  }
  return request;
}

/// The driver is the last source.
void add_program(const BuildRequest& request, Value& value) {
  Value sources = *value.find("sources");
  sources.push(Value::map({{"name", "driver.c"}, {"text", request.program->driver}}));
  value.set("sources", std::move(sources));
  value.set("files",
            Value::array({Value::map(
                {{"name", kSanitizerInputs}, {"bytes", Value::bytes(request.program->inputs)}})}));
}

/// The compiler's path, where it is known.
std::string path_of(const Toolchain& toolchain) {
  const Value* own = toolchain.options.find("compiler");
  return own != nullptr && own->is_string() ? own->as_string() : toolchain.compiler;
}

}  // namespace

std::string report_text(const Built& built, const char* name) {
  const Value* text = built.report.is_map() ? built.report.find(name) : nullptr;
  return text != nullptr && text->is_string() ? text->as_string() : "";
}

BuildPool::BuildPool(Launcher& launcher, const EvaluatorOptions& options, Zygotes* zygotes)
    : launcher_(launcher), options_(options), zygotes_(zygotes), cache_(options.cache_mb << 20) {
  if (zygotes_ != nullptr) extensions_ = std::make_unique<Extensions>(*zygotes_, options_);
}

Result<BuildPool::Standby> BuildPool::start_builder(std::vector<int> cpus) {
  HONE_ASSIGN(auto ends, stream_pair());
  SpawnRequest request;
  request.jail = Jail::kBuilder;
  request.label = "builder";
  request.program = options_.libexec / "hone-builder";
  request.arguments = {options_.backend_library.string()};
  const std::string backend_folder = options_.backend_library.parent_path().string();
  std::vector<std::string> compilers = options_.readable;
  if (options_.device_code) {
    // Runtime compilers are in the backend's folder or in hone's lib/, and are loaded after the builder is
    // sealed.
    compilers.push_back(backend_folder);
    compilers.push_back((options_.libexec.parent_path() / "lib").string());
  }
  request.arguments.insert(request.arguments.end(), compilers.begin(), compilers.end());
  request.fds = {ends.second.get()};
  request.cpus = std::move(cpus);
  request.limits.memory_bytes = options_.build_memory_mb << 20;
  request.limits.file_bytes = kFileBytesMax;
  request.limits.cpu_seconds = options_.build_seconds;
  request.readable = std::move(compilers);
  request.readable.push_back(backend_folder);
  HONE_ASSIGN(auto process, launcher_.spawn(request));
  return Standby{std::move(process), std::move(ends.first)};
}

Result<BuildPool::Standby> BuildPool::take_builder() {
  {
    MutexLock lock(mutex_);
    if (!standby_.empty()) {
      Standby ready = std::move(standby_.front());
      standby_.pop_front();
      return ready;
    }
  }
  return start_builder();
}

void BuildPool::refill() {
  {
    MutexLock lock(mutex_);
    if (standby_.size() >= static_cast<std::size_t>(options_.builders)) return;
  }
  auto fresh = start_builder();
  if (!fresh) return log_warning("evaluate", "standby builder: " + fresh.error().message);
  MutexLock lock(mutex_);
  standby_.push_back(std::move(fresh).value());
}

Result<Built> BuildPool::ask_builder(const Value& request) {
  const bool runs_submission = request.find("files") != nullptr;
  HONE_ASSIGN(Standby builder,
              runs_submission ? start_builder(cores_for_programs(options_.devices, cores_of(0)))
                              : take_builder());
  const Status sent = send_message(builder.socket.get(), to_msgpack(request), {}, kSendSeconds);
  const AnswerLimits limits =
      runs_submission ? AnswerLimits{kSanitizerSeconds, kSanitizerSeconds} : build_limits();
  const Waited waited =
      sent ? await_answer(builder.socket.get(), *builder.process, limits) : Waited();
  const auto answer = answer_of(builder.socket.get(), *builder.process, sent, waited.reached);
  if (answer) {
    CodecLimits codec;
    codec.bytes_max = kResultMax;
    HONE_ASSIGN(const Value value, from_msgpack(answer->bytes, codec));
    HONE_ASSIGN(Built built, built_from_value(value));
    if (built.ok && built.artifact.empty() && !runs_submission)
      return internal_error("build result: no artifact");
    built.starved = runs_submission && built.ok && waited.was_starved();
    if (built.failure != BuildFailure::kKilled && built.failure != BuildFailure::kOutOfMemory)
      return built;
    // Decides whether the build exceeded its own memory limit or the machine lacked memory. Only the first is
    // the source's fault.
    builder.process->kill();
    HONE_ASSIGN(const ProcessExit exit, builder.process->wait(kGraceSeconds));
    built.over_memory =
        exit.out_of_memory || exit.peak_bytes > (options_.build_memory_mb << 20) / 2;
    return built;
  }
  builder.process->kill();
  HONE_ASSIGN(const ProcessExit exit, builder.process->wait(kGraceSeconds));
  if (runs_submission) return built_without_answer();
  if (waited.reached != TimeLimit::kNone) {
    Built unfinished;
    unfinished.failure = BuildFailure::kTimedOut;
    unfinished.starved = waited.reached == TimeLimit::kClock;
    return unfinished;
  }
  if (exit.out_of_memory) {
    Built killed;
    killed.failure = BuildFailure::kKilled;
    killed.over_memory = true;
    return killed;
  }
  return unavailable("builder: " + answer.error().message +
                     (exit.output.empty() ? "" : "; its output: " + exit.output));
}

AnswerLimits BuildPool::build_limits() const {
  if (!options_.measure.defences.holds(Defence::kBuilderTime))
    return {options_.build_seconds, options_.build_seconds};
  return {kOwnFactor * options_.build_seconds + kBuilderStartSeconds,
          kClockFactor * options_.build_seconds + kBuilderStartSeconds};
}

Value BuildPool::request_value(const BuildRequest& request, const Toolchain& toolchain,
                               bool version) const {
  Value options = Value::map({{"compiler", toolchain.compiler},
                              {"flags", texts_value(toolchain.flags)},
                              {"threads", request.threads},
                              {"seconds", kBuilderFactor * build_limits().clock_s},
                              {"version", version}});
  for (const auto& [key, value] : toolchain.options.as_map()) options.set(key, value);
  const Value* architecture = options.find("architecture");
  if (architecture == nullptr || *architecture == Value("")) {
    MutexLock lock(mutex_);
    if (!architecture_.empty()) options.set("architecture", architecture_);
  }
  Value sources = Value::array({Value::map({{"name", request.name}, {"text", request.text}})});
  for (const Source& file : request.support) {
    if (file.name != request.name)
      sources.push(Value::map({{"name", file.name}, {"text", file.text}}));
  }
  if (!request.report.empty()) options.set("report", request.report);
  Value value = Value::map({{"sources", std::move(sources)},
                            {"language", request.language},
                            {"entries", texts_value(request.entries)},
                            {"options", std::move(options)}});
  if (request.program != nullptr) add_program(request, value);
  return value;
}

Status BuildPool::use_device(const Value& facts) {
  const std::string& architecture = facts.find("architecture")->as_string();
  MutexLock lock(mutex_);
  if (!architecture_.empty() && architecture_ != architecture) {
    return failed_precondition("found devices of architectures " + architecture_ + " and " +
                               architecture + ", expected one; choose devices of one kind");
  }
  architecture_ = architecture;
  device_ = device_for_dry_runs(facts);
  if (zygotes_ != nullptr) zygotes_->use_architecture(architecture);
  return {};
}

std::string BuildPool::cache_key(const BuildRequest& request) const {
  return sha256_hex(
      (request.record ? "recorded " : "") +
      to_msgpack(request_value(request, options_.toolchains.at(request.language), false)));
}

/// Rationale: if the dry run fails, the device decides. Only a shortage of the machine is reported, because
/// the submission is not responsible for it.
Status BuildPool::dry_run_if_module(const BuildRequest& request, Built& built) {
  if (!built.ok || !options_.device_code || zygotes_ == nullptr ||
      request.name != submission_name("python", options_))
    return {};
  auto said = dry_run(*zygotes_, options_, device(), built.artifact);
  if (!said) {
    log_info("evaluate", said.error().message);
    if (builds_extensions(request.text) || said.error().code == Code::kResourceExhausted)
      built.is_incomplete = true;
    return {};
  }
  // Rationale: with an unsuitable toolkit, compilers report errors in lines of the submission, too.
  const bool extends = builds_extensions(built.artifact);
  const DryRunFailure failure = said->failure;
  const bool hindered = extends && failure == DryRunFailure::kHindered;
  if (hindered || (extends && is_of_extension(failure))) HONE_TRY(check_extensions(said->kind));
  if (hindered) built.is_incomplete = true;
  if (failure != DryRunFailure::kHindered) {
    built.dry_run = failure;
    built.raised = std::move(said->words);
  }
  built.seen_in_dry_run = std::move(said->started);
  built.artifact += "\n" + said->compiled;
  return {};
}

/// Returns an Error if the machine was too busy for the recording, and the module may not be judged without one.
Status BuildPool::record_if_wanted(const BuildRequest& request, Built& built) {
  if (!built.ok || !request.record || zygotes_ == nullptr) return {};
  Result<Recording> recorded =
      record_module(*zygotes_, options_, images_, device(), built.artifact);
  if (!recorded) {
    log_info("evaluate", recorded.error().message);
    built.is_incomplete = recorded.error().code == Code::kResourceExhausted;
    if (built.is_incomplete && options_.modules == "plan") return recorded.error();
    built.not_recorded = "the recording was not made: " + recorded.error().message;
    return {};
  }
  built.plan = std::move(recorded->plan);
  built.not_recorded = std::move(recorded->problem);
  return {};
}

std::string BuildPool::device() const {
  MutexLock lock(mutex_);
  return device_;
}

Status BuildPool::check_extensions(ExtensionKind kind) {
  return extensions_ == nullptr ? Status() : extensions_->check(kind, device());
}

Result<std::shared_ptr<const Built>> BuildPool::build(const BuildRequest& request) {
  if (options_.toolchains.count(request.language) == 0) {
    if (request.language == "python") HONE_TRY(expect_interpreter(options_));
    return invalid_argument("no compiler is configured for " + request.language);
  }
  const std::string key = cache_key(request);
  if (auto built = cache_.find(key)) return built;
  const MemoryWait memory;
  auto answer =
      ask_builder(request_value(request, options_.toolchains.at(request.language), false));
  refill();
  if (!answer) return answer.error();
  Built& built = *answer;
  if (built.failure == BuildFailure::kTimedOut && memory.was_long()) built.starved = true;
  if (!options_.measure.defences.holds(Defence::kBuilderTime)) built.starved = false;
  built.doubtful = has_no_cause(built, request.name);
  parse_code(request, built);
  HONE_TRY(record_if_wanted(request, built));
  if (built.plan == nullptr) HONE_TRY(dry_run_if_module(request, built));
  auto shared = std::make_shared<const Built>(std::move(built));
  // A build that ran into a limit may succeed on a less busy machine, so it is not cached.
  // The result of a run is not cached either: it may differ.
  const bool is_kept = request.program == nullptr && shared->ok && !shared->is_incomplete;
  if (is_kept || (shared->failure == BuildFailure::kRefused && !shared->doubtful))
    cache_.keep(key, shared);
  return shared;
}

Result<std::string> BuildPool::self_test() {
  constexpr int kSelfTestTries = 3;
  std::string versions;
  for (const auto& [language, toolchain] : options_.toolchains) {
    const BuildRequest request = probe_request(language, options_);
    auto answer = ask_builder(request_value(request, toolchain, true));
    // Rationale: if the machine killed or starved the builder, the compiler may still be fine. A server that
    // did not start would lose all episodes of its clients.
    for (int i = 1; (!answer || answer->starved) && i < kSelfTestTries; ++i)
      answer = ask_builder(request_value(request, toolchain, true));
    const std::string tool =
        language + (language == "python" ? " interpreter " : " compiler ") + path_of(toolchain);
    if (!answer) return answer.error().in(tool);
    if (!answer->ok) {
      return failed_precondition(tool + " does not build a short program: " + answer->diagnostics);
    }
    versions += (versions.empty() ? "" : "; ") + language + ": " +
                (answer->toolchain.empty() ? path_of(toolchain) : answer->toolchain);
  }
  for (int i = 0; i < options_.builders; ++i) refill();
  return versions;
}

}  // namespace hone
