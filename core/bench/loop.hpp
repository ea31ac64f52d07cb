// PlainLoop: evaluates a submission as hone does, but without a sandbox: the baseline of bench_step().
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/scratch_folder.hpp"
#include "evaluate/options.hpp"
#include "judge/local_runner.hpp"
#include "judge/session.hpp"
#include "model/task.hpp"
#include "plugin/backend.hpp"

namespace hone {

/// Compiles with the machine's compiler and runs the judge's own session over calls in this
/// process. One thread.
class PlainLoop {
 public:
  static Result<std::unique_ptr<PlainLoop>> create(const EvaluatorOptions& options,
                                                   std::shared_ptr<const Task> task);
  ~PlainLoop();

  struct Times {
    double build_ms = 0, check_ms = 0, measure_ms = 0;
    double total() const { return build_ms + check_ms + measure_ms; }
  };
  Result<Times> step(const std::string& source, std::uint64_t seed);

 private:
  PlainLoop(const EvaluatorOptions& options, std::shared_ptr<const Task> task)
      : options_(options), task_(std::move(task)) {}
  Result<std::string> compile(const std::string& name, const std::string& text,
                              const std::string& entry);
  Result<std::unique_ptr<LocalRunner>> load(const std::string& artifact, const std::string& entry,
                                            bool exact);

  const EvaluatorOptions& options_;
  const std::shared_ptr<const Task> task_;
  ScratchFolder folder_;
  std::filesystem::path home_;
  std::unique_ptr<Backend> backend_;
  hone_device* device_ = nullptr;
  std::unique_ptr<LocalRunner> reference_, baseline_;
  std::unique_ptr<Workbench> workbench_ = make_host_workbench();
  DatasetRunner trusted_reference_, trusted_baseline_;
};

}  // namespace hone
