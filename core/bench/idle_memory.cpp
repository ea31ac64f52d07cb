// Forks before each measurement, so that earlier episodes do not count.
#include "bench/idle_memory.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "app/host.hpp"
#include "base/unique_fd.hpp"
#include "episode/idle.hpp"
#include "episode/scripted_evaluator.hpp"
#include "model/figure.hpp"

namespace hone {
namespace {

/// Measures one figure of `idle` in a fresh process, so that its memory holds nothing else.
Result<IdleFigure> measure_here(const Config& config, std::size_t episodes) {
  const auto registry = open_registry(config);
  HONE_ASSIGN(auto catalog, open_catalog(config, *registry));
  ScriptedEvaluator evaluator(
      [](const Submission&) -> Result<Verdict> { return ScriptedEvaluator::correct(1.5); });
  HONE_ASSIGN(const auto service,
              make_episodes(config, *registry, std::move(catalog), evaluator, "none"));
  return measure_idle(*service, episodes, Value::map({{"task", "add_relu"}}));
}

Result<IdleFigure> measure_in_child(const Config& config, std::size_t episodes) {
  int ends[2];
  if (pipe(ends) != 0) return system_error("pipe", errno);
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const pid_t child = fork();
  if (child < 0) return system_error("fork", errno);
  if (child == 0) {
    const auto figure = measure_here(config, episodes);
    if (!figure)
      (void)!write(STDERR_FILENO, figure.error().message.data(), figure.error().message.size());
    if (figure) (void)!write(writing.get(), &*figure, sizeof(IdleFigure));
    _exit(figure ? 0 : 1);
  }
  writing.reset();
  IdleFigure figure;
  const ssize_t got = read(reading.get(), &figure, sizeof figure);
  int status = 0;
  waitpid(child, &status, 0);
  if (got != static_cast<ssize_t>(sizeof figure))
    return internal_error("the process with " + std::to_string(episodes) + " episodes failed");
  return figure;
}

Value at_most(const std::string& name, double value, const char* unit, double limit) {
  return figure(name, value, unit, limit, "ratio <= 1", value <= limit);
}

}  // namespace

Result<Value> bench_idle(const Config& config,
                         const std::function<void(std::string_view what)>& say) {
  constexpr double kHost = 100e6, kEach = 2048;  // goal: bytes per episode without its history
  Value figures = Value::array();
  for (const std::size_t episodes : {std::size_t{1}, std::size_t{10'000}, std::size_t{100'000}}) {
    say("idle: " + std::to_string(episodes) + " open episodes");
    HONE_ASSIGN(const IdleFigure idle, measure_in_child(config, episodes));
    const auto held = static_cast<double>(idle.resident_after);
    const auto history = static_cast<double>(idle.history_bytes);
    const double allowed = kHost + kEach * static_cast<double>(episodes) + history;
    const std::string name = "memory, " + std::to_string(episodes) + " open episodes";
    figures.push(at_most(name, held / 1e6, "MB", allowed / 1e6));
    if (episodes == 1) continue;
    figures.push(at_most(name + ": per episode without its history", idle.bytes_beyond_history(),
                         "B", kEach));
    figures.push(figure(name + ": history (with a journal it may leave memory)", history / 1e6,
                        "MB", held / 1e6));
  }
  return figures;
}

}  // namespace hone
