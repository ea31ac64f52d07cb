// branch: episodes that begin with the first turns of another one, with and without a journal.
#include <gmock/gmock.h>

#include "episode/journalled_fixture.hpp"

namespace hone::test {
namespace {

using testing::HasSubstr;

Value branch_body(const Value& episode, std::int64_t turn) {
  return Value::map(
      {{"episode", *episode.find("episode")}, {"token", *episode.find("token")}, {"turn", turn}});
}

class BranchTest : public JournalledTest {
 protected:
  Result<Value> branched(const Value& body) { return branched(body, me); }
  Result<Value> branched(const Value& body, const Caller& caller) {
    Answer answer;
    service->branch(caller, body, answer.take());
    settle();
    EXPECT_EQ(answer.count, 1);
    if (!answer.bytes) return answer.bytes.error();
    return answer.body();
  }
  /// An episode of three turns: "int a;", "int b;", "int c;".
  Value grown() {
    Value episode = opened();
    first_ = stepped(episode, 1, "int a;");
    second_ = stepped(episode, 2, "int b;");
    static_cast<void>(stepped(episode, 3, "int c;"));
    return episode;
  }
  Value first_, second_;
};

TEST_F(BranchTest, BranchAfterATurn_SharesTheTurnsUpToIt) {
  const Value parent = grown();
  const auto branch = branched(branch_body(parent, 2));
  ASSERT_TRUE(branch) << branch.error().message;
  EXPECT_EQ(at(*branch, {"turn"}), Value(2));
  EXPECT_NE(at(*branch, {"episode"}), at(parent, {"episode"}));
  EXPECT_NE(at(*branch, {"token"}), at(parent, {"token"}));
  EXPECT_EQ(at(*branch, {"info", "parent"}), at(parent, {"episode"}));
  EXPECT_EQ(at(*branch, {"info", "parent_turn"}), Value(2));
  EXPECT_EQ(at(*branch, {"observation", "turn"}), Value(2));
  EXPECT_EQ(at(*branch, {"observation", "history"}), at(second_, {"observation", "history"}));

  Value again = first_;
  again.set("episode", at(*branch, {"episode"}));
  EXPECT_EQ(stepped(*branch, 1, "int a;"), again) << "a shared turn is answered as it was";
  EXPECT_EQ(submissions.size(), 3u) << "nothing is evaluated twice";
  const Value other = stepped(*branch, 3, "int d;");
  EXPECT_EQ(at(other, {"turn"}), Value(3));
  EXPECT_EQ(submissions.size(), 4u);
  EXPECT_EQ(at(stepped(parent, 4, "int e;"), {"turn"}), Value(4)) << "the parent goes on as well";
}

TEST_F(BranchTest, Branch_IsRecordedAndOutlivesItsParent) {
  const Value parent = grown();
  const Value branch = *branched(branch_body(parent, 2));
  const StoredEpisode stored = recorded(branch);
  EXPECT_EQ(stored.record.parent, episode_number(parent.find("episode")->as_string()));
  EXPECT_EQ(stored.record.parent_turn, 2);
  ASSERT_EQ(stored.turns.size(), 2u);
  EXPECT_EQ(*stored.turns[1].action, *recorded(parent).turns[1].action);
  ASSERT_TRUE(close(me, Value::map({{"episode", at(parent, {"episode"})}})));
  restart();
  Caller later = me;
  later.connection = "connection-2";
  ASSERT_TRUE(resumed(branch, later));
  Answer answer;
  service->step(later, step_body(branch, 3, "int d;"), 0, {}, answer.take());
  settle();
  EXPECT_EQ(at(answer.body(), {"turn"}), Value(3));
}

TEST_F(BranchTest, BranchAtTurnZero_StartsTheSameTask) {
  const Value parent = grown();
  const Value branch = *branched(branch_body(parent, 0));
  EXPECT_EQ(at(branch, {"observation"}), at(parent, {"observation"}));
  EXPECT_EQ(at(branch, {"info", "task"}), at(parent, {"info", "task"}));
  EXPECT_EQ(at(branch, {"info", "seed"}), at(parent, {"info", "seed"}));
  EXPECT_EQ(at(stepped(branch, 1, "int d;"), {"turn"}), Value(1));
}

TEST_F(BranchTest, RepeatWithAKey_ReturnsTheSameBranch) {
  const Value parent = grown();
  Value body = branch_body(parent, 1);
  body.set("key", "k").set("group", "g");
  const Value branch = *branched(body);
  EXPECT_EQ(at(branch, {"info", "group"}), Value("g"));
  static_cast<void>(stepped(branch, 2, "int d;"));
  EXPECT_EQ(*branched(body), branch) << "also once it has gone on";
  restart();
  EXPECT_EQ(*branched(body), branch) << "also after a restart";
  body.set("turn", 2);
  const auto other = branched(body);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("the key belongs to another"));
}

TEST_F(BranchTest, EndedEpisode_CanBeBranchedAtAnEarlierTurn) {
  Answer answer;
  const Value parent =
      reset_with(Value::map({{"task", "add_relu"}, {"options", Value::map({{"max_turns", 2}})}}));
  static_cast<void>(stepped(parent, 1, "int a;"));
  EXPECT_EQ(at(stepped(parent, 2, "int b;"), {"truncated"}), Value(true));
  const auto last = branched(branch_body(parent, 2));
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(last.error().message, HasSubstr("ended after turn 2; branch at an earlier one"));
  ASSERT_TRUE(close(me, Value::map({{"episode", at(parent, {"episode"})}})));
  settle();
  const auto branch = branched(branch_body(parent, 1));
  ASSERT_TRUE(branch) << branch.error().message;
  EXPECT_EQ(at(stepped(*branch, 2, "int c;"), {"truncated"}), Value(true)) << "the same limit";
}

TEST_F(BranchTest, UnknownOrForeignEpisode_IsRefused) {
  const Value parent = grown();
  const auto beyond = branched(branch_body(parent, 4));
  ASSERT_FALSE(beyond);
  EXPECT_THAT(beyond.error().message, HasSubstr("found turn 4, expected at most 3"));
  Value forged = branch_body(parent, 1);
  forged.set("token", std::string(32, '0'));
  EXPECT_EQ(branched(forged).error().code, Code::kNotFound);
  forged.set("token", *parent.find("token")).set("episode", std::string(16, 'f'));
  EXPECT_EQ(branched(forged).error().code, Code::kNotFound);
  Caller other{"connection-2", "somebody"};
  EXPECT_TRUE(branched(branch_body(parent, 1), other)) << "without keys, the token is the proof";
  other.proven = true;
  EXPECT_EQ(branched(branch_body(parent, 1), other).error().code, Code::kNotFound);
  const auto negative = branched(branch_body(parent, -1));
  EXPECT_EQ(negative.error().code, Code::kInvalidArgument);
}

TEST_F(BranchTest, BranchBeyondTheEpisodeQuota_IsRefused) {
  const Value parent = grown();
  Caller poor = me;
  poor.quotas.episodes = 1;
  const auto refused = branched(branch_body(parent, 1), poor);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kResourceExhausted);
}

class BranchWithoutJournalTest : public ServiceTest {};

TEST_F(BranchWithoutJournalTest, WithoutAJournal_BranchIsMadeFromMemory) {
  const Value parent = reset();
  static_cast<void>(step(parent, 1, "int a;"));
  const Value second = step(parent, 2, "int b;");
  Answer answer;
  service->branch(me, branch_body(parent, 2), answer.take());
  const Value branch = answer.body();
  Value again = second;
  again.set("episode", at(branch, {"episode"}));
  EXPECT_EQ(step(branch, 2, "int b;"), again);
  EXPECT_EQ(at(step(branch, 3, "int c;"), {"turn"}), Value(3));
  ASSERT_TRUE(close(me, Value::map({{"episode", at(parent, {"episode"})}})));
  Answer gone;
  service->branch(me, branch_body(parent, 1), gone.take());
  EXPECT_EQ(gone.code(), Code::kNotFound);
}

}  // namespace
}  // namespace hone::test
