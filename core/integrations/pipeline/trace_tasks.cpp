// Writes a JSON Lines file to a scratch folder.
#include "integrations/pipeline/trace_tasks.hpp"

#include "base/files.hpp"

namespace hone {
namespace {

constexpr char kFile[] = "traces.jsonl";

}  // namespace

Result<TraceTasks> TraceTasks::write(const TraceFile& traces) {
  HONE_ASSIGN(ScratchFolder folder, ScratchFolder::make());
  std::string text;
  for (const Value& task : traces.tasks.as_array()) text += to_json(task) + "\n";
  HONE_TRY(write_file(folder.path() / kFile, text));
  return TraceTasks(std::move(folder));
}

DatasetConfig TraceTasks::dataset() const {
  // Unlisted: the plugin does not list rows that it leaves out, but gives the reason if asked for one.
  return {"traces", "kernelbook", Value::map({{"path", (folder_.path() / kFile).string()}}), true};
}

}  // namespace hone
