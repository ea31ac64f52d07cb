// The verbs of the client: bodies out, typed results in.
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <random>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "engine.hpp"
#include "wire/requests.hpp"

namespace hone::inline client_api {
namespace {

constexpr double kSecondsMax = 1e9;  // thirty years; a longer timeout means none

// The key that makes a repeated reset harmless. Unique is enough; it is no secret.
std::string random_key() {
  std::random_device device;
  std::string key;
  for (int i = 0; i < 4; ++i) {
    static constexpr char kDigits[] = "0123456789abcdef";
    for (unsigned bits = device(), digit = 0; digit < 8; ++digit, bits >>= 4)
      key += kDigits[bits & 15];
  }
  return key;
}

Result<Value> body_of(Reply reply) {
  if (!reply.ok()) return reply.failure->error();
  return std::move(reply.body);
}

std::optional<double> optional_number(const Value& map, std::string_view key) {
  const Value* found = map.find(key);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return found->as_double();
}

Value member(const Value& map, std::string_view key) {
  const Value* found = map.find(key);
  return found == nullptr ? Value() : *found;
}

Episode opened(const Value& reply) {
  return {text_or(reply, "episode"), text_or(reply, "token"), int_or(reply, "turn", 0),
          member(reply, "observation"), member(reply, "info")};
}

Value action_body(const Action& action) {
  Value body = Value::map();
  if (action.code.empty() && !action.response.empty()) return body.set("response", action.response);
  body.set("code", action.code);
  if (!action.language.empty()) body.set("language", action.language);
  return body;
}

/// Whether the verb is sent to the control endpoint.
bool wants_control(const std::string& verb) {
  const wire::VerbFacts* facts = wire::find_verb(verb);
  if (facts == nullptr) return false;
  return facts->endpoints == wire::Endpoints::kControl || facts->prefers_control;
}

}  // namespace

bool Pending::done() const {
  MutexLock lock(state_->mutex);
  return state_->done;
}

bool Pending::wait(double seconds, bool or_progress) const {
  const std::int64_t end = monotonic_ns() + static_cast<std::int64_t>(seconds * 1e9);
  MutexLock lock(state_->mutex);
  while (!state_->done && !(or_progress && !state_->progress.empty())) {
    if (seconds < 0) {
      state_->changed.wait(state_->mutex);
      continue;
    }
    const std::int64_t left = end - monotonic_ns();
    if (left <= 0) return false;
    state_->changed.wait_for(state_->mutex, std::chrono::nanoseconds(left));
  }
  return true;
}

Reply Pending::take() {
  wait();
  MutexLock lock(state_->mutex);
  return std::move(state_->reply);
}

std::vector<Value> Pending::take_progress() {
  MutexLock lock(state_->mutex);
  std::vector<Value> taken(state_->progress.begin(), state_->progress.end());
  state_->progress.clear();
  return taken;
}

void Pending::cancel() { state_->cancel(); }

class Client::Impl {
 public:
  Impl(std::shared_ptr<Engine> engine, ClientOptions options)
      : engine_(std::move(engine)), options_(std::move(options)) {}

  Engine& engine() { return *engine_; }

  Pending submit(const std::string& verb, const Value& body, RequestOptions options) {
    auto state = std::make_shared<Pending::State>();
    state->on_done = std::move(options.on_done);
    state->on_progress = std::move(options.on_progress);
    auto done = [state](Reply reply) {
      {
        MutexLock lock(state->mutex);
        state->reply = std::move(reply);
        state->done = true;
        state->changed.notify_all();
      }
      if (state->on_done) state->on_done();
    };
    if (engine_->forked()) {
      state->cancel = [] {};
      done({{},
            Failure{Code::kFailedPrecondition,
                    "protocol",
                    "this client was made before fork(); connect again in the child",
                    false,
                    {}}});
      return Pending(state);
    }
    auto request = std::make_shared<Request>();
    request->id = engine_->next_id();
    request->verb = verb;
    request->body = body;
    request->buffers = std::move(options.buffers);
    request->episode = text_or(body, "episode");
    request->token = text_or(body, "token");
    request->turn = int_or(body, "turn", 0);
    request->control = wants_control(verb);
    request->timeout_s = options.timeout_s.value_or(options_.request_timeout_s);
    if (request->timeout_s > 0 && request->timeout_s < kSecondsMax) {
      request->deadline_ns = monotonic_ns() + static_cast<std::int64_t>(request->timeout_s * 1e9);
    }
    request->done = std::move(done);
    request->progress = [state](Value message) {
      {
        MutexLock lock(state->mutex);
        state->progress.push_back(std::move(message));
        state->changed.notify_all();
      }
      if (state->on_progress) state->on_progress();
    };
    state->cancel = [weak = std::weak_ptr<Engine>(engine_), id = request->id] {
      if (auto engine = weak.lock()) engine->cancel(id);
    };
    engine_->submit(std::move(request));
    return Pending(state);
  }

 private:
  std::shared_ptr<Engine> engine_;
  ClientOptions options_;
};

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::connect(const std::string& endpoint,
                                                ClientOptions options) {
  for (const auto& [name, seconds] :
       {std::pair("connect_timeout_s", options.connect_timeout_s),
        std::pair("request_timeout_s", options.request_timeout_s),
        std::pair("reconnect_timeout_s", options.reconnect_timeout_s)}) {
    if (std::isnan(seconds)) {
      return invalid_argument(std::string(name) + ": found nan, expected seconds");
    }
  }
  HONE_ASSIGN(std::shared_ptr<Engine> engine, Engine::start(endpoint, options));
  HONE_TRY(engine->wait_until_greeted(options.connect_timeout_s));
  auto impl = std::make_unique<Impl>(std::move(engine), std::move(options));
  return std::unique_ptr<Client>(new Client(std::move(impl)));
}

Value Client::hello() const { return impl_->engine().hello(); }

bool Client::is_served() const { return impl_->engine().is_served(); }

std::optional<WaitForServer> Client::server_wait() const {
  const std::optional<ServerWait> wait = impl_->engine().server_wait();
  if (!wait) return {};
  const std::int64_t now_ns = monotonic_ns();
  const bool has_end = wait->until_ns != INT64_MAX;
  return WaitForServer{static_cast<double>(now_ns - wait->since_ns) * 1e-9,
                       has_end ? static_cast<double>(wait->until_ns - now_ns) * 1e-9 : INFINITY};
}

Pending Client::submit(const std::string& verb, Value body, RequestOptions options) {
  if (body.is_nil()) body = Value::map();
  HONE_ASSERT(body.is_map());
  const bool opens = begins_episode(verb);
  if (opens && body.find("key") == nullptr) body.set("key", random_key());
  return impl_->submit(verb, body, std::move(options));
}

Result<Value> Client::call(const std::string& verb, Value body, RequestOptions options) {
  return body_of(submit(verb, std::move(body), std::move(options)).take());
}

Result<Value> Client::describe(const std::string& task, const std::string& split) {
  Value body = Value::map();
  if (!task.empty()) body.set("task", task);
  if (!split.empty()) body.set("split", split);
  return call("describe", std::move(body));
}

Result<Episode> Client::reset(const ResetOptions& options) {
  Value body = Value::map();
  if (!options.environment.empty()) body.set("environment", options.environment);
  if (!options.task.empty()) body.set("task", options.task);
  if (!options.split.empty()) body.set("split", options.split);
  if (options.seed) body.set("seed", *options.seed);
  if (!options.group.empty()) body.set("group", options.group);
  if (!options.options.is_nil()) body.set("options", options.options);
  HONE_ASSIGN(const Value reply, call("reset", std::move(body)));
  return opened(reply);
}

Result<Episode> Client::branch(const Episode& episode, std::int64_t turn,
                               const std::string& group) {
  Value body = Value::map({{"episode", episode.id}, {"token", episode.token}, {"turn", turn}});
  if (!group.empty()) body.set("group", group);
  HONE_ASSIGN(const Value reply, call("branch", std::move(body)));
  return opened(reply);
}

Pending Client::submit_step(const Episode& episode, const Action& action, RequestOptions options) {
  Value body = Value::map(
      {{"episode", episode.id}, {"turn", episode.turn + 1}, {"action", action_body(action)}});
  return submit("step", std::move(body), std::move(options));
}

Result<Step> Client::finish_step(Episode& episode, const Reply& reply) {
  if (!reply.ok()) return reply.failure->error();
  Step step;
  step.turn = int_or(reply.body, "turn", episode.turn + 1);
  step.observation = member(reply.body, "observation");
  step.reward = optional_number(reply.body, "reward");
  step.reward_valid = bool_or(reply.body, "reward_valid", false);
  step.return_to_date = optional_number(reply.body, "return_to_date");
  step.terminated = bool_or(reply.body, "terminated", false);
  step.truncated = bool_or(reply.body, "truncated", false);
  step.returns = member(reply.body, "returns");
  step.info = member(reply.body, "info");
  episode.turn = step.turn;
  episode.observation = step.observation;
  return step;
}

Result<Step> Client::step(Episode& episode, const Action& action) {
  return finish_step(episode, submit_step(episode, action).take());
}

Result<bool> Client::cancel(const Episode& episode, std::int64_t turn) {
  HONE_ASSIGN(Value body, call("cancel", Value::map({{"episode", episode.id}, {"turn", turn}})));
  return bool_or(body, "cancelled", false);
}

Result<Value> Client::close(const Episode& episode) {
  return call("close", Value::map({{"episode", episode.id}}));
}

Result<Episode> Client::resume(const std::string& id, const std::string& token) {
  HONE_ASSIGN(Value body, call("resume", Value::map({{"episode", id}, {"token", token}})));
  return Episode{id, token, int_or(body, "turn", 0), member(body, "observation"), Value()};
}

Result<Value> Client::ping() { return call("ping", Value::map()); }

}  // namespace hone::inline client_api
