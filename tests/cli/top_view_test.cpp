// The lines of `hone top`: rates, the room that a window has, and untrusted replies.
#include "cli/top_view.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "terminal/screen.hpp"

namespace hone {
namespace {

Value metrics_of(std::int64_t done, std::size_t tasks = 1, const std::string& name = "tasks/a") {
  Value by_task = Value::map();
  for (std::size_t i = 0; i < tasks; ++i) {
    by_task.set(name + (i == 0 ? "" : std::to_string(i)),
                Value::map({{"reward", Value::map({{"count", 4 + i}, {"sum", 2.0}})},
                            {"speedup",
                             Value::map({{"count", 2}, {"sum", 8.5}, {"log_sum", std::log(4.0)}})},
                            {"unscored", 1}}));
  }
  const Value stage =
      Value::map({{"count", 10}, {"sum", 50.0}, {"buckets", Value::map({{"5", 5}, {"10", 10}})}});
  return Value::map(
      {{"request_seconds",
        Value::map({{"step", Value::map({{"count", 10},
                                         {"sum", 1.0},
                                         {"buckets", Value::map({{"0.01", 9}, {"0.5", 10}})}})}})},
       {"service",
        Value::map(
            {{"steps", Value::map({{"done", done}, {"unscored", 0}})},
             {"episodes", Value::map({{"open", 3}, {"clients", 2}})},
             {"tasks", by_task},
             {"evaluator",
              Value::map(
                  {{"queue", 7},
                   {"pending", 5},
                   {"devices", 2},
                   {"devices_failing", 1},
                   {"evaluations", Value::map({{"correct", done}, {"wrong", 0}})},
                   {"faults", Value::map({{"device_lost", 2}})},
                   {"clients",
                    Value::map(
                        {{"x", Value::map({{"caught", Value::map({{"late_outputs", 1}})}})},
                         {"y", Value::map({{"caught", Value::map({{"late_outputs", 4}})}})}})},
                   {"stage_ms", Value::map({{"attempts", stage},
                                            {"build", stage},
                                            {"check", stage},
                                            {"queue", stage},
                                            {"total", stage}})}})}})}});
}

Value health_of(const std::string& incarnation = "one") {
  return Value::map({{"status", "serving"}, {"uptime_s", 100.0}, {"incarnation", incarnation}});
}

std::string all_of(const TopView& view, std::size_t lines = 0, std::size_t columns = 0) {
  const Terminal terminal(false, false);
  std::string text;
  for (const std::string& line : painted(terminal, view.rows(lines, columns), columns))
    text += line + "\n";
  return text;
}

TEST(TopView, Figures_AreThoseOfTheReplies) {
  TopView view("tcp://here");
  view.record(health_of(), metrics_of(100), 1000);
  view.record(health_of(), metrics_of(120), 1005);
  const std::string text = all_of(view);
  for (const char* words :
       {"serving  up 100 s  00:16:45 UTC  tcp://here", "4/s over 10 s", "1.22/s since the start",
        "120 done, 0 unscored, p50 ≤ 10.0 ms, p99 ≤ 500 ms (since the start)",
        "stage (since the start) ", "7 wait for a builder, 5 under way, 1 of 2 devices",
        "3 open, 2 clients, journal none", "correct 120 (100 %)", "device_lost 2",
        "late outputs 5 (y 4, x 1)"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << " in:\n" << text;
  }
  EXPECT_NE(text.find("0.5         2     2.00×         1\n"), std::string::npos) << text;
  std::size_t before = 0;
  for (const char* stage : {"\nqueue ", "\nbuild ", "\ncheck ", "\nattempts ", "\ntotal "}) {
    EXPECT_GT(text.find(stage), before) << stage << " in the order of an evaluation:\n" << text;
    before = text.find(stage);
  }
  EXPECT_NE(text.find("10   5.00 ms   5.00 ms   10.0 ms\n"), std::string::npos) << text;
}

Value histogram(std::int64_t count, double sum, Value buckets) {
  return Value::map({{"count", count}, {"sum", sum}, {"buckets", std::move(buckets)}});
}
Value metrics_with_times(const Value& build_ms, const Value& step_s) {
  return Value::map(
      {{"request_seconds", Value::map({{"step", step_s}})},
       {"service", Value::map({{"evaluator",
                                Value::map({{"stage_ms", Value::map({{"build", build_ms}})}})}})}});
}

TEST(TopView, TimesOfALongRun_AreThoseOfTheLastFiveMinutes) {
  TopView view("tcp://here");
  const auto record = [&view](double at, const Value& build_ms, const Value& step_s) {
    view.record(Value::map({{"incarnation", "one"}, {"uptime_s", at}}),
                metrics_with_times(build_ms, step_s), at);
  };
  // A day of fast steps and builds; then ten slow ones within the last five minutes.
  const Value day = histogram(86'000, 860, Value::map({{"0.01", 85'000}, {"20", 86'000}}));
  const Value builds = histogram(1000, 64'000, Value::map({{"64", 1000}}));
  record(86'000, builds, day);
  EXPECT_NE(all_of(view).find("p50 ≤ 10.0 ms, p99 ≤ 20.0 s (since the start)"), std::string::npos)
      << "there is no earlier sample\n"
      << all_of(view);
  record(86'095, builds, day);
  EXPECT_NE(all_of(view).find("p50 –, p99 – (last 95.0 s; since the start ≤ 10.0 ms, ≤ 20.0 s)"),
            std::string::npos)
      << all_of(view);
  record(86'110, builds, day);
  for (int at = 86'111; at < 86'400; ++at) record(at, builds, day);
  const Value slow = histogram(
      86'010, 880, Value::map({{"0.01", 85'000}, {"2", 85'009}, {"5", 85'010}, {"20", 86'010}}));
  record(86'405, histogram(1010, 84'480, Value::map({{"64", 1000}, {"2048", 1010}})), slow);
  const std::string text = all_of(view);
  EXPECT_NE(
      text.find("p50 ≤ 2.00 s, p99 ≤ 5.00 s (last 5 min; since the start ≤ 10.0 ms, ≤ 20.0 s)"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("stage (last 5 min) "), std::string::npos) << text;
  EXPECT_NE(text.find("10    2.05 s    2.05 s    2.05 s\n"), std::string::npos) << text;
  record(87'000, builds, day);  // no sample was taken for ten minutes
  EXPECT_NE(all_of(view).find("(since the start)"), std::string::npos) << all_of(view);
}

Value metrics_with_devices(Value devices) {
  return Value::map(
      {{"service", Value::map({{"evaluator", Value::map({{"by_device", std::move(devices)}})}})}});
}
Value metrics_with_busy(const std::vector<double>& busy_s) {
  Value devices = Value::map();
  for (std::size_t i = 0; i < busy_s.size(); ++i)
    devices.set(std::to_string(i), Value::map({{"evaluations", 1}, {"busy_s", busy_s[i]}}));
  return metrics_with_devices(std::move(devices));
}

TEST(TopView, BusyTime_OfTwoSamples_IsShownAsAShare) {
  TopView view("tcp://here");
  view.record(health_of(), metrics_with_busy({100, 40}), 1000);
  EXPECT_NE(all_of(view).find("busy      – (last 10 s)"), std::string::npos);
  view.record(health_of(), metrics_with_busy({104, 41}), 1004);
  EXPECT_NE(all_of(view).find("busy      device 0: 100 %, device 1: 25 % (last 10 s)"),
            std::string::npos)
      << all_of(view);
  view.record(health_of("restarted"), metrics_with_busy(std::vector<double>(17, 0)), 1005);
  view.record(health_of("restarted"), metrics_with_busy(std::vector<double>(17, 1)), 1007);
  EXPECT_NE(all_of(view).find("device 15: 50 %, … (last 10 s)"), std::string::npos) << all_of(view);
}

TEST(TopView, BusyTime_Missing_IsShownAsADash) {
  TopView view("tcp://here");
  view.record(health_of(), metrics_with_busy({}), 1000);
  view.record(health_of(), metrics_with_devices(Value::map({{"0", "no map"}})), 1002);
  EXPECT_NE(all_of(view).find("busy      device 0: – (last 10 s)"), std::string::npos)
      << all_of(view);
}

TEST(TopView, AnotherServerAtTheEndpoint_StartsTheRateAnew) {
  TopView view("tcp://here");
  view.record(health_of("one"), metrics_of(1000), 1000);
  view.record(health_of("two"), metrics_of(0), 1001);
  EXPECT_NE(all_of(view).find("–/s over 10 s"), std::string::npos) << all_of(view);
  view.record(health_of("two"), metrics_of(10), 1002);
  EXPECT_NE(all_of(view).find("10/s over 10 s"), std::string::npos) << all_of(view);
}

TEST(TopView, ServerThatIsAway_IsNamedUntilItAnswers) {
  TopView view("tcp://here");
  view.record(health_of(), metrics_of(1), 1000);
  view.record_failure("timed out");
  const std::string away = all_of(view);
  EXPECT_EQ(away.find("hone top  no answer since 00:16:40 UTC  tcp://here\ntimed out\n"), 0u)
      << away;
  EXPECT_EQ(away.find("serving"), std::string::npos) << away;
  EXPECT_EQ(away.find("up 100 s"), std::string::npos) << away;
  EXPECT_NE(away.find("late outputs 5"), std::string::npos) << "the last figures stay";
  view.record(health_of(), metrics_of(1), 1001);
  EXPECT_EQ(all_of(view).find("no answer"), std::string::npos);
}

TEST(TopView, LongMessage_IsWrappedAtTheWindow) {
  TopView view("tcp://here");
  view.record(health_of(), metrics_of(1), 1000);
  view.record_failure("no hone server answered at tcp://here; start one with hone serve");
  EXPECT_NE(
      all_of(view, 24, 30)
          .find("\nno hone server answered at\ntcp://here; start one with\nhone serve\nrate "),
      std::string::npos)
      << all_of(view, 24, 30);
}

TEST(TopView, Outcome_IsNamedAsOnTheWebPage) {
  TopView view("tcp://here");
  const Value evaluations = Value::map({{"build_failed", 1}});
  view.record(
      health_of(),
      Value::map(
          {{"service", Value::map({{"episodes", Value::map({{"clients", 1}})},
                                   {"evaluator", Value::map({{"evaluations", evaluations}})}})}}),
      1000);
  EXPECT_NE(all_of(view).find("build failed 1 (100 %)"), std::string::npos) << all_of(view);
  EXPECT_NE(all_of(view).find(" 1 client,"), std::string::npos) << all_of(view);
}

TEST(TopView, Window_OfAnySizeIsNotExceeded) {
  TopView view("tcp://here");
  view.record(health_of(), metrics_of(100, 300), 1000);
  const Terminal terminal(false, false);
  for (std::size_t lines = 1; lines < 60; ++lines) {
    const auto shown = painted(terminal, view.rows(lines), 5 + lines);
    EXPECT_LE(shown.size(), lines);
    for (const std::string& line : shown) EXPECT_LE(text_width(line), 5 + lines) << line;
  }
  EXPECT_EQ(view.rows(40).size(), 40u) << "as many tasks as fit";
  EXPECT_NE(all_of(view, 40).find(" more tasks\n"), std::string::npos);
  EXPECT_EQ(all_of(view).find(" more tasks"), std::string::npos) << "without a limit all are shown";
}

TEST(TopView, HostileNames_CannotSteerTheTerminal) {
  TopView view("tcp://here");
  view.record(health_of("one"), metrics_of(1, 1, "\x1b]0;pwn\x07\x1b[2J\r\nx\xe2\x80\xae"), 1000);
  view.record_failure("\x1b[2J");
  const Terminal terminal(false, false);
  for (const std::string& line : painted(terminal, view.rows(0), 0)) {
    EXPECT_EQ(line.find_first_of("\x1b\x07\r\n"), std::string::npos) << line;
    EXPECT_EQ(line.find("\xe2\x80\xae"), std::string::npos) << line;
  }
}

TEST(TopView, RepliesOfAnotherForm_CountAsMissing) {
  TopView view("tcp://here");
  for (const Value& odd :
       {Value(), Value("text"), Value::array({1}), Value::map({{"service", 3}}),
        Value::map({{"service", Value::map({{"evaluator", Value::array()}, {"tasks", "x"}})}})}) {
    view.record(odd, odd, 1000);
    EXPECT_NE(all_of(view, 24).find("no evaluation yet"), std::string::npos);
  }
  TopView empty("tcp://here");
  empty.record_failure("timed out");
  EXPECT_NE(all_of(empty).find("timed out"), std::string::npos);
}

}  // namespace
}  // namespace hone
