// The tasks in a file of traces, as a dataset.
#pragma once

#include "base/scratch_folder.hpp"
#include "config/config.hpp"
#include "integrations/pipeline/trace_file.hpp"

namespace hone {

/// A scratch file with the modules of traces. It must outlive a host that serves them. Rationale: the plugin
/// cannot read the original file, which may have broken rows, several samples of a task, or any name.
class TraceTasks {
 public:
  static Result<TraceTasks> write(const TraceFile& traces);

  /// The dataset "traces".
  DatasetConfig dataset() const;

 private:
  explicit TraceTasks(ScratchFolder folder) : folder_(std::move(folder)) {}
  ScratchFolder folder_;
};

}  // namespace hone
