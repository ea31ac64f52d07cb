// Routes, and the way from a request to an episode and back.
#include "gateway/tritonforge.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "hone/version.h"
#include "plugin_host/host_process.hpp"

namespace hone {
namespace {

using tritonforge::EvalRequest;

constexpr int kAttempts = 3;  // of a request that a fault of the machine hits
constexpr int kRetryAfterS = 5;
constexpr double kCheckSeconds = 300;
constexpr double kHealthSeconds = 3;
constexpr double kLookSeconds = 0.5;  // between looks at whether who asked is still there
// A reference and a submission that is right: whether a server judges modules is found out with them.
constexpr char kProbe[] =
    "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
    "        return x + 1\n\n\ndef get_inputs():\n    return [torch.rand(64)]\n\n\n"
    "def get_init_inputs():\n    return []\n";
constexpr char kProbeAnswer[] =
    "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
    "        return 1 + x\n";

/// Removes the dataset's id of the reference, which the client does not know, from an error.
std::string of_reference(const std::string& message, const std::string& id) {
  std::string text = message;
  if (const std::size_t at = text.find(id); at != std::string::npos)
    text.replace(at, id.size(), "original_model_src");
  const std::size_t at = text.find("original_model_src");
  return at == std::string::npos ? text : text.substr(at);
}

HttpReply reply_to(const Error& error) {
  switch (error.code) {
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kFailedPrecondition:
      return http_error(400, error.message);
    case Code::kDeadlineExceeded:
      return http_error(504, error.message);
    default: {
      const bool full = error.code == Code::kResourceExhausted;
      HttpReply reply = http_error(full ? 429 : 503, error.message);
      reply.retry_after_s = kRetryAfterS;
      return reply;
    }
  }
}

std::string text_of(const Value& map, std::string_view key) {
  const Value* found = map.find(key);
  return found != nullptr && found->is_string() ? found->as_string() : "";
}

}  // namespace

struct TritonForgeGateway::Judged {
  Verdict verdict;
  std::string hardware;
};

TritonForgeGateway::TritonForgeGateway(Client& client, References& references, Options options)
    : client_(client), references_(references), options_(std::move(options)) {}

Status TritonForgeGateway::check() {
  EvalRequest probe;
  probe.reference = kProbe;
  probe.submission = kProbeAnswer;
  const auto judged = judge(probe, kCheckSeconds, [] { return false; });
  if (judged && judged->verdict.correct()) return {};
  if (judged) {
    return failed_precondition("the server judged a correct module as " +
                               std::string(outcome_name(judged->verdict.outcome)) + ": " +
                               judged->verdict.reason);
  }
  if (judged.error().code != Code::kNotFound) return judged.error();
  return failed_precondition(
      "the server has no dataset of references; add to its configuration: datasets: [{name: " +
      options_.dataset +
      ", plugin: references, config: {path: FOLDER}, unlisted: true}] with the folder of "
      "--references");
}

HttpReply TritonForgeGateway::handle(const HttpRequest& request) {
  const bool post = request.method == "POST";
  const std::string& path = request.path;
  if (path == "/eval") return post ? evaluate(request) : http_error(405, "expected POST");
  if (path == "/" && !post)
    return {.body = Value::map({{"service", "hone " HONE_VERSION_STRING " gateway tritonforge"},
                                {"status", "running"},
                                {"cuda_available", false},
                                {"num_gpus", 0},
                                {"backends", Value::array({"cuda", "triton"})}})};
  if ((path == "/health" || path == "/status") && !post) {
    const Value body = health();
    return {.status = text_of(body, "status") == "healthy" ? 200 : 503, .body = body};
  }
  if (path == "/gpu_status" && !post)
    return {
        .body = Value::map(
            {{"error", "CUDA not available"}, {"total_devices", 0}, {"devices", Value::array()}})};
  if (path == "/backend_info" && !post) return {.body = backends()};
  if (path == "/fault_statistics" && !post)
    return {.body = Value::map({{"per_device_faults", Value::map()},
                                {"total_faults", faults_.load()},
                                {"max_faults_threshold", Value()},
                                {"devices_near_limit", Value::array()}})};
  if (path == "/reset_devices" && post) {
    faults_ = 0;
    return {.body = Value::map({{"status", "device pool reset"},
                                {"available_devices", Value::array()},
                                {"fault_counts", Value::map()}})};
  }
  if (path == "/cleanup" && post)
    return {.body = Value::map({{"status", "cleanup not needed"},
                                {"message", "hone ends and replaces processes by itself"}})};
  constexpr std::string_view kReset = "/reset_gpu/";
  if (path.starts_with(kReset) && post)
    return http_error(400, "Invalid device ID: " + path.substr(kReset.size(), 32) +
                               "; modules are judged on the processor");
  return http_error(404, "found no such path for " + request.method +
                             ", expected POST /eval, /reset_devices, /reset_gpu/ID, /cleanup, or "
                             "GET /health, /gpu_status, /backend_info, /fault_statistics");
}

HttpReply TritonForgeGateway::evaluate(const HttpRequest& request) {
  auto read = tritonforge::read_request(request.body);
  if (auto* refused = std::get_if<HttpReply>(&read)) return std::move(*refused);
  const EvalRequest& eval = std::get<EvalRequest>(read);
  struct Running {
    std::atomic<std::size_t>& count;
    ~Running() { --count; }
  };
  const std::size_t before = running_++;
  const Running running{running_};
  if (before >= options_.evaluations_max) {
    return reply_to(resource_exhausted("evaluations under way: " + std::to_string(before) +
                                       ", which is the limit"));
  }
  const double end_s = monotonic_s() + options_.request_seconds;
  Result<Judged> judged = unavailable("nothing was tried");
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (stopping_) return reply_to(unavailable("the gateway is stopping"));
    judged = judge(eval, end_s - monotonic_s(), request.gone);
    if (request.gone()) break;
    if (judged || !is_retryable(judged.error().code) || monotonic_s() >= end_s) break;
  }
  if (!judged) {
    if (judged.error().code == Code::kUnavailable && !stopping_) ++faults_;
    log_warning("gateway", "no verdict: " + judged.error().message);
    return reply_to(judged.error());
  }
  if (eval.verbose)
    log_info("gateway",
             std::string(outcome_name(judged->verdict.outcome)) + ": " + judged->verdict.reason);
  return {.body = tritonforge::reply_of(judged->verdict, eval, judged->hardware)};
}

Result<TritonForgeGateway::Judged> TritonForgeGateway::judge(const EvalRequest& request,
                                                             double seconds, const Gone& gone) {
  const double start_s = monotonic_s();
  HONE_ASSIGN(const std::string id, references_.put(request.reference, request.entry));
  ResetOptions reset;
  reset.task = options_.dataset + "/" + id;
  reset.seed = request.seed;
  reset.group = id;
  reset.environment = "kernel_refine";
  reset.options = Value::map({{"max_turns", 1}});
  auto episode = client_.reset(reset);
  if (!episode) return no_episode(episode.error(), id);
  const double left_s = std::max(1.0, seconds - (monotonic_s() - start_s));
  const Result<Step> step = take_step(*episode, request.submission, left_s, gone);
  (void)client_.submit("close", Value::map({{"episode", episode->id}}));  // or its lease ends
  if (!step) return step.error();
  const Value* verdict = step->info.find("verdict");
  if (!step->reward_valid || verdict == nullptr || verdict->is_nil()) {
    const std::string fault = text_of(step->info, "fault");
    return unavailable("not judged because of a fault of the server: " +
                       (fault.empty() ? std::string("no details") : fault));
  }
  Judged judged;
  HONE_ASSIGN(judged.verdict, verdict_from_value(*verdict));
  judged.hardware = judged.verdict.fingerprint;
  return judged;
}

Error TritonForgeGateway::no_episode(const Error& error, const std::string& id) {
  // Another request may have been first.
  if (const auto why = references_.refused(id)) return *why;
  Error own = error;
  own.message = of_reference(error.message, id);
  // Calls of a plugin host run one after another: it was this reference that ended it.
  const bool ended = error.cause == ErrorCause::kTaskEndedPlugin;
  if (ended) own.code = Code::kInvalidArgument;
  const bool unfit = error.cause == ErrorCause::kUnfitTask;
  if (ended || (unfit && error.code == Code::kInvalidArgument)) references_.refuse(id, own);
  // A description that timed out says nothing about the submission: a fault, to be tried later.
  if (unfit && error.code == Code::kDeadlineExceeded) {
    own.code = Code::kUnavailable;
    references_.refuse(id, own, References::kLateS);
  }
  return own;
}

Result<Step> TritonForgeGateway::take_step(Episode& episode, const std::string& source,
                                           double seconds, const Gone& gone) {
  RequestOptions options;
  options.timeout_s = seconds + 30;  // what is cancelled here has time to say so
  Pending pending = client_.submit_step(episode, {.code = source, .response = {}, .language = {}},
                                        std::move(options));
  std::uint64_t serial = 0;
  {
    MutexLock lock(mutex_);
    serial = ++serial_;
    pending_.emplace(serial, pending);
  }
  if (stopping_) pending.cancel();
  const double end_s = monotonic_s() + seconds;
  bool done = false, left = false;
  while (!done && !left && monotonic_s() < end_s) {
    left = gone();
    if (!left) done = pending.wait(std::clamp(end_s - monotonic_s(), 0.0, kLookSeconds));
  }
  if (!done) pending.cancel();
  const Reply reply = pending.take();
  {
    MutexLock lock(mutex_);
    pending_.erase(serial);
  }
  if (stopping_ && !reply.ok()) return unavailable("the gateway is stopping");
  if (left && !reply.ok()) return Error{Code::kCancelled, "the client closed the connection"};
  if (!done && !reply.ok()) {
    return Error{Code::kDeadlineExceeded,
                 "not judged within " + std::to_string(static_cast<int>(seconds)) + " seconds"};
  }
  return Client::finish_step(episode, reply);
}

Value TritonForgeGateway::health() const {
  RequestOptions soon;
  soon.timeout_s = kHealthSeconds;
  const Reply reply = client_.submit("health", Value::map(), soon).take();
  // Behind a tunnel the control endpoint may be unreachable although the server works: ping the main one.
  const Reply pinged = reply.ok() ? reply : client_.submit("ping", Value::map(), soon).take();
  const std::string status = reply.ok() ? text_of(reply.body, "status") : "serving";
  Value body = Value::map({{"status", pinged.ok() && status == "serving" ? "healthy" : "unhealthy"},
                           {"gpu_platform", "none"},
                           {"cuda_available", false},
                           {"supported_backends", Value::array({"cuda", "triton"})},
                           {"total_gpu_devices", 0},
                           {"available_gpu_devices", 0},
                           {"busy_gpu_devices", 0},
                           {"available_device_ids", Value::array()},
                           {"devices", Value::array()},
                           {"isolation", "hone"},
                           {"evaluations_running", running_.load()}});
  if (!pinged.ok()) body.set("detail", pinged.failure->message);
  if (const Value* problems = reply.body.find("problems");
      problems != nullptr && status == "failing")
    body.set("detail", *problems);
  if (status == "draining") body.set("detail", "the server is shutting down");
  return body;
}

Value TritonForgeGateway::backends() const {
  return Value::map(
      {{"supported_backends", Value::array({"cuda", "triton"})},
       {"default_backend", "triton"},
       {"gpu_platform", "none"},
       {"backend_descriptions",
        Value::map({{"cuda", "PyTorch modules, on the processor; no CUDA extension is built"},
                    {"triton", "Triton kernels, by Triton's interpreter on the processor"}})},
       {"cuda_available", false},
       {"triton_available", true},
       {"process_isolation", true},
       {"gpu_architecture", Value()}});
}

void TritonForgeGateway::stop() {
  stopping_ = true;
  MutexLock lock(mutex_);
  for (auto& [serial, pending] : pending_) pending.cancel();
}

}  // namespace hone
