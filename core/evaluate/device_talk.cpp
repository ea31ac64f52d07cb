// What a lane and its judge say to each other. No wait for the judge is silent or endless.
#include <poll.h>

#include <algorithm>
#include <cmath>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "channel/control.hpp"
#include "channel/stream.hpp"
#include "evaluate/device.hpp"

namespace hone {
namespace {

constexpr std::size_t kAnswerMax = 1u << 20;
constexpr double kSendSeconds = 10;

}  // namespace

Result<Value> Device::answer_to(const Status& sent,
                                const std::function<void(const char*)>& progress) {
  owes_ = true;
  if (!sent) return sent.error();
  HONE_ASSIGN(Value answer, receive(progress));
  owes_ = false;
  return answer;
}

Status Device::send(const Value& request, const std::vector<int>& fds) {
  if (judge_ == nullptr) return unavailable("the judge has ended");
  return send_message(judge_socket_.get(), to_msgpack(request), fds, kSendSeconds);
}

Status Device::send(const Value& request, const Runner* runner, const std::string* artifact) {
  std::vector<int> fds;
  UniqueFd memory;
  if (artifact != nullptr) {
    HONE_ASSIGN(memory, memory_file("hone-artifact", *artifact));
    fds = {memory.get()};
  }
  if (runner != nullptr) {
    fds = {runner->socket.get(), memory.get(), runner->process->pidfd()};
    if (runner->process->freeze_fd() >= 0) {
      fds.push_back(runner->process->freeze_fd());
      fds.push_back(runner->process->frozen_events_fd());
    }
  }
  return send(request, fds);
}

/// Returns once the judge has said something or has ended; deadline_exceeded after `evaluation_seconds` of silence, or once
/// the time for all of this job's work is over.
Status Device::await_message() const {
  const double begun_s = monotonic_s();
  const double ends_s = std::min(begun_s + options_.evaluation_seconds, ends_s_);
  double warn_s = begun_s + Turns::kWarnSeconds;
  for (;;) {
    const double now = monotonic_s();
    const std::string waited = turn_.lane() + ": waited " +
                               std::to_string(std::lround(now - begun_s)) +
                               " s for its judge, in \"" + work_ + "\"";
    if (now >= ends_s) return Error{Code::kDeadlineExceeded, waited};
    if (now >= warn_s) {
      log_warning("evaluate", waited);
      warn_s = now + Turns::kWarnSeconds;
    }
    pollfd polled[] = {{judge_socket_.get(), POLLIN, 0}, {judge_->pidfd(), POLLIN, 0}};
    const int left_ms = static_cast<int>(1e3 * (std::min(ends_s, warn_s) - now)) + 1;
    if (::poll(polled, 2, left_ms) > 0) return {};  // who reads hears of an end
  }
}

/// What this lane does, for log lines of its own and of lanes that wait for it.
void Device::set_work(const std::string& step) {
  work_ = step + (task_id_.empty() ? "" : " " + task_id_);
  turn_.set_work(work_);
}

/// A wait for other lanes is none of the job's own time.
void Device::note_wait(double from_s) {
  ends_s_ += monotonic_s() - from_s;
  tell_waited(from_s);
}

Result<Value> Device::receive(const std::function<void(const char*)>& progress) {
  for (;;) {
    HONE_TRY(await_message());
    HONE_ASSIGN(const StreamMessage message,
                receive_message(judge_socket_.get(), kAnswerMax, kSendSeconds, judge_->pidfd()));
    HONE_ASSIGN(Value answer, from_msgpack(message.bytes));
    if (kind_of(answer) == "end") {
      HONE_TRY(end_running());
      continue;
    }
    if (kind_of(answer) == "quiet") {
      HONE_TRY(answer_quiet());
      continue;
    }
    if (kind_of(answer) == "pass") {
      HONE_TRY(answer_pass(answer));
      continue;
    }
    if (kind_of(answer) == "share") {
      const double from_s = monotonic_s();
      const Status shares = turn_.share();
      note_wait(from_s);
      circumstances_.gave_up = !shares;
      if (!shares) return shares.error();
      // For the next ones, while what was measured is checked. Native code that has the device whole does not ask again
      // before it is measured.
      if (!turn_.has_whole()) open_ahead();
      HONE_TRY(send(Value::map({{"verb", "share"}}), nullptr, nullptr));
      continue;
    }
    if (kind_of(answer) != "stage") return answer;
    const Value* stage = answer.find("stage");
    if (stage == nullptr || !stage->is_string()) continue;
    // The judge has its hands full, and measures nothing.
    if (*stage == Value("check")) start_missing(false);
    set_work(stage->as_string());
    if (progress) progress(stage->as_string().c_str());
  }
}

/// The judge offers to yield between two pieces of work. "still": its submission is frozen, so the lane yields now. Otherwise
/// the answer "wanted" tells the judge to freeze it first.
Status Device::answer_pass(const Value& said) {
  const Value* still = said.find("still");
  const bool ready = still != nullptr && *still == Value(true);
  if (ready && turn_.is_in_the_way()) {
    const double from_s = monotonic_s();
    // Making or ending a context disturbs a measurement.
    await_last();
    wait_until_open(kOpenSeconds);
    const Status shares = turn_.give_way();
    note_wait(from_s);
    circumstances_.gave_up = !shares;
    if (!shares) return shares.error();
  }
  const bool wanted = !ready && turn_.is_in_the_way();
  return send(Value::map({{"verb", "pass"}, {"wanted", wanted}}), nullptr, nullptr);
}

/// The judge wants to measure.
Status Device::answer_quiet() {
  const double from_s = monotonic_s();
  wait_until_open(kOpenSeconds);
  const Status alone = turn_.have_alone();
  note_wait(from_s);
  circumstances_.gave_up = !alone;
  if (!alone) return alone.error();
  const Value answer = Value::map({{"verb", "quiet"}, {"others", turn_.beside_others()}});
  return send(answer, nullptr, nullptr);
}

/// The judge has seen enough of the submission, and wants it gone.
Status Device::end_running() {
  Process* process = nullptr;
  {
    MutexLock lock(mutex_);
    process = running_;
  }
  if (process == nullptr) return internal_error("the judge ended what does not run");
  process->kill();
  HONE_TRY(process->wait(kGoneSeconds));
  return send(Value::map({{"verb", "ended"}}), nullptr, nullptr);
}

void Device::stop_judge() {
  MutexLock lock(state_mutex_);  // a lane that waited in vain for its turn has none
  // The judge goes first: it thaws what it holds, and then the launcher can end all of them.
  judge_socket_.reset();
  if (judge_ != nullptr) {
    judge_->kill();
    if (!judge_->wait(kExitSeconds))
      log_warning("evaluate", turn_.lane() + ": its judge has not ended");
  }
  judge_.reset();
  owes_ = false;
  for (auto& [key, installed] : installed_) {
    let_go(std::move(installed.reference));
    let_go(std::move(installed.baseline));
  }
  installed_.clear();
  ages_.clear();
  for (auto& [owner, kept] : kept_) let_go(std::move(kept.process));
  kept_.clear();
  kept_ages_.clear();
}

}  // namespace hone
