// Tables and drawings of a report.
#include "web/report_page.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/base64.hpp"
#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "base/readable.hpp"
#include "model/verdict.hpp"
#include "web/html_text.hpp"
#include "web/page_files.hpp"
#include "web/report_figures.hpp"
#include "web/svg.hpp"

namespace hone {
namespace {

constexpr std::size_t kNameShown = 80;  // characters of a name in a table; its title has all
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

constexpr const char* kEmpty = "&nbsp;";  // keeps the height of an empty line in a cell

constexpr const char* kStyle = R"(
main { max-width: 72rem; }
.tiles { grid-template-columns: repeat(auto-fit, minmax(8.2rem, 1fr)); }
.facts { margin-bottom: .8rem; }
th, td { padding-right: .55rem; font-size: .9rem; } th.r { white-space: normal; }
header { position: static; }
.pair > span { display: block; white-space: nowrap; }
dl { margin: 0; } dt { font-weight: 600; margin-top: .5rem; } dd { margin: 0; }
.chart { max-width: 46rem; }
@media (max-width: 44rem) { .chart .label { font-size: 18px; } }
@media print {
  :root {
    --back: #fff; --card: #fff; --line: #ccc; --text: #000; --dim: #444; --accent: #14665a; --soft: #eee;
    --good: #1d7f4f; --warn: #a86400; --bad: #bf2f38;
  }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  html { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  .card { border: none; padding: 0; }
  .table { overflow: visible; }
  th, td { font-size: .8rem; padding-right: .35rem; }
  tr, svg, .tile { break-inside: avoid; }
  h2 { break-after: avoid; }
}
)";

double number(const Value& map, std::string_view key) {
  return number_or_nan(member_or_nil(map, key));
}
std::string text(const Value& map, std::string_view key) {
  return text_or_empty(member_or_nil(map, key));
}
const Value::Array& list(const Value& map, std::string_view key) {
  return list_or_empty(member_or_nil(map, key));
}
std::string count(const Value& map, std::string_view key) {
  const Value& found = member_or_nil(map, key);
  return found.is_int() ? grouped_number(found.as_int()) : "–";
}
/// "1 turn", "2 turns"
std::string counted(const Value& map, std::string_view key, const std::string& unit) {
  const std::string number = count(map, key);
  return number + " " + unit + (number == "1" ? "" : "s");
}
std::string date(double seconds) {
  if (!(std::fabs(seconds) < 253402300800)) return "–";
  return utc_text(seconds, "%Y-%m-%d %H:%M:%S");
}

std::string outcome_title(std::string_view outcome) {
  std::string title(outcome);
  std::replace(title.begin(), title.end(), '_', ' ');
  return title;
}
std::string outcome_class(const std::string& outcome) {
  return parse_outcome(outcome) ? "outcome o-" + outcome : "outcome";
}

// ---- elements

std::string section(const std::string& title, const std::string& content) {
  return "<section class=\"card\"><h2>" + title + "</h2>\n" + content + "</section>\n";
}
std::string paragraph(const std::string& html, const char* look = "dim") {
  return "<p class=\"" + std::string(look) + "\">" + html + "</p>\n";
}
std::string name_html(std::string_view name) {
  return "<span title=\"" + html_text(name) + "\">" + html_cut(name, kNameShown) + "</span>";
}

/// A title, and the class of its column: "r" is right-aligned, "far" is hidden on a phone.
struct Column {
  const char *title, *look;
};

std::string table(const std::vector<Column>& columns,
                  const std::vector<std::vector<std::string>>& rows) {
  std::string html = "<div class=\"table\"><table><thead><tr>";
  for (const Column& column : columns) {
    html +=
        "<th scope=\"col\" class=\"" + std::string(column.look) + "\">" + column.title + "</th>";
  }
  html += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      html += "<td class=\"" + std::string(columns[i].look) + "\">" + row[i] + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

// ---- figures of one row

const std::vector<Column> kFigureColumns = {
    {"Episodes", "r far"},     {"Attempts", "r"},    {"Success", "r"},    {"fast_1", "r"},
    {"fast_1.5", "r far"},     {"fast_2", "r far"},  {"fast_5", "r far"}, {"Best speedup", "r"},
    {"Mean speedup", "r far"}, {"Mean reward", "r"}, {"Mean return", "r"}};

std::string interval_text(const Value& row) {
  const double low = number(row, "best_low"), high = number(row, "best_high");
  if (!std::isfinite(low) || !std::isfinite(high)) return "–";
  return times_text(low) + " to " + times_text(high);
}

/// The best speedup, with its interval where there is room.
std::string best_text(const Value& row) {
  const std::string best = times_text(number(row, "best_speedup"));
  if (!std::isfinite(number(row, "best_low"))) return best;
  return best + " <span class=\"dim far\">(" + interval_text(row) + ")</span>";
}

/// As kFigureColumns; `row` nil: no value.
std::vector<std::string> figure_cells(const Value& row) {
  const Value& fast = member_or_nil(row, "fast_p");
  return {count(row, "episodes"),
          count(row, "attempts"),
          percent_text(number(row, "success")),
          percent_text(number(fast, "1")),
          percent_text(number(fast, "1.5")),
          percent_text(number(fast, "2")),
          percent_text(number(fast, "5")),
          best_text(row),
          times_text(number(row, "speedup_mean")),
          figure_text(number(row, "reward_mean")),
          figure_text(number(row, "return_mean"))};
}

std::vector<Column> with_figures(std::vector<Column> columns) {
  columns.insert(columns.end(), kFigureColumns.begin(), kFigureColumns.end());
  return columns;
}

/// The number of rows of a table that are left out.
std::int64_t left_out_of(const Value& of, const std::string& key) {
  const Value& left = member_or_nil(of, key + "_left_out");
  return left.is_int() ? left.as_int() : 0;
}

std::string group_table(const Value& journal, const char* key, const char* title,
                        const char* plural) {
  std::vector<std::vector<std::string>> rows;
  for (const Value& row : list(journal, key)) {
    std::vector<std::string> cells = {name_html(text(row, "name"))};
    const std::vector<std::string> figures = figure_cells(row);
    cells.insert(cells.end(), figures.begin(), figures.end());
    rows.push_back(std::move(cells));
  }
  std::string html = table(with_figures({{title, "t"}}), rows);
  if (const std::int64_t left = left_out_of(journal, key); left > 0) {
    html += paragraph(grouped_number(left) + " " + plural + " with fewer attempts are left out.");
  }
  return html;
}

// ---- drawings

std::string svg(double width, double height, const std::string& said, const std::string& content) {
  return "<svg class=\"chart\" width=\"100%\" viewBox=\"0 0 " + svg_number(width) + " " +
         svg_number(height) + "\" role=\"img\" aria-label=\"" + said + "\">" + content + "</svg>\n";
}

std::string outcomes_html(const Value& all) {
  constexpr double kWidth = 1000, kHeight = 16;
  std::vector<std::pair<std::string, std::int64_t>> counts;
  std::int64_t total = 0;
  if (const Value& outcomes = member_or_nil(all, "outcomes"); outcomes.is_map()) {
    for (const auto& [outcome, n] : outcomes.as_map()) {
      counts.emplace_back(outcome, n.as_int());
      total += n.as_int();
    }
  }
  if (total == 0) return paragraph("No attempt.");
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string bar, legend;
  double x = 0;
  for (const auto& [outcome, n] : counts) {
    const double share = static_cast<double>(n) / static_cast<double>(total);
    const std::string look = outcome_class(outcome);
    bar += "<rect x=\"" + svg_number(x) + "\" y=\"0\" width=\"" +
           svg_number(std::max(kWidth * share - 0.4, 0.3)) + "\" height=\"16\" class=\"" + look +
           "\"/>";
    x += kWidth * share;
    legend +=
        "<li><svg width=\"10\" height=\"10\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect "
        "width=\"10\" height=\"10\" rx=\"2.5\" class=\"" +
        look + "\"/></svg>" + html_cut(outcome_title(outcome), kNameShown) + " <b>" +
        grouped_number(n) + "</b> <span class=\"dim\">" + percent_text(share) + "</span></li>";
  }
  return "<svg width=\"100%\" height=\"16\" viewBox=\"0 0 " + svg_number(kWidth) + " " +
         svg_number(kHeight) +
         "\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"shares of the outcomes\">" +
         bar + "</svg>\n<ul class=\"legend\">" + legend + "</ul>\n";
}

/// Correct, timed attempts by their speedup, on a logarithmic scale.
std::string speedups_html(const Value& journal) {
  const Value::Array& bars = list(journal, "speedups");
  if (bars.empty()) return paragraph("No correct attempt was timed.");
  constexpr double kWidth = 720, kHeight = 170, kLeft = 56, kBottom = 24;
  const double low = std::log2(std::min(0.5, number(bars.front(), "from")));
  const double high = std::log2(std::max(2.0, number(bars.back(), "to")));
  double top = 0;
  for (const Value& bar : bars) top = std::max(top, number(bar, "attempts"));
  const auto x = [&](double speedup) {
    return kLeft + (kWidth - kLeft - 10) * (std::log2(speedup) - low) / (high - low);
  };
  const double base = kHeight - kBottom;
  std::string drawn = svg_line(kLeft, base, kWidth, base, "axis");
  for (const Value& bar : bars) {
    const double from = number(bar, "from"), to = number(bar, "to"), n = number(bar, "attempts");
    const double height = (base - 12) * n / top;
    drawn += "<rect x=\"" + svg_number(x(from) + 0.5) + "\" y=\"" + svg_number(base - height) +
             "\" width=\"" + svg_number(std::max(x(to) - x(from) - 1, 0.5)) + "\" height=\"" +
             svg_number(height) + "\" class=\"" + (to <= 1 ? "bar low" : "bar") + "\"><title>" +
             times_text(from) + " to " + times_text(to) + ": " + count(bar, "attempts") +
             "</title></rect>";
  }
  const double step = std::max(1.0, std::ceil((high - low) / 10));
  for (double mark = std::ceil(low / step) * step; mark <= high; mark += step)
    drawn +=
        svg_label(x(std::exp2(mark)), kHeight - 6, figure_text(std::exp2(mark)) + "×", "middle");
  for (const double p : {1.0, 1.5, 2.0, 5.0}) {
    if (std::log2(p) <= high) drawn += svg_line(x(p), 8, x(p), base, "base");
  }
  drawn += svg_label(kLeft - 6, 18, figure_text(top), "end");
  return svg(kWidth, kHeight, "numbers of correct attempts by speedup", drawn) +
         paragraph("Correct attempts by speedup. The dashed lines are at 1×, 1.5×, 2× and 5×.");
}

/// One figure by time. `logarithmic`: a speedup, with the baseline at 1.
std::string course_html(const Value& journal, const char* key, const std::string& said,
                        bool logarithmic) {
  constexpr double kWidth = 720, kHeight = 150, kLeft = 56, kBottom = 24;
  std::vector<std::pair<double, double>> points;
  double low = logarithmic ? std::log(0.8) : 0, high = logarithmic ? std::log(1.25) : 1e-9;
  for (const Value& one : list(journal, "over_time")) {
    const double value = number(one, key);
    constexpr double kDrawnMax = 1e300;  // the difference of two values must be finite
    if (!(std::fabs(value) < kDrawnMax) || (logarithmic && value <= 0)) continue;
    points.emplace_back((number(one, "from") + number(one, "to")) / 2,
                        logarithmic ? std::log(value) : value);
    low = std::min(low, points.back().second);
    high = std::max(high, points.back().second);
  }
  if (points.empty()) return paragraph(said + ": no value.");
  const double begin = points.front().first, span = std::max(points.back().first - begin, 1.0);
  const double base = kHeight - kBottom;
  const auto x = [&](double time) {
    return kLeft + 8 + (kWidth - kLeft - 20) * (time - begin) / span;
  };
  const auto y = [&](double value) {
    return base - 4 - (base - 14) * (value - low) / (high - low);
  };
  const auto shown = [&](double value) {
    return logarithmic ? times_text(std::exp(value)) : figure_text(value);
  };
  std::string drawn = svg_line(kLeft, y(0), kWidth, y(0), logarithmic ? "base" : "axis");
  drawn += svg_label(kLeft - 6, y(high) + 4, shown(high), "end");
  if (y(low) - y(high) > 24) drawn += svg_label(kLeft - 6, y(low) + 4, shown(low), "end");
  if (y(low) - y(0) > 12 && y(0) - y(high) > 12)
    drawn += svg_label(kLeft - 6, y(0) + 4, shown(0), "end");
  std::string trace, dots;
  for (const auto& [time, value] : points) {
    trace += (trace.empty() ? "" : " ") + svg_number(x(time)) + "," + svg_number(y(value));
    dots += "<circle cx=\"" + svg_number(x(time)) + "\" cy=\"" + svg_number(y(value)) +
            "\" r=\"2.5\" class=\"dot\"><title>" + date(time) + ": " + shown(value) +
            "</title></circle>";
  }
  if (points.size() > 1) drawn += "<polyline points=\"" + trace + "\" class=\"trace\"/>";
  drawn += dots + svg_label(kLeft, kHeight - 6, date(begin), "start");
  if (points.size() > 1)
    drawn += svg_label(kWidth - 4, kHeight - 6, date(points.back().first), "end");
  return "<h3>" + said + "</h3>\n" + svg(kWidth, kHeight, said + " over time", drawn);
}

// ---- sections

std::string tile(const char* name, const std::string& value, const std::string& note) {
  return "<div class=\"tile\"><div class=\"name\">" + std::string(name) +
         "</div><div class=\"value\">" + value + "</div><div class=\"note\">" + note +
         "</div></div>\n";
}

/// "4 ended, 2 open": the states that episodes have.
std::string states_text(const Value& episodes) {
  std::string said;
  for (const char* state : {"ended", "open", "closed", "reaped"}) {
    if (const double number_of = number(episodes, state); number_of > 0)
      said += (said.empty() ? "" : ", ") + count(episodes, state) + " " + state;
  }
  return said;
}

std::string tiles_html(const Value& journal) {
  const Value& all = member_or_nil(journal, "all");
  const Value& episodes = member_or_nil(journal, "episodes");
  return "<div class=\"tiles\">" + tile("Episodes", count(episodes, "all"), states_text(episodes)) +
         tile("Attempts", count(all, "attempts"), counted(all, "unscored", "turn") + " unscored") +
         tile("Success", percent_text(number(all, "success")), "of attempts are correct") +
         tile("fast_1", percent_text(number(member_or_nil(all, "fast_p"), "1")),
              percent_text(number(member_or_nil(all, "best_fast_p"), "1")) + " of " +
                  counted(all, "tasks", "task")) +
         tile("Best speedup", times_text(number(all, "best_speedup")), interval_text(all)) +
         tile("Mean reward", figure_text(number(all, "reward_mean")), "of scored turns") +
         tile("Mean return", figure_text(number(all, "return_mean")),
              "of " + counted(all, "returns", "episode")) +
         "</div>\n";
}

/// Which episodes were chosen, when they were played, and what is missing.
std::string facts_html(const Value& journal) {
  std::string facts;
  const auto fact = [&facts](const std::string& name, const std::string& html) {
    facts += "<li>" + name + " <b>" + html + "</b></li>";
  };
  fact("First episode", date(number(journal, "first_at")));
  fact("Last change", date(number(journal, "last_at")));
  if (const Value& filter = member_or_nil(journal, "filter"); filter.is_map()) {
    for (const auto& [name, value] : filter.as_map()) {
      if (value.is_string())
        fact("Only " + html_text(name), html_cut(value.as_string(), kNameShown));
    }
  }
  std::string html = "<ul class=\"facts\">" + facts + "</ul>\n";
  const Value& damaged = member_or_nil(journal, "damaged");
  if (damaged.is_int() && damaged.as_int() > 0) {
    html += paragraph("Damaged episodes left out: " + grouped_number(damaged.as_int()) +
                          "; <code>hone journal check</code> lists them.",
                      "bad");
  }
  return html;
}

std::string fast_p_html(const Value& all) {
  const Value &attempts = member_or_nil(all, "fast_p"), &tasks = member_or_nil(all, "best_fast_p");
  std::vector<std::vector<std::string>> rows = {{"attempts"}, {"tasks, by their best attempt"}};
  for (const char* p : {"1", "1.5", "2", "5"}) {
    rows[0].push_back(percent_text(number(attempts, p)));
    rows[1].push_back(percent_text(number(tasks, p)));
  }
  return table(
      {{"Share of", "t"}, {"fast_1", "r"}, {"fast_1.5", "r"}, {"fast_2", "r"}, {"fast_5", "r"}},
      rows);
}

/// Rows of two or three columns; `names` are the members that they show.
std::string list_html(const Value& journal, const char* key, const std::vector<Column>& columns,
                      const std::vector<const char*>& names, const std::string& none) {
  std::vector<std::vector<std::string>> rows;
  for (const Value& one : list(journal, key)) {
    std::vector<std::string> row;
    for (const char* name : names) {
      const Value& cell = member_or_nil(one, name);
      row.push_back(cell.is_string() ? html_cut(cell.as_string(), 2 * kNameShown)
                                     : count(one, name));
    }
    rows.push_back(std::move(row));
  }
  return rows.empty() ? paragraph(none) : table(columns, rows);
}

std::string journal_html(const Value& journal, const std::string& letter, bool with_tasks) {
  const std::string name = html_cut(text(journal, "name"), kNameShown);
  const Value& all = member_or_nil(journal, "all");
  std::string html = "<h1>" + (letter.empty() ? "" : letter + ": ") + name + "</h1>\n" +
                     facts_html(journal) + tiles_html(journal);
  html += section("Outcomes", outcomes_html(all));
  html += section("Speedups", speedups_html(journal) + fast_p_html(all));
  html += section("Over time", course_html(journal, "reward_mean", "Mean reward", false) +
                                   course_html(journal, "speedup_mean", "Mean speedup", true));
  if (with_tasks) html += section("By task", group_table(journal, "tasks", "Task", "tasks"));
  html += section("By client", group_table(journal, "clients", "Client", "clients"));
  html += section("By reward", group_table(journal, "rewards", "Reward", "rewards"));
  html += section("Caught cheats",
                  list_html(journal, "caught", {{"Class", ""}, {"Client", ""}, {"Attempts", "r"}},
                            {"class", "client", "attempts"}, "No cheat was caught."));
  html += section("Faults", list_html(journal, "faults", {{"Fault", ""}, {"Turns", "r"}},
                                      {"fault", "turns"}, "No fault."));
  html +=
      section("Hardware",
              list_html(journal, "fingerprints", {{"Fingerprint", ""}, {"Attempts", "r"}},
                        {"fingerprint", "attempts"}, "No attempt names its hardware.") +
                  (list(journal, "fingerprints").size() > 1
                       ? paragraph("Speedups of different fingerprints are not comparable.", "warn")
                       : ""));
  return html;
}

/// "A", "B", …
std::string letter_of(std::size_t index) { return std::string(1, static_cast<char>('A' + index)); }

/// A cell with one line for each journal.
std::string stacked(const std::vector<std::string>& lines) {
  std::string html = "<span class=\"pair\">";
  for (const std::string& one : lines) html += "<span>" + one + "</span>";
  return html + "</span>";
}

std::string signed_text(double number) { return (number > 0 ? "+" : "") + figure_text(number); }

std::vector<std::string> compared_row(const Value& task) {
  std::vector<std::vector<std::string>> lines(kFigureColumns.size() + 3);
  const Value::Array& sets = list(task, "sets");
  for (std::size_t i = 0; i < sets.size(); ++i) {
    lines[0].push_back(letter_of(i));
    const auto relative = [&](const char* key) {
      const Value::Array& values = list(task, key);
      return i > 0 && values[i - 1].is_number() ? values[i - 1].as_double() : kUnknown;
    };
    const double reward = relative("reward_difference"), speedup = relative("speedup_ratio");
    lines[1].push_back(i == 0 ? kEmpty : signed_text(reward));
    lines[2].push_back(i == 0 ? kEmpty : times_text(speedup));
    const std::vector<std::string> cells = figure_cells(sets[i]);
    for (std::size_t j = 0; j < cells.size(); ++j) lines[j + 3].push_back(cells[j]);
  }
  std::vector<std::string> row = {name_html(text(task, "task"))};
  for (const std::vector<std::string>& one : lines) row.push_back(stacked(one));
  return row;
}

std::string comparison_html(const Value& report) {
  std::string named, left_out;
  const auto leave_out = [&left_out](std::int64_t count, const std::string& of) {
    if (count > 0) left_out += (left_out.empty() ? "" : ", ") + grouped_number(count) + " of " + of;
  };
  const Value::Array& journals = list(report, "journals");
  for (std::size_t i = 0; i < journals.size(); ++i) {
    named += (named.empty() ? "" : ", ") + letter_of(i) + ": <b>" +
             html_cut(text(journals[i], "name"), kNameShown) + "</b>";
    leave_out(left_out_of(journals[i], "tasks"), letter_of(i));
  }
  leave_out(left_out_of(report, "comparison"), "all journals together");
  if (!left_out.empty()) {
    left_out = paragraph(
        "The report keeps the " + grouped_number(ReportFigures::kRowsMax) +
            " tasks with the most attempts of each journal. This table shows as many of those, "
            "with the most attempts in all journals together. Left out: " +
            left_out + ". A row has no value for a journal that did not keep its task.",
        "warn");
  }
  std::vector<std::vector<std::string>> rows;
  for (const Value& task : list(report, "comparison")) rows.push_back(compared_row(task));
  return "<h1>Comparison</h1>\n" +
         section(
             "By task",
             paragraph(named + ". Differences and ratios are relative to A.") + left_out +
                 table(with_figures({{"Task", "t"}, {"", ""}, {"Reward", "r"}, {"Speedup", "r"}}),
                       rows));
}

std::string definitions_html() {
  std::string html = "<dl>";
  for (const auto& [term, meaning] : std::initializer_list<std::pair<const char*, const char*>>{
           {"Attempt",
            "A turn with a verdict. A turn without one (a fault of hone or of the machine) is "
            "unscored: it counts only as an unscored turn and as a fault. Turns that a branch "
            "shares with its parent count once, for the parent."},
           {"Success",
            "The share of attempts whose outcome is correct: all outputs are within the task's "
            "tolerances, in all checks."},
           {"Speedup",
            "The baseline's time per call divided by the submission's. The interval is the 95 % "
            "confidence interval of the measurement."},
           {"fast_p",
            "The share of attempts that are correct and more than p times as fast as the baseline. "
            "For tasks: the share of tasks with at least one such attempt."},
           {"Best speedup",
            "The largest speedup of a correct attempt, with the interval of that attempt. The best "
            "of many measurements is biased upwards."},
           {"Mean speedup", "The geometric mean of correct, timed attempts."},
           {"Mean reward",
            "The arithmetic mean of the rewards of attempts. Rewards with different names or "
            "configurations are not comparable."},
           {"Mean return",
            "The mean of the returns of episodes, counted from the first turn, with the discount "
            "of the reward. Episodes that are open or were closed early have no return."},
           {"Over time",
            "Each point is the mean of an interval of time; all intervals have the same length."},
           {"Caught cheats",
            "Attempts in which hone detected a class of cheating, whatever their outcome."}}) {
    html += "<dt>" + std::string(term) + "</dt><dd>" + meaning + "</dd>\n";
  }
  return section("Definitions", html + "</dl>\n");
}

std::string_view page_style() {
  for (const PageFile& file : page_files()) {
    if (file.path == "/style.css") return file.text;
  }
  return {};
}

std::string head_html(const std::string& title) {
  const std::string style = std::string(page_style()) + kStyle;
  const Sha256 hash = sha256(style);
  const std::string digest =
      to_base64(std::string_view(reinterpret_cast<const char*>(hash.data()), hash.size()));
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
         "'sha256-" +
         digest +
         "'; base-uri 'none'; form-action 'none'\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         "<meta name=\"referrer\" content=\"no-referrer\">\n<title>" +
         title + "</title>\n<style>" + style + "</style>\n</head>\n";
}

}  // namespace

std::string report_html(const Value& report) {
  const Value::Array& journals = list(report, "journals");
  std::string names;
  for (const Value& journal : journals)
    names += (names.empty() ? "" : ", ") + html_cut(text(journal, "name"), kNameShown);
  std::string html =
      head_html(names + " · hone report") +
      "<body>\n<header><span class=\"brand\">hone report</span><span id=\"source\">hone " +
      html_text(text(report, "version")) + " · " + date(number(report, "made_at")) +
      " UTC</span></header>\n<main>\n";
  const bool compared = journals.size() > 1;
  if (compared) html += comparison_html(report);
  for (std::size_t i = 0; i < journals.size(); ++i)
    html += journal_html(journals[i], compared ? letter_of(i) : "", !compared);
  return html + definitions_html() + "</main>\n</body>\n</html>\n";
}

}  // namespace hone
