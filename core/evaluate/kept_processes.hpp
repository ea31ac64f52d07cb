// KeptProcesses: processes that have run device code of a submission and wait for the next one of their owner.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "evaluate/device_job.hpp"
#include "evaluate/judge_client.hpp"
#include "evaluate/options.hpp"
#include "model/value.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// The owner whose submissions may share a process with this one; empty: none. `facts`: of the device.
std::string process_owner(const DeviceJob& job, const EvaluatorOptions& options,
                          const Value& facts);

struct KeptProcess {
  std::unique_ptr<Process> process;  ///< null: none
  std::int64_t id = 0;               ///< the judge's number for it
  std::size_t uses = 0;
};

/// One lane's. One thread at a time.
class KeptProcesses {
 public:
  /// Both outlive it.
  KeptProcesses(JudgeClient& judge, const EvaluatorOptions& options)
      : judge_(judge), options_(options) {}

  bool is_empty() const { return kept_.empty(); }
  /// The owner's process, or none. One that has served enough submissions, or `fresh`, is forgotten.
  KeptProcess take(const std::string& owner, bool fresh);
  void keep(const std::string& owner, KeptProcess kept);
  /// Returns once their memory of the device is free: nothing is measured meanwhile.
  void forget_all();
  /// All of them, for the caller to end. The judge, if there is one, forgets them.
  std::vector<std::unique_ptr<Process>> release();

 private:
  void forget(const std::string& owner);

  JudgeClient& judge_;
  const EvaluatorOptions& options_;
  std::map<std::string, KeptProcess> kept_;  ///< by owner
  std::list<std::string> ages_;              ///< front: used last
};

}  // namespace hone
