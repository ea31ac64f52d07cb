// Counts, rates and tables of a running server, as text.
#include "cli/top_view.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/readable.hpp"
#include "base/utf8.hpp"
#include "web/html_text.hpp"

namespace hone {
namespace {

constexpr double kHistoryS = 60;  // of samples: the longest span of a rate
constexpr double kWindowS = 300,
                 kTimesEveryS =
                     10;  // period that percentiles and means cover; interval of their samples
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kFirstWidth = 36, kFigureWidth = 10, kTitleWidth = 10;  // of columns
constexpr std::size_t kTaskLinesMin = 3;  // an empty line, the titles and one task
constexpr std::size_t kCaughtShown = 6;   // clients of each class
constexpr std::size_t kDevicesShown = 16;

/// In the order of an evaluation, as STAGES of core/web/page/app.js. "": stages that are not listed.
constexpr std::string_view kStages[] = {"queue", "build",   "wait",        "prepare", "load",
                                        "check", "measure", "second_look", "",        "total"};

std::size_t stage_place(std::string_view stage) {
  const auto place = [](std::string_view name) {
    return static_cast<std::size_t>(std::find(std::begin(kStages), std::end(kStages), name) -
                                    std::begin(kStages));
  };
  return std::min(place(stage), stage == "total" ? std::size(kStages) : place(""));
}

double number_or_0(const Value& value) {
  return value.is_number() && std::isfinite(value.as_double()) ? value.as_double() : 0;
}

double sum(const Value& counts) {
  double total = 0;
  for (const auto& [name, count] : map_or_empty(counts)) total += number_or_0(count);
  return total;
}
double mean(const Value& of) {
  const double count = number_or_0(member_or_nil(of, "count"));
  return count > 0 ? number_or_0(member_or_nil(of, "sum")) / count : kUnknown;
}

/// NaN if an older server does not have the sum of the logarithms.
double geometric_mean(const Value& of) {
  const double count = number_or_0(member_or_nil(of, "count"));
  return count > 0 ? std::exp(number_or_nan(member_or_nil(of, "log_sum")) / count) : kUnknown;
}

std::map<double, double> bucket_counts(const Value& of) {
  std::map<double, double> counts;
  for (const auto& [text, count] : map_or_empty(member_or_nil(of, "buckets"))) {
    const double bound = std::atof(text.c_str());
    if (std::isfinite(bound)) counts[bound] = number_or_0(count);
  }
  return counts;
}

/// The upper bound of the histogram's interval in which a quantile lies.
double quantile(const Value& of, double q) {
  const double total = number_or_0(member_or_nil(of, "count"));
  const std::map<double, double> counts = bucket_counts(of);
  for (const auto& [bound, cumulative] : counts) {
    if (total > 0 && cumulative >= q * total) return bound;
  }
  return total > 0 && !counts.empty() ? counts.rbegin()->first : kUnknown;
}

/// The difference of two states of a histogram. Buckets are cumulative; bounds of empty buckets are missing.
Value grown(const Value& now, const Value& before) {
  if (!before.is_map()) return now;
  const std::map<double, double> earlier = bucket_counts(before);
  Value buckets = Value::map();
  for (const auto& [bound, count] : map_or_empty(member_or_nil(now, "buckets"))) {
    const auto above = earlier.upper_bound(std::atof(bound.c_str()));
    const double less = above == earlier.begin() ? 0 : std::prev(above)->second;
    buckets.set(bound, std::max(number_or_0(count) - less, 0.0));
  }
  const auto difference = [&](const char* key) {
    return number_or_0(member_or_nil(now, key)) - number_or_0(member_or_nil(before, key));
  };
  return Value::map({{"count", std::max(difference("count"), 0.0)},
                     {"sum", difference("sum")},
                     {"buckets", std::move(buckets)}});
}

std::string count_text(double count) {
  const bool known = std::isfinite(count) && std::fabs(count) < 1e15;
  return known ? grouped_number(static_cast<std::int64_t>(std::llround(count))) : "–";
}
/// "1 client", "2 clients"
std::string counted_unit(double count, const std::string& unit) {
  return count_text(count) + " " + unit + (count == 1 ? "" : "s");
}
/// "build failed", as on the web page.
std::string spaced_name(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}
/// Lines of at most `columns`, broken between words. A longer word gets a line of its own. 0: one line.
std::vector<Row> message_rows(const std::string& message, std::size_t columns, Colour colour) {
  std::vector<Row> rows;
  std::string line;
  const std::string text = printable(message);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string word = text.substr(start, end - start);
    if (columns != 0 && !line.empty() && text_width(line) + 1 + text_width(word) > columns) {
      rows.push_back({{line, colour}});
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    start = end + 1;
  }
  rows.push_back({{line, colour}});
  return rows;
}
std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds)) return "–";
  if (seconds == 0) return "0";
  if (seconds < 1e-3) return short_number(seconds * 1e6, 2) + " µs";
  if (seconds < 1) return short_number(seconds * 1e3) + " ms";
  if (seconds < 120) return short_number(seconds) + " s";
  const auto minutes = static_cast<std::int64_t>(std::min(seconds / 60, 1e9));
  if (minutes < 120) return std::to_string(minutes) + " min";
  return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
}
std::string at_most(double seconds) {
  return std::isfinite(seconds) ? "≤ " + seconds_text(seconds) : "–";
}
std::string bytes_text(double bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(units); ++unit) bytes /= 1000;
  return std::isfinite(bytes) ? short_number(bytes) + " " + units[unit] : "–";
}
std::string clock_text(double at) { return utc_text(at, "%H:%M:%S UTC"); }

/// A name's first characters, padded to a column.
Cell name_cell(const std::string& name, Colour colour = Colour::kPlain) {
  std::string shown;
  std::size_t width = 0;
  for (const char c : name) {
    width += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    if (width > kFirstWidth) break;
    shown += c;
  }
  return {shown + std::string(kFirstWidth - std::min(width, kFirstWidth), ' '), colour};
}
Cell number_cell(const std::string& number, Colour colour = Colour::kPlain) {
  const std::size_t width = text_width(number);
  return {std::string(kFigureWidth > width ? kFigureWidth - width : 1, ' ') + number, colour};
}
Row labelled(const std::string& label, std::string said, Colour colour = Colour::kPlain) {
  return {{label + std::string(kTitleWidth - label.size(), ' '), Colour::kDim},
          {std::move(said), colour}};
}
Row titles(const std::string& first, const std::vector<const char*>& others) {
  Row row = {name_cell(first, Colour::kBold)};
  for (const char* title : others) row.push_back(number_cell(title, Colour::kBold));
  return row;
}

/// "correct 12 (60 %)  wrong 8 (40 %)": the most frequent first. Without `shares`, names are codes and stay as they are.
std::string shares_text(const Value& counts, bool shares) {
  std::vector<std::pair<std::string, double>> order;
  for (const auto& [name, count] : map_or_empty(counts)) {
    if (number_or_0(count) > 0)
      order.emplace_back(shares ? spaced_name(name) : name, number_or_0(count));
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  const double total = sum(counts);
  std::string said;
  for (const auto& [name, count] : order) {
    said += (said.empty() ? "" : "  ") + name + " " + count_text(count);
    if (shares) said += " (" + percent_text(count / total) + ")";
  }
  return said;
}

/// "late outputs 3 (trainer-a 2, trainer-b 1)", the most frequent classes first.
std::string caught_text(const Value& clients) {
  std::map<std::string, std::vector<std::pair<double, std::string>>> classes;
  for (const auto& [client, of] : map_or_empty(clients)) {
    for (const auto& [name, count] : map_or_empty(member_or_nil(of, "caught")))
      classes[name].emplace_back(number_or_0(count), client);
  }
  std::vector<std::pair<double, std::string>> order;
  for (auto& [name, found] : classes) {
    std::sort(found.begin(), found.end(), std::greater<>());
    double total = 0;
    std::string said;
    for (std::size_t i = 0; i < found.size(); ++i) {
      total += found[i].first;
      if (i < kCaughtShown)
        said += (i == 0 ? "" : ", ") + found[i].second + " " + count_text(found[i].first);
    }
    order.emplace_back(total, spaced_name(name) + " " + count_text(total) + " (" + said +
                                  (found.size() > kCaughtShown ? ", …)" : ")"));
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string said;
  for (const auto& [total, one] : order) said += (said.empty() ? "" : "  ") + one;
  return said;
}

}  // namespace

void TopView::record(Value health, Value metrics, double at) {
  health_ = std::move(health);
  metrics_ = std::move(metrics);
  at_ = at;
  failure_.clear();
  if (const std::string now = text_or_empty(member_or_nil(health_, "incarnation"));
      now != incarnation_) {
    samples_.clear();
    times_.clear();
    incarnation_ = now;
  }
  const Value& evaluator = member_or_nil(member_or_nil(metrics_, "service"), "evaluator");
  samples_.push_back(
      {at, sum(member_or_nil(evaluator, "evaluations")) + sum(member_or_nil(evaluator, "faults")),
       member_or_nil(evaluator, "by_device")});
  while (samples_.size() > 1 && (at - samples_.front().at > kHistoryS || at < samples_.front().at))
    samples_.pop_front();
  if (times_.empty() || at - times_.back().at >= kTimesEveryS || at < times_.back().at) {
    times_.push_back(
        {at, member_or_nil(evaluator, "stage_ms"), member_or_nil(metrics_, "request_seconds")});
  }
  while (times_.size() > 1 && (at - times_.front().at > kWindowS || at < times_.front().at))
    times_.pop_front();
}

const TopView::Times* TopView::window() const {
  const bool is_young = number_or_0(member_or_nil(health_, "uptime_s")) <= kWindowS;
  return is_young || times_.empty() || times_.front().at >= at_ ? nullptr : &times_.front();
}

std::string TopView::window_text() const {
  const Times* first = window();
  if (first == nullptr) return "since the start";
  const double span_s = at_ - first->at;
  return "last " +
         (span_s > kWindowS - 1.5 * kTimesEveryS ? "5 min" : seconds_text(std::round(span_s)));
}

/// "p50 ≤ 10 ms, p99 ≤ 500 ms (last 5 min; since the start ≤ 20 ms, ≤ 1 s)"
std::string TopView::step_text() const {
  const Value& all = member_or_nil(member_or_nil(metrics_, "request_seconds"), "step");
  const auto both = [](const Value& of, const char* first, const char* second) {
    return first + at_most(quantile(of, 0.5)) + ", " + second + at_most(quantile(of, 0.99));
  };
  const Times* first = window();
  if (first == nullptr) return both(all, "p50 ", "p99 ") + " (since the start)";
  return both(grown(all, member_or_nil(first->requests, "step")), "p50 ", "p99 ") + " (" +
         window_text() + "; since the start " + both(all, "", "") + ")";
}

const TopView::Sample* TopView::since(double span_s) const {
  const auto first = std::find_if(samples_.begin(), samples_.end(), [&](const Sample& sample) {
    return samples_.back().at - sample.at <= span_s;
  });
  return first != samples_.end() && first->at < samples_.back().at ? &*first : nullptr;
}

double TopView::rate(double span_s) const {
  const Sample* first = since(span_s);
  if (first == nullptr) return kUnknown;
  return (samples_.back().done - first->done) / (samples_.back().at - first->at);
}

std::string TopView::busy_text(double span_s) const {
  const Sample* first = since(span_s);
  if (first == nullptr) return "–";
  const Sample& last = samples_.back();
  std::string said;
  std::size_t shown = 0;
  for (const auto& [device, of] : map_or_empty(last.devices)) {
    if (++shown > kDevicesShown) return said + ", …";
    const double busy_s =
        number_or_nan(member_or_nil(of, "busy_s")) -
        number_or_nan(member_or_nil(member_or_nil(first->devices, device), "busy_s"));
    said += (said.empty() ? "device " : ", device ") + device + ": " +
            percent_text(std::clamp(busy_s / (last.at - first->at), 0.0, 1.0));
  }
  return said.empty() ? "–" : said;
}

std::vector<Row> TopView::rows(std::size_t lines, std::size_t columns) const {
  std::vector<Row> all = head(columns);
  const auto left = [&] {
    return lines == 0 ? std::size_t{10'000} : lines - std::min(lines, all.size());
  };
  const auto add = [&all](const std::vector<Row>& part) {
    all.push_back({});
    all.insert(all.end(), part.begin(), part.end());
  };
  if (const std::vector<Row> part = stages(); !part.empty() && part.size() < left()) add(part);
  if (left() >= kTaskLinesMin) add(tasks(left() - 1));
  if (lines != 0 && all.size() > lines) all.resize(lines);
  return all;
}

Row TopView::title() const {
  Row row = {{"hone top  ", Colour::kBold}};
  if (!failure_.empty()) {
    const std::string since = at_ > 0 ? " since " + clock_text(at_) : "";
    row.push_back({"no answer" + since, Colour::kRed});
    row.push_back({"  " + endpoint_, Colour::kDim});
    return row;
  }
  const std::string status = text_or_empty(member_or_nil(health_, "status"));
  row.push_back({status, status == "serving" ? Colour::kGreen : Colour::kRed});
  row.push_back({"  up " + seconds_text(number_or_0(member_or_nil(health_, "uptime_s"))) + "  " +
                     clock_text(at_) + "  " + endpoint_,
                 Colour::kDim});
  return row;
}

std::vector<Row> TopView::head(std::size_t columns) const {
  const Value& service = member_or_nil(metrics_, "service");
  const Value &evaluator = member_or_nil(service, "evaluator"),
              &steps = member_or_nil(service, "steps"),
              &episodes = member_or_nil(service, "episodes"),
              &journal = member_or_nil(service, "journal");
  const double uptime_s = number_or_0(member_or_nil(health_, "uptime_s"));
  std::vector<Row> rows = {title()};
  const auto add_message = [&rows, columns](const std::string& message) {
    const std::vector<Row> lines = message_rows(message, columns, Colour::kRed);
    rows.insert(rows.end(), lines.begin(), lines.end());
  };
  if (!failure_.empty()) add_message(failure_);
  for (const Value& one : list_or_empty(member_or_nil(health_, "problems")))
    add_message(text_or_empty(one));
  const double done = samples_.empty() ? 0 : samples_.back().done;
  rows.push_back(labelled(
      "rate", figure_text(rate(10)) + "/s over 10 s, " + figure_text(rate(60)) + "/s over 1 min, " +
                  figure_text(uptime_s > 0 ? done / uptime_s : kUnknown) + "/s since the start"));
  rows.push_back(labelled("steps", count_text(number_or_nan(member_or_nil(steps, "done"))) +
                                       " done, " +
                                       count_text(number_or_nan(member_or_nil(steps, "unscored"))) +
                                       " unscored, " + step_text()));
  const double failing = number_or_0(member_or_nil(evaluator, "devices_failing"));
  rows.push_back(labelled(
      "queue",
      count_text(number_or_nan(member_or_nil(evaluator, "queue"))) + " wait for a builder, " +
          count_text(number_or_nan(member_or_nil(evaluator, "pending"))) + " under way, " +
          count_text(number_or_0(member_or_nil(evaluator, "devices")) - failing) + " of " +
          counted_unit(number_or_nan(member_or_nil(evaluator, "devices")), "device") + " working",
      failing > 0 ? Colour::kRed : Colour::kPlain));
  rows.push_back(labelled("busy", busy_text(10) + " (last 10 s)"));
  rows.push_back(labelled(
      "episodes", count_text(number_or_nan(member_or_nil(episodes, "open"))) + " open, " +
                      counted_unit(number_or_nan(member_or_nil(episodes, "clients")), "client") +
                      ", journal " +
                      (journal.is_map() ? bytes_text(number_or_nan(member_or_nil(journal, "bytes")))
                                        : "none")));
  const std::string outcomes = shares_text(member_or_nil(evaluator, "evaluations"), true);
  rows.push_back(labelled("outcomes", outcomes.empty() ? "no evaluation yet" : outcomes));
  const std::string faults = shares_text(member_or_nil(evaluator, "faults"), false);
  rows.push_back(labelled("faults", faults.empty() ? "none" : faults,
                          faults.empty() ? Colour::kPlain : Colour::kYellow));
  const std::string caught = caught_text(member_or_nil(evaluator, "clients"));
  rows.push_back(labelled("caught", caught.empty() ? "no cheat" : caught,
                          caught.empty() ? Colour::kPlain : Colour::kRed));
  return rows;
}

std::vector<Row> TopView::stages() const {
  const Value& stage_ms =
      member_or_nil(member_or_nil(member_or_nil(metrics_, "service"), "evaluator"), "stage_ms");
  if (map_or_empty(stage_ms).empty()) return {};
  const Times* first = window();
  std::vector<Row> rows = {
      titles("stage (" + window_text() + ")", {"count", "mean", "p50 ≤", "p99 ≤"})};
  Value::Map order = map_or_empty(stage_ms);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return stage_place(a.first) < stage_place(b.first);
  });
  for (const auto& [name, all] : order) {
    const Value of = first == nullptr ? all : grown(all, member_or_nil(first->stages, name));
    rows.push_back({name_cell(name == "second_look" ? "confirmation run" : spaced_name(name)),
                    number_cell(count_text(number_or_nan(member_or_nil(of, "count")))),
                    number_cell(seconds_text(mean(of) / 1e3)),
                    number_cell(seconds_text(quantile(of, 0.5) / 1e3)),
                    number_cell(seconds_text(quantile(of, 0.99) / 1e3))});
  }
  return rows;
}

std::vector<Row> TopView::tasks(std::size_t lines) const {
  struct Line {
    std::string task;
    double turns;
    const Value* of;
  };
  std::vector<Line> order;
  for (const auto& [task, of] :
       map_or_empty(member_or_nil(member_or_nil(metrics_, "service"), "tasks"))) {
    const double turns = number_or_0(member_or_nil(member_or_nil(of, "reward"), "count")) +
                         number_or_0(member_or_nil(of, "unscored"));
    if (turns > 0) order.push_back({task, turns, &of});
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Line& a, const Line& b) { return a.turns > b.turns; });
  std::vector<Row> rows = {titles("task", {"turns", "reward", "timed", "speedup", "unscored"})};
  const std::size_t room = lines - 1;
  const std::size_t shown =
      order.size() <= room ? order.size() : room - std::min<std::size_t>(room, 1);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [task, turns, of] = order[i];
    rows.push_back({name_cell(task), number_cell(count_text(turns)),
                    number_cell(figure_text(mean(member_or_nil(*of, "reward")))),
                    number_cell(count_text(
                        number_or_nan(member_or_nil(member_or_nil(*of, "speedup"), "count")))),
                    number_cell(times_text(geometric_mean(member_or_nil(*of, "speedup")))),
                    number_cell(count_text(number_or_nan(member_or_nil(*of, "unscored"))))});
  }
  if (shown < order.size())
    rows.push_back({{"… " + counted_unit(static_cast<double>(order.size() - shown), "more task"),
                     Colour::kDim}});
  if (order.empty()) rows.push_back({{"no finished turn yet", Colour::kDim}});
  return rows;
}

}  // namespace hone
