// The script.
#include "server/scripted_service.hpp"

namespace hone {
namespace {

Value turn_of(const Value& request) {
  const Value* turn = request.find("turn");
  return turn != nullptr ? *turn : Value();
}

std::string step_reply(const Value& request) {
  return to_msgpack(Value::map({{"turn", turn_of(request)}, {"reward", 1.0}}));
}

}  // namespace

void ScriptedService::step(const Caller&, const Value& request, double deadline_s,
                           Progress progress, Reply reply) {
  last_deadline_s_ = deadline_s;
  if (refusing_) return reply(unavailable("the server is shutting down"));
  const Value* action = request.find("action");
  const Value* text = action != nullptr ? action->find("code") : nullptr;
  if (text == nullptr || !text->is_string())
    return reply(invalid_argument("step/action: found none"));
  const std::string code = text->as_string();
  {
    MutexLock lock(mutex_);
    last_code_ = code;
  }
  if (code == "now") return reply(step_reply(request));
  if (code == "block") {
    wait_for_gate();
    return reply(step_reply(request));
  }
  if (code == "fail") return reply(internal_error("the script says so"));
  if (code == "fault") return reply(to_msgpack(Value::map({{"reward_valid", false}})));
  if (code == "busy") return reply(resource_exhausted("the script has no room"));
  if (code.rfind("big:", 0) == 0) {
    return reply(to_msgpack(Value::map({{"pad", std::string(std::stoul(code.substr(4)), 'x')}})));
  }
  MutexLock lock(mutex_);
  if (code == "thread") {
    threads_.emplace_back([request, reply] { reply(step_reply(request)); });
    return;
  }
  if (code == "progress") progress(Value::map({{"stage", "building"}}));
  held_.emplace_back(request, std::move(reply));
  changed_.notify_all();
}

Result<Value> ScriptedService::cancel(const Caller& caller, const Value& request) {
  last_cancel_by_control_ = caller.control;
  Reply reply;
  {
    MutexLock lock(mutex_);
    const Value turn = turn_of(request);
    cancelled_.push_back(turn.is_int() ? turn.as_int() : 0);
    for (auto it = held_.begin(); it != held_.end(); ++it) {
      if (turn_of(it->first) != turn_of(request)) continue;
      reply = std::move(it->second);
      held_.erase(it);
      break;
    }
  }
  if (!reply) return Value::map({{"cancelled", false}});
  reply(Error{Code::kCancelled, "the step was cancelled"});
  return Value::map({{"cancelled", true}});
}

int ScriptedService::cancels_before_last(std::int64_t flood, std::int64_t asked) const {
  MutexLock lock(mutex_);
  int count = 0, before = 0;
  for (const std::int64_t turn : cancelled_) {
    if (turn == flood) ++count;
    if (turn == asked) before = count;
  }
  return before;
}

void ScriptedService::renew(const Caller&, const std::vector<std::string>& episodes) {
  MutexLock lock(mutex_);
  renewed_.insert(renewed_.end(), episodes.begin(), episodes.end());
}

std::size_t ScriptedService::leave(const std::set<std::string>& connections) {
  MutexLock lock(mutex_);
  left_.insert(connections.begin(), connections.end());
  changed_.notify_all();
  return 0;
}

std::set<std::string> ScriptedService::await_left() {
  MutexLock lock(mutex_);
  while (left_.empty()) changed_.wait(mutex_);
  return left_;
}

std::size_t ScriptedService::release() {
  std::vector<std::pair<Value, Reply>> held;
  {
    MutexLock lock(mutex_);
    held.swap(held_);
  }
  for (auto it = held.rbegin(); it != held.rend(); ++it) it->second(step_reply(it->first));
  return held.size();
}

void ScriptedService::wait_for_gate() {
  MutexLock lock(mutex_);
  ++at_gate_;
  changed_.notify_all();
  while (!gate_open_) changed_.wait(mutex_);
  --at_gate_;
}

void ScriptedService::open_gate() {
  MutexLock lock(mutex_);
  gate_open_ = true;
  changed_.notify_all();
}

void ScriptedService::await_held(std::size_t count) {
  MutexLock lock(mutex_);
  while (held_.size() < count) changed_.wait(mutex_);
}

void ScriptedService::await_at_gate(std::size_t count) {
  MutexLock lock(mutex_);
  while (at_gate_ < count) changed_.wait(mutex_);
}

std::vector<std::string> ScriptedService::renewed() {
  MutexLock lock(mutex_);
  return renewed_;
}

}  // namespace hone
