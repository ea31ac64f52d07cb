// Counters, histograms, and both forms in which they leave.
#include "server/metrics.hpp"

#include "server/scripted_service.hpp"
#include "server/test_client.hpp"

namespace hone {
namespace {

TEST(Histogram, Buckets_GoOneTwoFive) {
  EXPECT_DOUBLE_EQ(Histogram::upper_s(0), 50e-6);
  EXPECT_DOUBLE_EQ(Histogram::upper_s(1), 100e-6);
  EXPECT_DOUBLE_EQ(Histogram::upper_s(2), 200e-6);
  EXPECT_DOUBLE_EQ(Histogram::upper_s(3), 500e-6);
  EXPECT_DOUBLE_EQ(Histogram::upper_s(Histogram::kBuckets - 1), 500);
}

TEST(Histogram, AddedTimes_GiveCountsAndQuantiles) {
  Histogram histogram;
  EXPECT_EQ(histogram.quantile_s(0.5), 0);
  for (int n = 0; n < 98; ++n) histogram.add(80e-6);
  histogram.add(0.15);
  histogram.add(1e9);
  EXPECT_EQ(histogram.count(), 100u);
  EXPECT_EQ(histogram.cumulative(0), 0u);
  EXPECT_EQ(histogram.cumulative(1), 98u);
  EXPECT_DOUBLE_EQ(histogram.quantile_s(0.5), 100e-6);
  EXPECT_DOUBLE_EQ(histogram.quantile_s(0.99), 0.2);
}

TEST(Metrics, ControlEndpoint_ServesMapAndText) {
  ScriptedService service;
  auto server = start_server(service);
  TestClient client(server->endpoint()), control(server->control_endpoint());
  client.send_step(1, "now");
  client.receive();
  client.send_step(2, "fail");
  client.receive();
  client.ask("stpe");
  client.send_frames({"hone/9"});
  client.receive();

  const Answer answer = control.ask("metrics");
  const Value& metrics = *answer.body.find("metrics");
  EXPECT_EQ(metrics.find("requests")->find("step")->find("ok")->as_int(), 1);
  EXPECT_EQ(metrics.find("requests")->find("step")->find("internal")->as_int(), 1);
  EXPECT_EQ(metrics.find("errors")->find("protocol")->as_int(), 2);
  EXPECT_EQ(metrics.find("errors")->find("infra")->as_int(), 1);
  EXPECT_EQ(metrics.find("malformed")->as_int(), 1);
  EXPECT_EQ(metrics.find("connections")->as_int(), 2);
  EXPECT_EQ(metrics.find("messages_received")->as_int(), 5);
  const Value& step = *metrics.find("request_seconds")->find("step");
  EXPECT_EQ(step.find("count")->as_int(), 2);
  ASSERT_FALSE(step.find("buckets")->as_map().empty());
  EXPECT_EQ(step.find("buckets")->as_map().back().second.as_int(), 2)
      << "the counts are cumulative";
  EXPECT_EQ(metrics.find("service")->find("episodes")->find("open")->as_int(), 3);

  const Answer prometheus = control.ask("metrics", Value::map({{"format", "prometheus"}}));
  const std::string text = prometheus.text("text");
  for (const std::string line :
       {"# TYPE hone_requests_total counter", "hone_requests_total{verb=\"step\",code=\"ok\"} 1",
        "hone_errors_total{class=\"protocol\"} 2", "hone_connections 2", "hone_malformed_total 1",
        "hone_malformed_messages_total 1", "hone_episodes_open 3", "hone_up 1",
        "# HELP hone_uptime_seconds Time since the start of the server.",
        "hone_request_seconds_bucket{verb=\"step\",le=\"+Inf\"} 2",
        "hone_request_seconds_count{verb=\"step\"} 2", "hone_service_episodes_open 3"}) {
    EXPECT_NE(text.find(line + "\n"), std::string::npos) << line << "\nis not in\n" << text;
  }
  const Answer renamed =
      control.ask("metrics", Value::map({{"format", "prometheus"}, {"old_names", false}}));
  EXPECT_EQ(renamed.text("text").find("hone_malformed_total"), std::string::npos);
  EXPECT_EQ(renamed.text("text").find("hone_service_"), std::string::npos);
  expect_error(control.ask("metrics", Value::map({{"format", "prometeus"}})), 1, "invalid_argument",
               "metrics: format: unknown value 'prometeus'; did you mean 'prometheus'?");
}

TEST(Metrics, StepThatTheServiceRefuses_IsABusyReply) {
  ScriptedService service;
  auto server = start_server(service);
  TestClient client(server->endpoint()), control(server->control_endpoint());
  for (const char* code : {"busy", "fail", "now"}) {
    client.send_step(1, code);
    client.receive();
  }
  EXPECT_EQ(control.ask("metrics").body.find("metrics")->find("busy")->as_int(), 1);
}

TEST(Metrics, CaughtClass_IsALabelledCounter) {
  const Value clients =
      Value::map({{"tra\"iner\n", Value::map({{"judged", 40},
                                              {"unscored", 6},
                                              {"often_unscored", true},
                                              {"second_looks", Value::map({{"agreed", 2}})},
                                              {"caught", Value::map({{"forbidden_call", 3}})},
                                              {"tool_caught", Value::map({{"early_exit", 4}})}})}});
  const Value service = Value::map(
      {{"evaluator", Value::map({{"clients", clients}, {"tools", Value::map({{"check", 5}})}})}});
  const std::string text = Metrics().to_prometheus({}, service);
  for (const std::string line :
       {"# TYPE hone_caught_total counter", "hone_judged_total{client=\"tra\\\"iner\\n\"} 40",
        "hone_unscored_total{client=\"tra\\\"iner\\n\"} 6", "# TYPE hone_often_unscored gauge",
        "hone_often_unscored{client=\"tra\\\"iner\\n\"} 1",
        "hone_caught_total{class=\"forbidden_call\",client=\"tra\\\"iner\\n\"} 3",
        "hone_caught_total{class=\"late_outputs\",client=\"tra\\\"iner\\n\"} 0",
        "hone_tool_caught_total{class=\"early_exit\",client=\"tra\\\"iner\\n\"} 4",
        "hone_tool_caught_total{class=\"late_outputs\",client=\"tra\\\"iner\\n\"} 0",
        "hone_tool_calls_total{tool=\"check\"} 5",
        "hone_second_looks_total{outcome=\"agreed\",client=\"tra\\\"iner\\n\"} 2"}) {
    EXPECT_NE(text.find(line + "\n"), std::string::npos) << line << "\nis not in\n" << text;
  }
  EXPECT_EQ(text.find("hone_service_evaluator_clients"), std::string::npos) << text;
}

TEST(Metrics, BuildCache_HasCountersAndItsSize) {
  const Value cache = Value::map({{"hits", 7}, {"misses", 3}, {"entries", 2}, {"bytes", 4096}});
  const Value service = Value::map({{"evaluator", Value::map({{"build_cache", cache}})}});
  const std::string text = Metrics().to_prometheus({}, service, false);
  for (const std::string line :
       {"# TYPE hone_build_cache_hits_total counter", "hone_build_cache_hits_total 7",
        "hone_build_cache_misses_total 3", "# TYPE hone_build_cache_bytes gauge",
        "hone_build_cache_bytes 4096"}) {
    EXPECT_NE(text.find(line + "\n"), std::string::npos) << line << "\nis not in\n" << text;
  }
}

TEST(Metrics, StageTimes_AreAHistogramWithFixedBuckets) {
  const Value stage =
      Value::map({{"count", 3}, {"sum", 2500}, {"buckets", Value::map({{"4", 1}, {"2048", 2}})}});
  const Value service =
      Value::map({{"evaluator", Value::map({{"stage_ms", Value::map({{"build", stage}})}})}});
  const std::string text = Metrics().to_prometheus({}, service, false);
  for (const std::string line : {"# TYPE hone_stage_seconds histogram",
                                 "hone_stage_seconds_bucket{stage=\"build\",le=\"0.002\"} 0",
                                 "hone_stage_seconds_bucket{stage=\"build\",le=\"0.004\"} 1",
                                 "hone_stage_seconds_bucket{stage=\"build\",le=\"1.024\"} 1",
                                 "hone_stage_seconds_bucket{stage=\"build\",le=\"2.048\"} 2",
                                 "hone_stage_seconds_bucket{stage=\"build\",le=\"+Inf\"} 3",
                                 "hone_stage_seconds_sum{stage=\"build\"} 2.5",
                                 "hone_stage_seconds_count{stage=\"build\"} 3"}) {
    EXPECT_NE(text.find(line + "\n"), std::string::npos) << line << "\nis not in\n" << text;
  }
}

TEST(Metrics, ReapedEpisodes_AreCounted) {
  ScriptedService service;
  service.reap_next(7);
  ServerOptions options = test_options();
  options.reap_interval_s = 0.001;
  auto server = start_server(service, options);
  TestClient control(server->control_endpoint());
  std::int64_t reaped = 0;
  for (int n = 0; n < 100'000 && reaped == 0; ++n) {
    reaped = control.ask("metrics").body.find("metrics")->find("episodes_reaped")->as_int();
  }
  EXPECT_EQ(reaped, 7);
}

TEST(Health, Health_HasStepsInFlight) {
  ScriptedService service;
  auto server = start_server(service);
  TestClient client(server->endpoint()), control(server->control_endpoint());
  client.send_step(1, "hold");
  client.receive();
  const Answer health = control.ask("health");
  EXPECT_EQ(health.text("status"), "serving");
  EXPECT_EQ(health.text("incarnation"), server->incarnation());
  EXPECT_EQ(health.body.find("steps")->as_int(), 1);
  EXPECT_EQ(health.body.find("in_flight")->as_int(), 2);  // the step, and this health
  service.release();
}

TEST(Health, ClosedConnection_IsNotCounted) {
  ScriptedService service;
  auto server = start_server(service);
  TestClient control(server->control_endpoint());
  const auto wait_for = [&control](std::int64_t wanted) {
    std::int64_t found = -1;
    for (int n = 0; n < 100'000 && found != wanted; ++n)
      found = control.ask("health").body.find("connections")->as_int();
    return found;
  };
  {
    TestClient first(server->endpoint()), second(server->endpoint());
    first.ask("ping");
    second.ask("ping");
    EXPECT_EQ(wait_for(3), 3);
  }
  EXPECT_EQ(wait_for(1), 1) << "only the control connection is open";
}

TEST(Metrics, Health_HasTheReasonWhyStepsFail) {
  ScriptedService service;
  std::atomic<bool> full{true};
  ServerOptions options = test_options();
  options.reap_interval_s = 0.02;
  options.problems = [&] {
    return full ? ServerProblems{{"journal: the disk is full"}, {}} : ServerProblems();
  };
  auto server = start_server(service, options);
  TestClient control(server->control_endpoint());
  Answer health = control.ask("health");
  EXPECT_EQ(health.text("status"), "failing");
  EXPECT_EQ(*health.body.find("problems"), Value::array({"journal: the disk is full"}));
  full = false;
  for (int n = 0; n < 100'000 && health.text("status") != "serving"; ++n) {
    health = control.ask("health");
  }
  EXPECT_EQ(health.text("status"), "serving");
  EXPECT_TRUE(health.body.find("problems")->as_array().empty());
}

TEST(Metrics, PartialProblem_IsListedAndTheServerIsUp) {
  ScriptedService service;
  ServerOptions options = test_options();
  options.reap_interval_s = 0.02;
  options.problems = [] { return ServerProblems{{}, {"device 1: no judge"}}; };
  auto server = start_server(service, options);
  TestClient control(server->control_endpoint());
  Answer health = control.ask("health");
  for (int n = 0; n < 100'000 && health.body.find("problems")->as_array().empty(); ++n)
    health = control.ask("health");
  EXPECT_EQ(*health.body.find("problems"), Value::array({"device 1: no judge"}));
  EXPECT_EQ(health.text("status"), "serving");
  const std::string text =
      control.ask("metrics", Value::map({{"format", "prometheus"}})).text("text");
  for (const char* sample : {"\nhone_up 1\n", "\nhone_problems 0\n"})
    EXPECT_NE(text.find(sample), std::string::npos) << sample;
}

}  // namespace
}  // namespace hone
