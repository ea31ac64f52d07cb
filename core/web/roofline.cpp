#include "web/roofline.hpp"

#include <algorithm>
#include <cmath>

#include "web/html_text.hpp"
#include "web/svg.hpp"

namespace hone {
namespace {

constexpr double kPlotWidth = 720, kPlotHeight = 420;
constexpr double kMarginLeft = 100, kMarginRight = 20, kMarginTop = 44,
                 kMarginBottom = 52;  // margins around the plot
constexpr double kLabelHeight = 16;
constexpr std::size_t kTitleShown = 80;
constexpr double kLeast =
    1e-24;  // figures outside [1e-24, 1e24] are a plugin's mistake; they would need endless axes

constexpr const char* kRooflineStyle = R"(<style>
svg { --back: #fff; --line: #dfe3e6; --text: #1b2126; --dim: #5c6870; --accent: #14665a; --base: #a86400; }
@media (prefers-color-scheme: dark) {
  svg { --back: #1a2026; --line: #2f3840; --text: #e4e9ec; --dim: #97a4ad; --accent: #5fc7b1; --base: #e8b155; }
}
text { font: 13px system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif; fill: var(--dim); }
.title { font-size: 15px; font-weight: 600; fill: var(--text); }
.name { fill: var(--text); }
.back { fill: var(--back); }
.grid { stroke: var(--line); stroke-width: 1; }
.roof { fill: none; stroke: var(--accent); stroke-width: 2.5; stroke-linejoin: round; }
.task { stroke: var(--dim); stroke-width: 1; stroke-dasharray: 4 4; }
.dot { fill: var(--accent); }
.base { fill: var(--base); }
</style>
)";

/// "12.3 GFLOP/s"
std::string rate_text(double rate, const char* unit) {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  for (; rate >= 1000 && prefix + 1 < std::size(kPrefixes); ++prefix) rate /= 1000;
  return figure_text(rate) + " " + kPrefixes[prefix] + unit;
}

double decade_below(double value) { return std::pow(10, std::floor(std::log10(value))); }
double decade_above(double value) { return std::pow(10, std::ceil(std::log10(value))); }

/// The drawing's axes. All values are positive.
struct Axes {
  double x_low, x_high, y_low, y_high;

  explicit Axes(const Roofline& r) {
    const double ridge = r.peak_flops_per_second / r.peak_bytes_per_second;
    x_low = decade_below(std::min(r.intensity, ridge) / 2);
    x_high = decade_above(std::max(r.intensity, ridge) * 2);
    y_low = r.peak_bytes_per_second * x_low;
    y_high = r.peak_flops_per_second * 1.5;
    for (const RooflinePoint& point : r.points) {
      y_low = std::min(y_low, point.flops_per_second / 1.5);
      y_high = std::max(y_high, point.flops_per_second * 1.5);
    }
    y_low = decade_below(y_low);
    y_high = decade_above(y_high);
  }
  double x(double intensity) const {
    return kMarginLeft + (kPlotWidth - kMarginLeft - kMarginRight) * std::log(intensity / x_low) /
                             std::log(x_high / x_low);
  }
  double y(double flops) const {
    return kPlotHeight - kMarginBottom -
           (kPlotHeight - kMarginTop - kMarginBottom) * std::log(flops / y_low) /
               std::log(y_high / y_low);
  }
};

std::string grid(const Axes& axes) {
  std::string drawn;
  for (double mark = axes.x_low; mark <= axes.x_high * 1.001; mark *= 10) {
    const double x = axes.x(mark);
    drawn += svg_line(x, kMarginTop, x, kPlotHeight - kMarginBottom, "grid") +
             svg_label(x, kPlotHeight - kMarginBottom + 18, figure_text(mark), "middle");
  }
  for (double mark = axes.y_low; mark <= axes.y_high * 1.001; mark *= 10) {
    const double y = axes.y(mark);
    drawn += svg_line(kMarginLeft, y, kPlotWidth - kMarginRight, y, "grid") +
             svg_label(kMarginLeft - 8, y + 4, rate_text(mark, "FLOP/s"), "end");
  }
  return drawn + svg_label((kMarginLeft + kPlotWidth - kMarginRight) / 2, kPlotHeight - 12,
                           "arithmetic intensity: FLOP for each byte that a call must move",
                           "middle");
}

std::string roof(const Roofline& r, const Axes& axes) {
  const double ridge = r.peak_flops_per_second / r.peak_bytes_per_second;
  const auto corner = [&axes](double intensity, double flops) {
    return svg_number(axes.x(intensity)) + "," + svg_number(axes.y(flops));
  };
  const std::string line = corner(axes.x_low, r.peak_bytes_per_second * axes.x_low) + " " +
                           corner(ridge, r.peak_flops_per_second) + " " +
                           corner(axes.x_high, r.peak_flops_per_second);
  // The label of memory stands at a quarter of its line, above it and turned by its slope.
  const double quarter = axes.x_low * std::pow(ridge / axes.x_low, 0.25);
  const double x = axes.x(quarter), y = axes.y(r.peak_bytes_per_second * quarter);
  const double slope = std::atan2(axes.y(r.peak_flops_per_second) - y, axes.x(ridge) - x);
  return "<polyline points=\"" + line + "\" class=\"roof\"/>" + "<text x=\"" + svg_number(x) +
         "\" y=\"" + svg_number(y) + "\" dy=\"-8\" transform=\"rotate(" +
         svg_number(slope * 180 / std::acos(-1.0)) + " " + svg_number(x) + " " + svg_number(y) +
         ")\">memory: " + rate_text(r.peak_bytes_per_second, "B/s") + "</text>" +
         svg_label(kPlotWidth - kMarginRight, axes.y(r.peak_flops_per_second) - 8,
                   "arithmetic: " + rate_text(r.peak_flops_per_second, "FLOP/s"), "end");
}

std::string points(const Roofline& r, const Axes& axes) {
  const double permitted = std::min(r.peak_flops_per_second, r.intensity * r.peak_bytes_per_second);
  const double x = axes.x(r.intensity);
  const bool left =
      x > kPlotWidth * 0.6;  // labels are on the side of the points that has more room
  std::string drawn = svg_line(x, kMarginTop, x, kPlotHeight - kMarginBottom, "task");
  std::vector<RooflinePoint> highest_first = r.points;
  std::stable_sort(highest_first.begin(), highest_first.end(), [](const auto& a, const auto& b) {
    return a.flops_per_second > b.flops_per_second;
  });
  double free_from = 0;  // labels that would overlap move down
  for (const RooflinePoint& point : highest_first) {
    const double y = axes.y(point.flops_per_second);
    const double label = std::max(y + 4, free_from);
    free_from = label + kLabelHeight;
    drawn += "<circle cx=\"" + svg_number(x) + "\" cy=\"" + svg_number(y) + "\" r=\"6\" class=\"" +
             (point.name == "baseline" ? "base" : "dot") + "\"/><text x=\"" +
             svg_number(x + (left ? -12 : 12)) + "\" y=\"" + svg_number(label) +
             "\" class=\"name\" text-anchor=\"" + (left ? "end" : "start") + "\">" +
             html_text(point.name) + ": " + rate_text(point.flops_per_second, "FLOP/s") + ", " +
             percent_text(point.flops_per_second / permitted) + " of the roof</text>";
  }
  return drawn;
}

}  // namespace

Result<Roofline> roofline_of_profile(const std::string& title, const Value& facts) {
  std::string unknown;
  const auto known = [&](const char* name) {
    const double value = number_or_nan(member_or_nil(facts, name));
    if (!(value > kLeast && value < 1 / kLeast))
      unknown += std::string(unknown.empty() ? "" : ", ") + name;
    return value;
  };
  Roofline r;
  r.title = title;
  const double flops = known("flops");
  r.peak_bytes_per_second = known("peak_bytes_per_second");
  r.peak_flops_per_second = known("peak_flops_per_second");
  r.intensity = known("intensity");
  r.points = {{"kernel", flops / (known("time_us") * 1e-6)},
              {"baseline", flops / (known("baseline_us") * 1e-6)}};
  if (unknown.empty()) return r;
  return failed_precondition("cannot draw a roofline, because these figures are unknown: " +
                             unknown);
}

std::string roofline_svg(const Roofline& roofline) {
  const Axes axes(roofline);
  const std::string size = svg_number(kPlotWidth) + " " + svg_number(kPlotHeight);
  const std::string title = html_cut(roofline.title, kTitleShown);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size + "\" width=\"" +
         svg_number(kPlotWidth) + "\" height=\"" + svg_number(kPlotHeight) +
         "\" role=\"img\" aria-label=\"roofline: " + title + "\">\n" + kRooflineStyle +
         "<rect width=\"100%\" height=\"100%\" class=\"back\"/>\n<text x=\"" +
         svg_number(kMarginLeft) + "\" y=\"26\" class=\"title\">" + title + "</text>\n" +
         grid(axes) + "\n" + roof(roofline, axes) + "\n" + points(roofline, axes) + "\n</svg>\n";
}

}  // namespace hone
