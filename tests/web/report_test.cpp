// Reports of journals: counts, time intervals, and the escaping of a journal's texts.
#include <gtest/gtest.h>

#include <cmath>

#include "episode/episode.hpp"
#include "web/html_text.hpp"
#include "web/report_figures.hpp"
#include "web/report_page.hpp"

namespace hone {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

const Value& at(const Value& value, std::initializer_list<const char*> path) {
  const Value* found = &value;
  for (const char* key : path) found = found->find(key);
  return *found;
}

struct Played {
  std::string outcome = "correct";
  double speedup = kNone, reward = kNone;
  Value returns = {};
  std::string caught = {}, fault = {};
};

TurnRecord turn_of(std::int64_t number, const Played& played) {
  TurnRecord turn;
  turn.turn = number;
  turn.outcome = played.outcome;
  turn.scored = !played.outcome.empty();
  turn.speedup = played.speedup;
  turn.reward = played.reward;
  turn.ended = !played.returns.is_nil();
  turn.at = 1000 + static_cast<double>(number);
  Value verdict = Value::map({{"fingerprint", "cpu of a test"}, {"caught", played.caught}});
  if (std::isfinite(played.speedup)) {
    verdict.set("speedup",
                Value::map({{"low", played.speedup - 0.25}, {"high", played.speedup + 0.5}}));
  }
  turn.reply = std::make_shared<const std::string>(to_msgpack(Value::map(
      {{"returns", played.returns},
       {"info", Value::map({{"verdict", turn.scored ? verdict : Value()},
                            {"fault", played.fault.empty() ? Value() : Value(played.fault)}})}})));
  return turn;
}

StoredEpisode episode_of(const std::string& task, const std::vector<Played>& turns,
                         const std::string& client = "trainer") {
  StoredEpisode stored;
  stored.record.id = 7;
  stored.record.task = task;
  stored.record.client = client;
  stored.record.reward = "kevin";
  stored.record.opened_at = 1000;
  stored.changed_at = 1010;
  stored.state = RecordState::kEnded;
  for (const Played& one : turns)
    stored.turns.push_back(turn_of(static_cast<std::int64_t>(stored.turns.size()) + 1, one));
  return stored;
}

TEST(ReportFigures, Episode_CountsForItsTaskClientAndReward) {
  ReportFigures figures;
  ASSERT_TRUE(figures.add(
      episode_of("a", {{"wrong", kNone, 0}, {"correct", 3, 1, Value::array({0.4, 1.0})}})));
  ASSERT_TRUE(
      figures.add(episode_of("b", {{"", kNone, kNone, {}, "", "device lost"}}, "other one")));
  const Value value = figures.value();
  EXPECT_EQ(at(value, {"episodes", "all"}).as_int(), 2);
  EXPECT_EQ(at(value, {"all", "attempts"}).as_int(), 2);
  EXPECT_EQ(at(value, {"all", "unscored"}).as_int(), 1);
  EXPECT_EQ(at(value, {"all", "best_fast_p", "2"}).as_double(), 0.5) << "one of two tasks";
  const Value& task = at(value, {"tasks"}).as_array().at(0);
  EXPECT_EQ(at(task, {"name"}).as_string(), "a");
  EXPECT_EQ(at(task, {"best_low"}).as_double(), 2.75);
  EXPECT_EQ(at(task, {"best_high"}).as_double(), 3.5);
  EXPECT_EQ(at(task, {"return_mean"}).as_double(), 0.4) << "the return of the first turn";
  EXPECT_EQ(at(value, {"clients"}).as_array().size(), 2u);
  EXPECT_EQ(at(value, {"rewards"}).as_array().at(0).find("episodes")->as_int(), 2);
  EXPECT_EQ(at(value, {"faults"}).as_array().at(0).find("fault")->as_string(), "device lost");
  EXPECT_EQ(at(value, {"fingerprints"}).as_array().at(0).find("attempts")->as_int(), 2);
  const Value& bar = at(value, {"speedups"}).as_array().at(0);
  EXPECT_LE(at(bar, {"from"}).as_double(), 3);
  EXPECT_GT(at(bar, {"to"}).as_double(), 3);
}

TEST(ReportFigures, Branch_CountsOnlyItsOwnTurns) {
  ReportFigures figures;
  StoredEpisode branch = episode_of("a", {{"wrong"}, {"wrong"}, {"correct"}});
  branch.record.parent = 1;
  branch.record.parent_turn = 2;
  ASSERT_TRUE(figures.add(branch));
  EXPECT_EQ(at(figures.value(), {"all", "attempts"}).as_int(), 1);
}

TEST(ReportFigures, CaughtCheats_AreCountedByClassAndClient) {
  ReportFigures figures;
  for (const char* client : {"x", "y", "y"}) {
    ASSERT_TRUE(figures.add(episode_of("a", {{"cheated", kNone, 0, {}, "late_outputs"}}, client)));
  }
  const Value value = figures.value();
  ASSERT_EQ(at(value, {"caught"}).as_array().size(), 2u);
  EXPECT_EQ(to_json(at(value, {"caught"}).as_array().at(0)),
            R"({"class":"late_outputs","client":"y","attempts":2})");
}

TEST(ReportFigures, ManyNames_AreBounded) {
  ReportFigures figures;
  for (std::size_t i = 0; i < TaskFigures::kTasksMax + 50; ++i)
    ASSERT_TRUE(figures.add(episode_of("task " + std::to_string(i), {{"wrong"}})));
  const Value value = figures.value();
  ASSERT_EQ(at(value, {"tasks"}).as_array().size(), ReportFigures::kRowsMax);
  EXPECT_EQ(at(at(value, {"tasks"}).as_array().at(0), {"name"}).as_string(), "other");
  EXPECT_EQ(at(at(value, {"tasks"}).as_array().at(0), {"attempts"}).as_int(), 50);
  EXPECT_EQ(at(value, {"tasks_left_out"}).as_int(),
            static_cast<std::int64_t>(TaskFigures::kTasksMax + 1 - ReportFigures::kRowsMax));
}

TEST(ReportFigures, ReplyOfAnotherForm_IsAnError) {
  StoredEpisode stored = episode_of("a", {{"wrong"}});
  stored.turns[0].reply = std::make_shared<const std::string>("\xc1");
  const Status added = ReportFigures().add(stored);
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().message.find("episode 0000000000000007"), std::string::npos)
      << added.error().message;
}

TEST(TimeCourse, Intervals_AreBoundedInAnyOrder) {
  TimeCourse course;
  std::int64_t attempts = 0;
  for (const double time : {1.6e9, 1.7e9, 1.5e9, 1.7e9 + 1, 0.0, 2.5e11}) {
    course.add(time, {"a", "correct", true, 2, 1});
    ++attempts;
  }
  for (int i = 0; i < 5000; ++i, ++attempts)
    course.add(1.6e9 + 10 * i, {"a", "wrong", true, kNone, 0});
  for (const double no_time : {kNone, -1.0, 1e300})
    course.add(no_time, {"a", "wrong", true, kNone, 0});
  const Value value = course.value();
  ASSERT_LE(value.as_array().size(), TimeCourse::kIntervalsMax);
  std::int64_t counted = 0, before = -1;
  for (const Value& one : value.as_array()) {
    counted += at(one, {"attempts"}).as_int();
    EXPECT_GE(at(one, {"from"}).as_int(), before);
    before = at(one, {"to"}).as_int();
  }
  EXPECT_EQ(counted, attempts);
}

TEST(TimeCourse, Interval_HasTheMeansOfItsAttempts) {
  TimeCourse course;
  course.add(100, {"a", "correct", true, 4, 1});
  course.add(100.5, {"a", "correct", true, 1, 0.5});
  course.add(100.7, {"a", "wrong", true, 9, 0});
  course.add(100.8, {"a", "", false, kNone, kNone});
  const Value value = course.value();
  ASSERT_EQ(value.as_array().size(), 1u);
  const Value& one = value.as_array()[0];
  EXPECT_EQ(at(one, {"attempts"}).as_int(), 3);
  EXPECT_DOUBLE_EQ(at(one, {"speedup_mean"}).as_double(), 2);
  EXPECT_DOUBLE_EQ(at(one, {"reward_mean"}).as_double(), 0.5);
  EXPECT_DOUBLE_EQ(at(one, {"success"}).as_double(), 2.0 / 3);
}

Value journal_value(const std::string& name, const ReportFigures& figures) {
  Value value = Value::map({{"name", name}, {"filter", Value::map()}, {"damaged", 0}});
  const Value counted = figures.value();
  for (const auto& [key, one] : counted.as_map()) value.set(key, one);
  return value;
}

TEST(Report, TwoJournals_AreComparedByTask) {
  ReportFigures first, second;
  ASSERT_TRUE(first.add(episode_of("a", {{"correct", 2, 0.5}})));
  ASSERT_TRUE(first.add(episode_of("only first", {{"correct", 2, 0.5}})));
  ASSERT_TRUE(second.add(episode_of("a", {{"correct", 3, 1.5}, {"wrong", kNone, 0.5}})));
  const Value report =
      report_of({journal_value("a.db", first), journal_value("b.db", second)}, 1.7e9);
  const Value& row = at(report, {"comparison"}).as_array().at(0);
  EXPECT_EQ(at(row, {"task"}).as_string(), "a");
  EXPECT_EQ(at(row, {"reward_difference"}).as_array().at(0).as_double(), 0.5);
  EXPECT_EQ(at(row, {"speedup_ratio"}).as_array().at(0).as_double(), 1.5);
  const Value& alone = at(report, {"comparison"}).as_array().at(1);
  EXPECT_TRUE(at(alone, {"reward_difference"}).as_array().at(0).is_nil());
  EXPECT_TRUE(at(alone, {"sets"}).as_array().at(1).is_nil());
  const std::string html = report_html(report);
  EXPECT_NE(html.find("<h1>Comparison</h1>"), std::string::npos);
  EXPECT_NE(html.find("<span>1.50×</span>"), std::string::npos);
}

TEST(Report, TasksThatAreNotCompared_AreCounted) {
  ReportFigures first, second;
  for (std::size_t i = 0; i < ReportFigures::kRowsMax + 3; ++i)
    ASSERT_TRUE(first.add(episode_of("task " + std::to_string(i), {{"wrong"}})));
  ASSERT_TRUE(second.add(episode_of("only second", {{"wrong"}})));
  const Value report =
      report_of({journal_value("a.db", first), journal_value("b.db", second)}, 1.7e9);
  EXPECT_EQ(at(report, {"comparison_left_out"}).as_int(), 1);
  EXPECT_NE(report_html(report).find("Left out: 3 of A, 1 of all journals together."),
            std::string::npos);
}

TEST(Report, OneJournal_HasNoComparison) {
  ReportFigures figures;
  ASSERT_TRUE(figures.add(episode_of("a", {{"correct", 2, 0.5}})));
  const Value report = report_of({journal_value("a.db", figures)}, 1.7e9);
  EXPECT_TRUE(at(report, {"comparison"}).is_nil());
  const std::string html = report_html(report);
  EXPECT_EQ(html.find("Comparison"), std::string::npos);
  EXPECT_NE(html.find("2023-11-14 22:13:20 UTC"), std::string::npos);
  EXPECT_NE(html.find("1.75× to 2.50×"), std::string::npos);
}

TEST(Report, States_AreListedUnlessNoEpisodeHasThem) {
  ReportFigures figures;
  for (const RecordState state :
       {RecordState::kEnded, RecordState::kEnded, RecordState::kClosed, RecordState::kReaped}) {
    StoredEpisode stored = episode_of("a", {{"wrong"}});
    stored.state = state;
    ASSERT_TRUE(figures.add(stored));
  }
  const std::string html = report_html(report_of({journal_value("a.db", figures)}, 1.7e9));
  EXPECT_NE(html.find(">2 ended, 1 closed, 1 reaped<"), std::string::npos);
  EXPECT_NE(html.find("of 1 task<"), std::string::npos);
}

TEST(Report, HostileTexts_AreEscapedEverywhere) {
  const std::string hostile = "\"'><script>pwn()</script></style></title>&#x3c;\xe2\x80\xae";
  ReportFigures figures;
  ASSERT_TRUE(figures.add(episode_of(
      hostile, {{hostile, 2, 0.5, {}, hostile}, {"", kNone, kNone, {}, "", hostile}}, hostile)));
  Value journal = journal_value(hostile, figures);
  journal.set("filter", Value::map({{hostile, hostile}}));
  const std::string html = report_html(report_of({journal, journal}, 1.7e9));
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("\xe2\x80\xae"), std::string::npos) << "it reorders text";
  EXPECT_NE(html.find("&lt;script&gt;pwn()"), std::string::npos);
  EXPECT_NE(html.find("⟨U+202E⟩"), std::string::npos);
  EXPECT_EQ(html.find("</style>"), html.rfind("</style>"));
  EXPECT_EQ(html.find("</title>"), html.find("</title>\n<style>"))
      << "only the head's and drawings' own";
}

TEST(HtmlText, HiddenAndMarkupCharacters_AreReplaced) {
  EXPECT_EQ(html_text("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(html_text("x\x01\x7f\t\n"), "x⟨U+0001⟩⟨U+007F⟩\t\n");
  EXPECT_EQ(html_text("\xf3\xa0\x81\x81"), "⟨U+E0041⟩") << "a tag character";
  EXPECT_EQ(html_text("\xff<"), "\xef\xbf\xbd&lt;") << "bytes that are not UTF-8";
  EXPECT_EQ(html_text("größer ✓"), "größer ✓");
  EXPECT_EQ(html_cut("abcdef", 3), "ab…");
  EXPECT_EQ(html_cut("abc", 3), "abc");
  EXPECT_EQ(html_cut("<<<<", 3), "&lt;&lt;…") << "characters are counted, not escapes";
  EXPECT_EQ(html_text(""), "");
}

TEST(HtmlText, Numbers_AreRoundedAsOnTheWebPage) {
  EXPECT_EQ(figure_text(0.12345), "0.123");
  EXPECT_EQ(figure_text(1234.5), "1234.5");
  EXPECT_EQ(figure_text(0), "0");
  EXPECT_EQ(figure_text(kNone), "–");
  EXPECT_EQ(percent_text(0.033), "3.3 %");
  EXPECT_EQ(percent_text(1.0 / 3), "33 %");
  EXPECT_EQ(times_text(1.5), "1.50×");
  EXPECT_EQ(times_text(12.34), "12.3×");
}

}  // namespace
}  // namespace hone
