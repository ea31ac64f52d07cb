// Sends requests to a judge, and answers its calls until the reply arrives. Every wait has a time limit.
#include "evaluate/judge_client.hpp"

#include <poll.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "channel/stream.hpp"

namespace hone {
namespace {

constexpr double kMessageSeconds = 10;
constexpr double kWarnSeconds = 60;

/// A reply of the expected kind. Any other one is an error: the judgement's message, or the reply's name.
template <typename Expected>
Result<Expected> expect_reply(JudgeReply reply) {
  if (auto* expected = std::get_if<Expected>(&reply)) return std::move(*expected);
  if (const auto* judged = std::get_if<JudgedReply>(&reply))
    return unavailable(judged->judgement.message);
  return internal_error("judge: found the reply '" + std::string(name_of(reply)) + "', expected '" +
                        std::string(Expected::kName) + "'");
}

}  // namespace

JudgeClient::JudgeClient(std::string lane, double silence_s_max, JudgeCallbacks callbacks)
    : lane_(std::move(lane)), silence_s_max_(silence_s_max), callbacks_(std::move(callbacks)) {}

Status JudgeClient::start(Launcher& launcher, SpawnRequest spawn) {
  HONE_ASSIGN(auto ends, stream_pair());
  spawn.fds = {ends.second.get()};
  HONE_ASSIGN(process_, launcher.spawn(spawn));
  running_.set(process_.get());
  if (closed_) process_->kill();
  socket_ = std::move(ends.first);
  return {};
}

void JudgeClient::close() {
  closed_ = true;
  running_.kill();
}

void JudgeClient::stop() {
  running_.set(nullptr);
  socket_.reset();
  if (process_ != nullptr) {
    process_->kill();
    if (!process_->wait(kExitSeconds))
      log_warning("evaluate", lane_ + ": its judge did not end when it was stopped");
  }
  process_.reset();
  awaits_reply_ = false;
}

bool JudgeClient::has_ended() const {
  if (process_ == nullptr) return false;
  pollfd polled{process_->pidfd(), POLLIN, 0};
  return ::poll(&polled, 1, 0) > 0;
}

std::string JudgeClient::last_output(double seconds) {
  if (process_ == nullptr) return "";
  const auto exit = process_->wait(seconds);
  return exit ? exit->output : "";
}

Result<Value> JudgeClient::open() {
  HONE_ASSIGN(JudgeReply reply, ask(OpenRequest{}, {}));
  HONE_ASSIGN(FactsReply facts, expect_reply<FactsReply>(std::move(reply)));
  return std::move(facts.facts);
}

Status JudgeClient::equip(int harness, int known_answer) {
  HONE_ASSIGN(JudgeReply reply, ask(EquipRequest{}, {harness, known_answer}));
  const auto facts = expect_reply<FactsReply>(std::move(reply));
  return facts ? Status() : Status(facts.error());
}

Result<std::variant<InstalledReply, Judgement>> JudgeClient::install(
    InstallRequest request, const PassedProcess* process,
    const std::vector<std::string_view>& artifact) {
  using Installed = std::variant<InstalledReply, Judgement>;
  if (process != nullptr) request.pid = process->process.pid();
  HONE_ASSIGN(JudgeReply reply, ask(std::move(request), process, artifact));
  if (auto* judged = std::get_if<JudgedReply>(&reply))
    return Installed(std::move(judged->judgement));
  HONE_ASSIGN(InstalledReply installed, expect_reply<InstalledReply>(std::move(reply)));
  return Installed(std::move(installed));
}

Result<JudgedReply> JudgeClient::judge(JudgeRequest request, const PassedProcess* process,
                                       const std::vector<std::string_view>& artifact,
                                       const OnStage& on_stage) {
  if (process != nullptr) request.pid = process->process.pid();
  HONE_ASSIGN(JudgeReply reply, ask(std::move(request), process, artifact, on_stage));
  return expect_reply<JudgedReply>(std::move(reply));
}

Result<std::variant<Value, Judgement>> JudgeClient::admit(AdmitRequest request) {
  using Admitted = std::variant<Value, Judgement>;
  HONE_ASSIGN(JudgeReply reply, ask(std::move(request), {}));
  if (auto* judged = std::get_if<JudgedReply>(&reply))
    return Admitted(std::move(judged->judgement));
  HONE_ASSIGN(AdmittedReply admitted, expect_reply<AdmittedReply>(std::move(reply)));
  return Admitted(std::move(admitted.report));
}

void JudgeClient::tell(const HostRequest& request) {
  static_cast<void>(send(write_message(request), {}));
}

Status JudgeClient::send(std::string_view bytes, const std::vector<int>& fds) const {
  if (process_ == nullptr) return unavailable("the judge has ended");
  return send_message(socket_.get(), bytes, fds, kMessageSeconds);
}

Result<JudgeReply> JudgeClient::ask(const HostRequest& request, const PassedProcess* process,
                                    const std::vector<std::string_view>& artifact,
                                    const OnStage& on_stage) {
  HONE_ASSIGN(const UniqueFd memory, memory_file("hone-artifact", artifact));
  if (process == nullptr) return ask(request, {memory.get()}, on_stage);
  const Process& handed = process->process;
  std::vector<int> fds = {process->socket, memory.get(), handed.pidfd()};
  if (handed.freeze_fd() >= 0) {
    fds.push_back(handed.freeze_fd());
    fds.push_back(handed.frozen_events_fd());
  }
  return ask(request, fds, on_stage);
}

Result<JudgeReply> JudgeClient::ask(const HostRequest& request, const std::vector<int>& fds,
                                    const OnStage& on_stage) {
  awaits_reply_ = true;
  HONE_TRY(send(write_message(request), fds));
  HONE_ASSIGN(JudgeReply reply, receive_reply(on_stage));
  awaits_reply_ = false;
  return reply;
}

Result<JudgeReply> JudgeClient::receive_reply(const OnStage& on_stage) {
  for (;;) {
    HONE_TRY(await_message());
    HONE_ASSIGN(const StreamMessage received,
                receive_message(socket_.get(), kReplyBytesMax, kMessageSeconds, process_->pidfd()));
    HONE_ASSIGN(JudgeMessage message, read_judge_message(received.bytes));
    if (auto* reply = std::get_if<JudgeReply>(&message)) return std::move(*reply);
    HONE_TRY(answer(std::get<JudgeCall>(message), on_stage));
  }
}

/// Returns once the judge has sent something or has ended; deadline_exceeded after silence_s_max_, or once the time for this
/// attempt is over.
Status JudgeClient::await_message() const {
  const double begun_s = monotonic_s();
  const double ends_s = std::min(begun_s + silence_s_max_, callbacks_.ends_s());
  double warn_s = begun_s + kWarnSeconds;
  for (;;) {
    const double now = monotonic_s();
    const std::string waited = lane_ + ": waited " + std::to_string(std::lround(now - begun_s)) +
                               " s for its judge, in \"" + callbacks_.work() + "\"";
    if (now >= ends_s) return Error{Code::kDeadlineExceeded, waited};
    if (now >= warn_s) {
      log_warning("evaluate", waited);
      warn_s = now + kWarnSeconds;
    }
    pollfd polled[] = {{socket_.get(), POLLIN, 0}, {process_->pidfd(), POLLIN, 0}};
    const int left_ms = static_cast<int>(1e3 * (std::min(ends_s, warn_s) - now)) + 1;
    if (::poll(polled, 2, left_ms) > 0) return {};  // receive_message() reports an end
  }
}

Status JudgeClient::answer(const JudgeCall& call, const OnStage& on_stage) {
  if (const auto* begun = std::get_if<StageCall>(&call)) {
    if (on_stage) on_stage(begun->stage);
    return {};
  }
  HostAnswer answer;
  if (std::holds_alternative<QuietCall>(call)) {
    HONE_ASSIGN(const bool others, callbacks_.quiet());
    answer = QuietAnswer{others};
  } else if (std::holds_alternative<ShareCall>(call)) {
    HONE_TRY(callbacks_.share());
    answer = ShareAnswer{};
  } else if (std::holds_alternative<YieldCall>(call)) {
    HONE_TRY(callbacks_.yield());
    answer = YieldAnswer{};
  } else {
    HONE_TRY(callbacks_.end());
    answer = EndedAnswer{};
  }
  return send(write_message(answer), {});
}

}  // namespace hone
