// Court: judges attacks with certain defences switched off. One evaluator exists at a time, and tests share it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adversarial/attack.hpp"
#include "evaluate/machine.hpp"

namespace hone::test {

class Court {
 public:
  /// The machine on which these defences are off; the one before is ended if it has others.
  static Court& without(const std::vector<std::string>& off);

  Result<Verdict> judge(const Attack& attack, std::uint64_t seed);
  /// Whether the machine still judges an honest submission right.
  Result<Verdict> judge_honest();
  const std::string& failure() const { return failure_; }

 private:
  explicit Court(const std::vector<std::string>& off);
  std::shared_ptr<const Task> task(const std::string& name);

  std::vector<std::string> off_;
  std::unique_ptr<Machine> machine_;
  std::map<std::string, std::shared_ptr<const Task>> tasks_;
  std::string failure_;
};

/// A machine with every defence that judges two submissions side by side, one on each core.
Result<std::unique_ptr<Machine>> two_at_a_time();

}  // namespace hone::test
