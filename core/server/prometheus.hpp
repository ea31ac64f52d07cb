// PrometheusText: Prometheus' text format 0.0.4, and the metrics of the episode service in it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/value.hpp"

namespace hone {

enum class MetricType { kGauge, kCounter, kHistogram };

/// A family (HELP and TYPE) is followed by its samples.
///
///   PrometheusText text;
///   text.family("hone_uptime_seconds", MetricType::kGauge, "Time since the start of the server.");
///   text.sample(12.5);
///   return text.take();
class PrometheusText {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string>>;

  /// A family without samples is left out.
  void family(std::string name, MetricType type, std::string_view help);
  void sample(double value, const Labels& labels = {});
  /// `buckets`: upper bounds in rising order with cumulative counts; +Inf is added.
  void histogram(std::span<const std::pair<double, double>> buckets, double sum, double count,
                 const Labels& labels = {});
  std::string take() { return std::move(text_); }

 private:
  void line(std::string_view suffix, const Labels& labels, double value);

  std::string text_, name_, head_;
};

/// Writes the metrics of EpisodeService::stats(). Members that are missing are left out.
void write_service_metrics(PrometheusText& text, const Value& service);
/// Writes the same under the names of hone 0.2.
void write_old_service_metrics(PrometheusText& text, const Value& service);

}  // namespace hone
