// BaselineBetween: the baseline's rounds between those of a module that is frozen meanwhile, and whether they had the device.
#pragma once

#include <vector>

#include "judge/timing/processes/process_rounds.hpp"

namespace hone {

/// Rounds A·A B·B …, of one measurement. One thread.
class BaselineBetween {
 public:
  explicit BaselineBetween(ProcessRounds& rounds) : rounds_(rounds), m_(rounds.measurement()) {}

  Judgement time_pairs();
  Judgement time_single_pairs();
  /// Whether nothing else used the device during the baseline's rounds.
  bool had_the_device() const;

 private:
  Judgement time_baseline(std::size_t calls, std::size_t rounds, std::vector<double>& seconds);
  Judgement time_watched(std::size_t calls, std::size_t rounds, double check_s,
                         std::vector<double>& seconds);
  Judgement time_some(std::size_t calls, int pairs, bool watched, std::vector<double>& a,
                      std::vector<double>& b);
  Judgement enough_pairs();
  bool is_enough(double start_s) const;
  double round_seconds(std::size_t calls) const;
  double random_check_seconds(std::size_t calls, std::size_t rounds) const;
  void forget_pairs();
  bool was_held_up() const;

  ProcessRounds& rounds_;
  const Measurement m_;
  double baseline_s_ =
      0;  ///< time of the baseline's last rounds together, with the work before them
  int in_time_ =
      0;  ///< how often they were over within the longest check that may come before them
  int too_long_ = 0;  ///< how often they were not
  bool warm_ = false;
};

}  // namespace hone
