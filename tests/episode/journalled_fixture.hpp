// An EpisodeService with a journal in a temporary folder, which can be restarted.
#pragma once

#include <future>

#include "episode/recording.hpp"
#include "episode/service_fixture.hpp"

namespace hone::test {

class JournalledTest : public ServiceTest {
 protected:
  JournalledTest() {
    std::string name = (std::filesystem::temp_directory_path() / "hone-restart-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~JournalledTest() override {
    service.reset();
    journal_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  void SetUp() override { start(); }

  void start() {
    JournalOptions options;
    options.path = folder_ / "journal.db";
    auto journal = Journal::open(options);
    ASSERT_TRUE(journal) << journal.error().message;
    journal_ = std::move(*journal);
    options_.journal = journal_.get();
    make();
  }
  /// As after kill -9, as far as the service goes: it is not told, and remembers nothing.
  void restart() {
    service.reset();
    journal_.reset();
    evaluator.release();
    start();
  }
  void settle() const override {
    std::promise<void> done;
    journal_->sync([&](const Status&) { done.set_value(); });
    done.get_future().wait();
  }
  Value reset_with(Value body) {
    Answer answer;
    service->reset(me, body, answer.take());
    settle();
    EXPECT_EQ(answer.count, 1);
    return answer.body();
  }
  Value opened() { return reset_with(Value::map({{"task", "add_relu"}})); }
  Value stepped(const Value& episode, std::int64_t turn, const std::string& code) {
    Answer answer;
    step(answer, episode, turn, code);
    settle();
    EXPECT_EQ(answer.count, 1);
    return answer.body();
  }
  StoredEpisode recorded(const Value& episode) const {
    return **journal_->reader().episode(episode_number(episode.find("episode")->as_string()));
  }
  /// The same turn as a later version of hone would have recorded it, with an outcome of its own.
  static TurnRecord with_outcome(TurnRecord turn, const std::string& outcome) {
    Value reply = *recorded_value(*turn.reply);
    Value info = at(reply, {"info"}), verdict = at(info, {"verdict"});
    reply.set("info", info.set("verdict", verdict.set("outcome", outcome)));
    turn.outcome = outcome;
    turn.reply = std::make_shared<const std::string>(to_msgpack(reply));
    return turn;
  }
  Result<Value> resumed(const Value& episode, const Caller& caller) {
    return service->resume(caller, Value::map({{"episode", *episode.find("episode")},
                                               {"token", *episode.find("token")}}));
  }

  std::filesystem::path folder_;
  std::unique_ptr<Journal> journal_;
};

}  // namespace hone::test
