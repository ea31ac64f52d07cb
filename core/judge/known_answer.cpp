// Runs one call on random inputs, and compares every element.
#include "judge/known_answer.hpp"

#include <fcntl.h>

#include <cstring>

#include "judge/fill.hpp"
#include "judge/known_answer_text.hpp"

namespace hone {
namespace {

constexpr char kKernel[] = "hone_known_answer";
constexpr std::uint32_t kElements = 2048, kBlock = 256;
constexpr std::uint32_t kFactors[] = {0x9E3779B1u, 0x85EBCA6Bu, 0x7FEB352Du, 0x846CA68Bu,
                                      0xC2B2AE35u, 0x27D4EB2Fu, 0x165667B1u, 0xD3A2646Du};
constexpr double kSeconds = 2;

Task known_task() {
  Task task;
  task.id = "known_answer";
  task.entry = kKernel;
  task.tensors = {{"x", Role::kIn, DType::kU32, {"n"}}, {"y", Role::kOut, DType::kU32, {"n"}}};
  task.scalars = {{"n", DType::kI64, "n"}};
  task.arguments = {"x", "y", "n"};
  task.dims = {"n"};
  task.timed = {{"n", kElements}};
  return task;
}

Plan known_plan() {
  const std::string block = std::to_string(kBlock);
  PlanLaunch launch;
  launch.kernel = kKernel;
  launch.grid = {"n / " + block};
  launch.block = {block};
  for (const char* name : {"x", "y", "n"})
    launch.arguments.push_back({PlanArgument::Kind::kName, name});
  Plan plan;
  plan.launches.push_back(std::move(launch));
  return plan;
}

/// As known_answer.cu has it.
std::vector<std::uint32_t> right(const std::vector<std::uint32_t>& x) {
  std::vector<std::uint32_t> y(x.size());
  for (std::uint32_t i = 0; i < x.size(); ++i) {
    const std::uint32_t mirrored = i / kBlock * kBlock + (kBlock - 1 - i % kBlock);
    y[i] = (x[mirrored] * kFactors[mirrored % kBlock % std::size(kFactors)]) ^ mirrored;
  }
  return y;
}

Result<std::vector<std::uint32_t>> words(const Arena& arena, const Region& region) {
  HONE_ASSIGN(const std::vector<char> bytes, arena.read(region.payload, region.bytes));
  std::vector<std::uint32_t> read(region.elements);
  std::memcpy(read.data(), bytes.data(), bytes.size());
  return read;
}

}  // namespace

Result<KnownAnswer> KnownAnswer::make(UniqueFd artifact, const PlanLimits& limits) {
  KnownAnswer known;
  known.artifact_ = std::move(artifact);
  known.task_ = known_task();
  HONE_ASSIGN(known.plans_, Plans::make(known.task_, {{Form::kEntry, known_plan()}}, limits));
  HONE_ASSIGN(known.layout_, lay_out(known.task_, known.task_.timed, 1, Placement::kDevice, false));
  return known;
}

Status KnownAnswer::ask(ProcessRunner& runner, Workbench& workbench, const RunnerOptions& options,
                        std::uint64_t secret) const {
  const Region& x = layout_.calls[0][0];
  const Region& y = layout_.calls[0][1];
  // Both are random, so that an answer left in memory is not correct.
  const Generator any{"integers", 0, 4294967295.0};
  HONE_TRY(workbench.fill(runner.arena(),
                          {{x.payload, DType::kU32, x.elements, any, derive_seed(secret, "x")},
                           {y.payload, DType::kU32, y.elements, any, derive_seed(secret, "y")}}));
  HONE_ASSIGN(const auto given, words(runner.arena(), x));
  UniqueFd artifact(fcntl(artifact_.get(), F_DUPFD_CLOEXEC, 0));
  if (!artifact) return internal_error("no descriptor for the known answer");
  const Round loaded =
      runner.reload(task_, plans_, std::move(artifact), nullptr, options, kSeconds);
  if (loaded.ending != Ending::kDone)
    return unavailable("the artifact did not load: " + loaded.message);
  HONE_TRY(runner.prepare(Form::kEntry, task_.timed, layout_.total));
  RoundValues& values = runner.values(0);
  values[0] = x.payload;
  values[1] = y.payload;
  values[2] = kElements;
  const Round ran = runner.plain_round(Order::kRun, 1, kSeconds);
  if (ran.ending != Ending::kDone) return unavailable("the call failed: " + ran.message);
  HONE_ASSIGN(const auto answered, words(runner.arena(), y));
  const std::vector<std::uint32_t> expected = right(given);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) wrong += answered[i] != expected[i] ? 1u : 0u;
  if (wrong == 0) return {};
  return unavailable(std::to_string(wrong) + " of " + std::to_string(expected.size()) +
                     " elements were wrong");
}

std::string_view known_answer_source() { return kKnownAnswerText; }

std::vector<std::string> known_answer_kernels() { return {kKernel}; }

}  // namespace hone
