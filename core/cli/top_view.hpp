// TopView: the lines of `hone top`, made of a server's health and metrics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "model/value.hpp"
#include "terminal/terminal.hpp"

namespace hone {

/// One thread. Replies of a server are untrusted: members of another type count as missing.
///
///   TopView view("tcp://127.0.0.1:5918");
///   view.record(health, metrics, wall_s());
///   for (const std::string& line : painted(terminal, view.rows(24), 80)) terminal.line(line);
class TopView {
 public:
  explicit TopView(std::string endpoint) : endpoint_(std::move(endpoint)) {}

  /// `health`: the reply to this verb. `metrics`: the member "metrics" of the reply to this verb. `at`: seconds since 1970.
  void record(Value health, Value metrics, double at);
  /// The server did not answer. The last figures stay.
  void record_failure(const std::string& why) { failure_ = why; }
  /// At most `lines` rows; 0: no limit. If they do not fit, tasks are left out first, then stages. Messages are wrapped at
  /// `columns`; 0: not at all.
  std::vector<Row> rows(std::size_t lines, std::size_t columns = 0) const;

 private:
  struct Sample {
    double at = 0, done = 0;
    Value devices;  ///< their evaluations and busy times, by number
  };
  struct Times {
    double at = 0;
    Value stages, requests;  ///< histograms by name, since the start of the server
  };

  /// The oldest sample of the last `span_s`; null if it is the only one.
  const Sample* since(double span_s) const;
  /// Evaluations per second over the last `span_s`; NaN if unknown.
  double rate(double span_s) const;
  /// "device 0: 93 %, device 1: 88 %": the share of the last `span_s` in which each device was busy.
  std::string busy_text(double span_s) const;
  /// The earlier state of the histograms from which percentiles and means count; null: the start of the server.
  const Times* window() const;
  /// "last 5 min" or "since the start"
  std::string window_text() const;
  std::string step_text() const;
  std::vector<Row> head(std::size_t columns) const;
  Row title() const;
  std::vector<Row> stages() const;
  /// At most `lines` rows, at least 2: the titles, and the tasks with the most turns.
  std::vector<Row> tasks(std::size_t lines) const;

  const std::string endpoint_;
  Value health_, metrics_;
  double at_ = 0;
  std::string incarnation_, failure_;
  std::deque<Sample> samples_;
  std::deque<Times> times_;
};

}  // namespace hone
