// Concurrent requests: each is answered once, and each turn is recorded once.
#include <map>
#include <thread>

#include "episode/service_fixture.hpp"

namespace hone::test {
namespace {

class ThreadsTest : public ServiceTest {
 protected:
  void SetUp() override {
    auto environment = make_kernel_refine({.templates = templates_folder()});
    std::vector<std::unique_ptr<Environment>> environments;
    environments.push_back(std::move(*environment));
    service = make_episode_service(options_, std::move(environments),
                                   *Catalog::open({task_list("tasks", {small_task()})}, {}), quick_,
                                   shipped)
                  .value();
  }
  ScriptedEvaluator quick_{[](const Submission&) { return ScriptedEvaluator::correct(1.5); }};
};

TEST_F(ThreadsTest, SameStepFromManyThreads_IsTakenOnce) {
  constexpr int kThreads = 4, kRounds = 50;
  for (int round = 0; round < kRounds; ++round) {
    const Value opened = reset();
    const std::size_t before = quick_.submissions();
    std::vector<Answer> answers(kThreads);
    {
      std::vector<std::jthread> threads;
      for (Answer& answer : answers) {
        threads.emplace_back([&] { step(answer, opened, 1, "int a;"); });
      }
    }
    for (const Answer& answer : answers) {
      ASSERT_EQ(answer.count, 1);
      ASSERT_EQ(*answer.bytes, *answers[0].bytes);
    }
    EXPECT_EQ(quick_.submissions(), before + 1);
  }
}

TEST_F(ThreadsTest, ConcurrentRequests_AreAllAnswered) {
  constexpr int kThreads = 4, kSteps = 120;
  std::vector<Value> opened;
  for (int i = 0; i < 3; ++i) opened.push_back(reset(Value::map({{"max_turns", 1000}})));
  std::atomic<int> asked{0}, answered{0};
  const auto count = [&answered](const Result<std::string>&) { ++answered; };
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kSteps; ++i) {
        const Value& episode = opened[static_cast<std::size_t>((t + i) % 3)];
        const Value name = Value::map({{"episode", at(episode, {"episode"})}});
        Value resume = name, cancel = name;
        resume.set("token", at(episode, {"token"}));
        cancel.set("turn", i / 3 + 1);
        ++asked;
        service->step(me, step_body(episode, i / 3 + 1, "int a;"), 0, {}, count);
        (void)service->resume(me, resume).ok();
        (void)service->cancel(me, cancel).ok();
        service->renew(me, {at(episode, {"episode"}).as_string()});
        if (t == 0) now_s = now_s + 1;
        if (i % 10 == 0) (void)service->stats();
        if (i % 16 == 0) service->reap();
        if (i % 40 == 39) {
          const Value mine = reset();
          step(mine, 1, "int b;");
          (void)close(me, Value::map({{"episode", at(mine, {"episode"})}})).ok();
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(asked, answered);
  EXPECT_EQ(service->pending(), 0u);
}

TEST_F(ThreadsTest, CancelDuringTheVerdict_AnswersOnce) {
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    const Value opened = reset();
    quick_.hold();
    Answer answer;
    step(answer, opened, 1, "int a;");
    Result<Value> cancelled = internal_error("not asked");
    {
      std::jthread canceller([&] {
        cancelled =
            service->cancel(me, Value::map({{"episode", at(opened, {"episode"})}, {"turn", 1}}));
      });
      std::jthread releaser([&] { quick_.release(); });
    }
    ASSERT_EQ(answer.count, 1);
    ASSERT_TRUE(cancelled.ok());
    // What cancel says is what the step was answered.
    EXPECT_EQ(at(*cancelled, {"cancelled"}).as_bool(), answer.code() == Code::kCancelled);
  }
}

}  // namespace
}  // namespace hone::test
