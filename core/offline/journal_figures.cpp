// Reads every episode once.
#include "offline/journal_figures.hpp"

#include <utility>

#include "base/clock.hpp"
#include "offline/journal_lookup.hpp"
#include "web/report_figures.hpp"

namespace hone {
namespace {

constexpr double kQuietS = 1, kBetweenS = 0.2;  // before the first progress line, and between two

/// Shows the progress of a long read.
class ReadingLine {
 public:
  ReadingLine(Terminal& terminal, std::string name) : terminal_(terminal), name_(std::move(name)) {}
  ~ReadingLine() { terminal_.clear_status(); }
  ReadingLine(const ReadingLine&) = delete;
  ReadingLine& operator=(const ReadingLine&) = delete;

  void show(std::int64_t episodes) {
    const double now_s = monotonic_s();
    if (now_s < next_s_) return;
    next_s_ = now_s + kBetweenS;
    terminal_.status("reading " + name_ + ": " + std::to_string(episodes) + " episodes…");
  }

 private:
  Terminal& terminal_;
  const std::string name_;
  double next_s_ = monotonic_s() + kQuietS;
};

/// The filters that are set, by name.
Value filter_value(const EpisodeFilter& filter) {
  Value value = Value::map();
  if (filter.state) value.set("state", record_state_name(*filter.state));
  for (const auto& [name, given] :
       {std::pair("task", &filter.task), std::pair("client", &filter.client),
        std::pair("group", &filter.group), std::pair("reward", &filter.reward)}) {
    if (!given->empty()) value.set(name, *given);
  }
  return value;
}

}  // namespace

Result<Value> read_figures(Terminal& terminal, const std::string& path, const std::string& name,
                           const EpisodeFilter& filter, std::int64_t& damaged) {
  HONE_ASSIGN(const auto reader, JournalReader::open(path));
  ReportFigures figures;
  ReadingLine line(terminal, name);
  std::int64_t lost = 0;
  std::string first_damage;
  const Status done = reader->each(
      filter,
      [&](const StoredEpisode& stored) -> Status {
        line.show(figures.episodes());
        return figures.add(stored);
      },
      [&](const Error& damage) {
        if (lost++ == 0) first_damage = damage.message;
      });
  HONE_TRY(done);
  if (lost > 0) {  // the undamaged episodes are still reported
    static_cast<void>(terminal.fail(failed_precondition(
        "damaged episodes left out: " + std::to_string(lost) + "; the first: " + first_damage)));
    damaged += lost;
  } else if (figures.episodes() == 0) {
    HONE_TRY(expect_names(*reader, filter));
    return not_found("journal " + path +
                     (filter_value(filter).as_map().empty() ? ": it has no episode"
                                                            : ": no episode matches all filters"));
  }
  Value value = Value::map({{"name", name}, {"filter", filter_value(filter)}, {"damaged", lost}});
  const Value counted = figures.value();
  for (const auto& [key, one] : counted.as_map()) value.set(key, one);
  return value;
}

}  // namespace hone
