// Text of families and samples.
#include "server/prometheus.hpp"

#include <cmath>
#include <cstdio>

namespace hone {
namespace {

std::string number_text(double v) {
  if (std::isinf(v)) return v > 0 ? "+Inf" : "-Inf";
  if (std::isnan(v)) return "NaN";
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", v);
  return text;
}

/// The value of a label may be any text; three characters are escaped.
std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  return text;
}

std::string_view type_text(MetricType type) {
  switch (type) {
    case MetricType::kGauge:
      return "gauge";
    case MetricType::kCounter:
      return "counter";
    case MetricType::kHistogram:
      return "histogram";
  }
  return "untyped";
}

}  // namespace

void PrometheusText::family(std::string name, MetricType type, std::string_view help) {
  head_ = "# HELP " + name + " " + std::string(help) + "\n# TYPE " + name + " " +
          std::string(type_text(type)) + "\n";
  name_ = std::move(name);
}

void PrometheusText::sample(double value, const Labels& labels) { line("", labels, value); }

void PrometheusText::histogram(std::span<const std::pair<double, double>> buckets, double sum,
                               double count, const Labels& labels) {
  Labels with_bound = labels;
  with_bound.emplace_back("le", "");
  for (const auto& [bound, cumulative] : buckets) {
    with_bound.back().second = number_text(bound);
    line("_bucket", with_bound, cumulative);
  }
  with_bound.back().second = "+Inf";
  line("_bucket", with_bound, count);
  line("_sum", labels, sum);
  line("_count", labels, count);
}

void PrometheusText::line(std::string_view suffix, const Labels& labels, double value) {
  text_ += head_;
  head_.clear();
  text_ += name_;
  text_ += suffix;
  if (!labels.empty()) {
    char before = '{';
    for (const auto& [label, its] : labels) {
      text_ += before;
      text_ += std::string(label) + "=\"" + escaped(its) + "\"";
      before = ',';
    }
    text_ += '}';
  }
  text_ += " " + number_text(value) + "\n";
}

}  // namespace hone
