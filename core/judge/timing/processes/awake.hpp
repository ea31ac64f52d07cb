// Awake: keeps a runner's process on its core between rounds.
#pragma once

#include "judge/runner.hpp"

namespace hone {

/// While a runner's rounds come one after the other.
class Awake {
 public:
  explicit Awake(Runner* runner) : runner_(runner) {
    if (runner_ != nullptr) runner_->keep_core_busy(true);
  }
  ~Awake() {
    if (runner_ != nullptr) runner_->keep_core_busy(false);
  }
  Awake(const Awake&) = delete;
  Awake& operator=(const Awake&) = delete;

 private:
  Runner* runner_;  ///< or none
};

}  // namespace hone
