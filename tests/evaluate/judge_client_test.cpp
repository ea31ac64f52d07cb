// JudgeClient, with this test as the judge at the other end of the socket.
#include "evaluate/judge_client.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "channel/stream.hpp"

namespace hone {
namespace {

constexpr double kSeconds = 30;

class FakeProcess : public Process {
 public:
  FakeProcess() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    ended_ = UniqueFd(ends[0]);
    open_ = UniqueFd(ends[1]);
  }
  pid_t pid() const override { return 4711; }
  const std::string& label() const override { return label_; }
  int pidfd() const override { return ended_.get(); }
  int freeze_fd() const override { return -1; }
  int frozen_events_fd() const override { return -1; }
  void kill() override { open_.reset(); }
  Result<ProcessExit> wait(double) override { return ProcessExit{}; }

 private:
  std::string label_ = "fake";
  UniqueFd ended_, open_;  // a pipe whose end is readable once the other one is closed
};

/// Keeps the judge's end of the socket.
class FakeLauncher : public Launcher {
 public:
  Result<std::unique_ptr<Process>> spawn(const SpawnRequest& request) override {
    judge_end = UniqueFd(fcntl(request.fds.at(0), F_DUPFD_CLOEXEC, 0));
    return std::unique_ptr<Process>(std::make_unique<FakeProcess>());
  }
  const LauncherOptions& options() const override { return options_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  IsolationLevel level() const override { return IsolationLevel::kFiltered; }
  std::string freezer() const override { return "ptrace"; }
  bool alive() const override { return true; }

  UniqueFd judge_end;

 private:
  LauncherOptions options_;
  Capabilities capabilities_;
};

class JudgeClientTest : public testing::Test {
 protected:
  void SetUp() override {
    JudgeCallbacks callbacks;
    callbacks.quiet = [this]() -> Result<bool> {
      seen_.emplace_back("quiet");
      if (lock_fails_) return unavailable("another lane keeps the device");
      return true;
    };
    callbacks.share = [this]() -> Status {
      seen_.emplace_back("share");
      return {};
    };
    callbacks.yield = [this]() -> Status {
      seen_.emplace_back("yield");
      return {};
    };
    callbacks.end = [this]() -> Status {
      seen_.emplace_back("end");
      return {};
    };
    callbacks.ends_s = [] { return 1e300; };
    callbacks.work = [] { return "test"; };
    client_ = std::make_unique<JudgeClient>("lane 1", silence_s_, std::move(callbacks));
    ASSERT_TRUE(client_->start(launcher_, SpawnRequest{}));
  }

  Result<JudgedReply> judge() {
    const PassedProcess handed{process_, STDERR_FILENO};
    return client_->judge(JudgeRequest(request_), &handed, {"an artifact"},
                          [this](JudgeStage stage) { seen_.emplace_back(enum_name(stage)); });
  }
  // The judge's side.
  StreamMessage receive() {
    auto message = receive_message(launcher_.judge_end.get(), kRequestBytesMax, kSeconds);
    EXPECT_TRUE(message) << message.error().message;
    return std::move(message).value();
  }
  void send(const std::string& bytes) {
    EXPECT_TRUE(send_message(launcher_.judge_end.get(), bytes, {}, kSeconds));
  }
  template <typename Answer>
  Answer ask(const JudgeCall& call) {
    send(write_message(call));
    const auto answer = read_answer(receive().bytes);
    EXPECT_TRUE(answer) << answer.error().message;
    return std::get<Answer>(*answer);
  }
  static JudgeRequest valid_request() {
    JudgeRequest request;
    request.task.id = "sample";
    request.task.entry = "scale";
    request.task.tensors = {{"x", Role::kIn, DType::kF32, {"n"}},
                            {"y", Role::kOut, DType::kF32, {"n"}}};
    request.task.arguments = {"x", "y"};
    request.task.dims = {"n"};
    request.task.families = {{"normal", {}, {}}};
    request.task.shown = {{{"n", 8}}};
    request.task.timed = {{"n", 8}};
    request.plans[Form::kEntry] = host_plan(request.task, "scale");
    return request;
  }

  double silence_s_ = kSeconds;
  bool lock_fails_ = false;
  const JudgeRequest request_ = valid_request();
  FakeLauncher launcher_;
  FakeProcess process_;
  std::vector<std::string> seen_;
  std::unique_ptr<JudgeClient> client_;
};

TEST_F(JudgeClientTest, CallsOfTheJudge_AreAnsweredBeforeTheReply) {
  std::thread judge_side([this] {
    const StreamMessage asked = receive();
    EXPECT_EQ(asked.fds.size(), 3u);  // socket, artifact, pidfd
    const auto request = read_request(asked.bytes);
    ASSERT_TRUE(request) << request.error().message;
    EXPECT_EQ(std::get<JudgeRequest>(*request).pid, process_.pid());
    send(write_message(JudgeCall(StageCall{JudgeStage::kCheck})));
    ask<YieldAnswer>(YieldCall{});
    EXPECT_TRUE(ask<QuietAnswer>(QuietCall{}).others);
    ask<EndedAnswer>(EndCall{});
    ask<ShareAnswer>(ShareCall{});
    send(write_message(JudgeReply(JudgedReply{{}, true})));
  });
  const auto judged = judge();
  judge_side.join();
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_TRUE(judged->kept);
  EXPECT_EQ(seen_, (std::vector<std::string>{"check", "yield", "quiet", "end", "share"}));
  EXPECT_FALSE(client_->awaits_reply());
}

TEST_F(JudgeClientTest, CallbackThatFails_EndsTheRequestWithItsError) {
  lock_fails_ = true;
  std::thread judge_side([this] {
    receive();
    send(write_message(JudgeCall(QuietCall{})));
  });
  const auto judged = judge();
  judge_side.join();
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().message, "another lane keeps the device");
  EXPECT_TRUE(client_->awaits_reply());
  client_->stop();
  EXPECT_FALSE(client_->is_started());
  EXPECT_FALSE(client_->awaits_reply());
}

TEST_F(JudgeClientTest, TrustedCodeThatFails_IsAJudgement) {
  std::thread judge_side([this] {
    receive();
    Judgement failed;
    failed.ending = Ending::kDied;
    failed.culprit = Culprit::kReference;
    send(write_message(JudgeReply(JudgedReply{failed})));
  });
  InstallRequest request;
  request.task = request_.task;
  request.plans = request_.plans;
  const PassedProcess handed{process_, STDERR_FILENO};
  const auto installed = client_->install(std::move(request), &handed, {"an artifact"});
  judge_side.join();
  ASSERT_TRUE(installed) << installed.error().message;
  EXPECT_EQ(std::get<Judgement>(*installed).culprit, Culprit::kReference);
}

TEST_F(JudgeClientTest, MessageThatCannotBeRead_IsAnError) {
  std::thread judge_side([this] {
    receive();
    send(to_msgpack(Value::map({{"reply", "jugded"}})));
  });
  const auto judged = judge();
  judge_side.join();
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().message, "found the reply 'jugded', which is unknown");
}

TEST_F(JudgeClientTest, ReplyToAnotherRequest_IsAnError) {
  std::thread judge_side([this] {
    receive();
    send(write_message(JudgeReply(InstalledReply{})));
  });
  const auto judged = judge();
  judge_side.join();
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().message, "judge: found the reply 'installed', expected 'judged'");
}

TEST_F(JudgeClientTest, JudgeThatHangsUp_IsUnavailable) {
  std::thread judge_side([this] {
    receive();
    launcher_.judge_end.reset();
  });
  const auto judged = judge();
  judge_side.join();
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().code, Code::kUnavailable);
}

TEST_F(JudgeClientTest, NoJudge_IsUnavailableAndTellingItIsHarmless) {
  client_->stop();
  client_->drop("k/reference");
  client_->forget(3);
  client_->trim();
  const auto judged = judge();
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().message, "the judge has ended");
}

class SilentJudge : public JudgeClientTest {
 protected:
  SilentJudge() { silence_s_ = 0.05; }
};

TEST_F(SilentJudge, SilentJudge_RequestFailsAfterItsLimit) {
  const auto judged = judge();
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().code, Code::kDeadlineExceeded);
  EXPECT_NE(judged.error().message.find("for its judge, in \"test\""), std::string::npos);
}

}  // namespace
}  // namespace hone
