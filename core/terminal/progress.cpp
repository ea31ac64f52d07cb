// Counts, rate and remaining time in one line.
#include "terminal/progress.hpp"

#include <cmath>

namespace hone {
namespace {

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) {
    return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  }
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

}  // namespace

void ResultCounts::add(const Result<Verdict>& result) {
  ++(!result                                ? not_judged
     : result->outcome == Outcome::kCorrect ? correct
     : result->outcome == Outcome::kWrong   ? wrong
                                            : other);
}

std::string progress_text(const ResultCounts& counts, std::size_t total, std::size_t judged,
                          double seconds) {
  std::string text = std::to_string(counts.done()) + "/" + std::to_string(total);
  if (judged > 0 && seconds > 0) {
    const double rate = static_cast<double>(judged) / seconds;
    text += "  " + short_number(rate) + "/s  eta " +
            duration_text(static_cast<double>(total - counts.done()) / rate);
  }
  const auto add = [&text](const char* name, std::size_t count) {
    text += std::string("  ") + name + " " + std::to_string(count);
  };
  add("correct", counts.correct);
  add("wrong", counts.wrong);
  add("other", counts.other);
  if (counts.not_judged > 0) add("not judged", counts.not_judged);
  return text;
}

std::string reading_text(std::string_view what) {
  return "reading " + std::string(what) + " (a module imports PyTorch first)…";
}

void Progress::start() {
  done_before_ = counts_.done();
  started_s_ = monotonic_s();
}

void Progress::show(std::string_view stage) {
  std::string text = what_ + progress_text(counts_, total_, counts_.done() - done_before_,
                                           monotonic_s() - started_s_);
  if (!stage.empty()) text += "  " + std::string(stage) + "…";
  terminal_.status(text);
}

}  // namespace hone
