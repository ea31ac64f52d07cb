// Compiles, then times rounds, in one process.
#include "bench/loop.hpp"

#include <filesystem>

#include "base/clock.hpp"
#include "judge/blame.hpp"
#include "judge/calibration.hpp"
#include "judge/timing/round_size.hpp"
#include "plugin/call.hpp"

namespace hone {

Result<std::unique_ptr<PlainLoop>> PlainLoop::create(const EvaluatorOptions& options,
                                                     std::shared_ptr<const Task> task) {
  std::unique_ptr<PlainLoop> loop(new PlainLoop(options, std::move(task)));
  HONE_ASSIGN(loop->folder_, ScratchFolder::make());
  loop->home_ = std::filesystem::current_path();
  HONE_ASSIGN(loop->backend_, Backend::load(options.backend_library));
  hone_error error = empty_error();
  if (loop->backend_->factory()->open_device(loop->backend_->host(), 0, &loop->device_, &error) !=
      HONE_OK) {
    return internal_error(error.message);
  }
  const BackendSources& sources = loop->task_->backends.at(options.backend);
  HONE_ASSIGN(const std::string reference,
              loop->compile(sources.reference.name, sources.reference.text, "exact"));
  HONE_ASSIGN(loop->reference_, loop->load(reference, "reference", true));
  HONE_ASSIGN(const std::string baseline,
              loop->compile(sources.baseline.name, sources.baseline.text, loop->task_->entry));
  HONE_ASSIGN(loop->baseline_, loop->load(baseline, loop->task_->entry, false));
  loop->trusted_reference_.runner = loop->reference_.get();
  loop->trusted_baseline_.runner = loop->baseline_.get();
  const Judgement calibrated = calibrate(*loop->task_, 1, loop->trusted_reference_,
                                         loop->trusted_baseline_, *loop->workbench_);
  if (!passed(calibrated)) return internal_error("calibration: " + calibrated.message);
  return loop;
}

PlainLoop::~PlainLoop() {
  reference_.reset();
  baseline_.reset();
  if (device_ != nullptr) backend_->factory()->close_device(device_);
  std::error_code ignored;
  std::filesystem::current_path(home_, ignored);
}

Result<std::string> PlainLoop::compile(const std::string& name, const std::string& text,
                                       const std::string& entry) {
  std::filesystem::current_path(folder_.path());
  const Toolchain& toolchain = options_.toolchains.at("c++");
  HONE_ASSIGN(const Value built,
              backend_->build(Value::map(
                  {{"sources", Value::array({Value::map({{"name", name}, {"text", text}})})},
                   {"language", "c++"},
                   {"entries", Value::array({entry})},
                   {"options", Value::map({{"compiler", toolchain.compiler},
                                           {"flags", texts_value(toolchain.flags)},
                                           {"threads", task_->threads},
                                           {"seconds", options_.build_seconds}})}})));
  if (!built.find("ok")->as_bool()) return internal_error(built.find("diagnostics")->as_string());
  return built.find("artifact")->as_bytes();
}

Result<std::unique_ptr<LocalRunner>> PlainLoop::load(const std::string& artifact,
                                                     const std::string& entry, bool exact) {
  std::map<Form, Plan> forms{{Form::kEntry, host_plan(*task_, entry)}};
  if (exact) forms[Form::kExact] = host_plan(*task_, "exact");
  HONE_ASSIGN(Plans plans, Plans::make(*task_, std::move(forms), {}));
  HONE_ASSIGN(const std::uint64_t bytes,
              arena_bytes(*task_, options_.measure, exact, trusted_baseline_.call_seconds, plans));
  return LocalRunner::create(*backend_, device_, std::move(plans), artifact, bytes);
}

Result<PlainLoop::Times> PlainLoop::step(const std::string& source, std::uint64_t seed) {
  Times times;
  const double start = monotonic_s();
  HONE_ASSIGN(const std::string artifact, compile("submission.cpp", source, task_->entry));
  const double built = monotonic_s();
  HONE_ASSIGN(const auto submission, load(artifact, task_->entry, false));
  double measuring = built;
  const SessionHost host{[&](JudgeStage stage) {
    if (stage == JudgeStage::kMeasure) measuring = monotonic_s();
  }};
  Session session({*task_, seed, options_.measure, trusted_reference_, trusted_baseline_,
                   *submission, *workbench_, host});
  const Judgement judged = session.judge();
  if (!passed(judged))
    return internal_error("plain loop: " + judged.message + judged.verdict.reason);
  const double done = monotonic_s();
  times.build_ms = (built - start) * 1e3;
  times.check_ms = (measuring - built) * 1e3;
  times.measure_ms = (done - measuring) * 1e3;
  return times;
}

}  // namespace hone
