// Opens many episodes and reads the memory use of the process.
#include "episode/idle.hpp"

#include <string>

#include "base/memory.hpp"

namespace hone {
namespace {

std::size_t history_bytes(const EpisodeService& service) {
  const Value stats = service.stats();
  return static_cast<std::size_t>(stats.find("episodes")->find("history_bytes")->as_int());
}

/// A source that is different for each episode, so that episodes cannot share it.
std::string source(std::size_t episode, int turn, std::size_t bytes) {
  std::string text =
      "// episode " + std::to_string(episode) + ", turn " + std::to_string(turn) + "\n";
  text.resize(std::max(bytes, text.size()), ' ');
  return text;
}

/// The service must answer within the call. Otherwise nothing is measured.
struct Answer {
  Result<std::string> body = unavailable("not answered within the call");
  EpisodeService::Reply take() {
    return [this](Result<std::string> given) { body = std::move(given); };
  }
};

Status play(EpisodeService& service, const Caller& caller, std::size_t number, const Value& reset,
            std::size_t source_bytes) {
  Answer opened;
  service.reset(caller, reset, opened.take());
  if (!opened.body) return opened.body.error().in("reset");
  HONE_ASSIGN(const Value episode, from_msgpack(*opened.body));
  for (int turn = 1; turn <= 2; ++turn) {
    Answer stepped;
    service.step(
        caller,
        Value::map({{"episode", *episode.find("episode")},
                    {"turn", turn},
                    {"action", Value::map({{"code", source(number, turn, source_bytes)}})}}),
        0, {}, stepped.take());
    if (!stepped.body) return stepped.body.error().in("step");
  }
  return {};
}

}  // namespace

double IdleFigure::bytes_each() const {
  const double grown = static_cast<double>(resident_after) - static_cast<double>(resident_before);
  return episodes == 0 ? 0 : grown / static_cast<double>(episodes);
}

double IdleFigure::bytes_beyond_history() const {
  return episodes == 0
             ? 0
             : bytes_each() - static_cast<double>(history_bytes) / static_cast<double>(episodes);
}

Result<IdleFigure> measure_idle(EpisodeService& service, std::size_t episodes, const Value& reset,
                                std::size_t source_bytes) {
  const Caller caller{"idle", "idle"};
  IdleFigure figure;
  figure.episodes = episodes;
  figure.resident_before = resident_bytes();
  const std::size_t history_before = history_bytes(service);
  for (std::size_t i = 0; i < episodes; ++i) {
    HONE_TRY(play(service, caller, i, reset, source_bytes));
  }
  figure.resident_after = resident_bytes();
  figure.history_bytes = history_bytes(service) - history_before;
  return figure;
}

}  // namespace hone
