// Times of a baseline that the host keeps between two judges and two submissions.
#pragma once

#include <cstddef>

namespace hone {

/// What a round that does nothing takes, in seconds.
struct Floor {
  double seconds = 0;  ///< the middle one
  double least = 0;    ///< the shortest one
  double spread =
      0;  ///< twice what the middle half of them differ by: rounds are told apart no better
};

/// What a baseline was found to take at the timed shape.
struct Calibration {
  double call_seconds = 0;  ///< of one call
  double answer_seconds =
      0;  ///< devices only: of the reference's answer to one call (InputSet::run_answers)
  Floor floor;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit("call_seconds", self.call_seconds);
    visit("answer_seconds", self.answer_seconds);
    visit("floor_seconds", self.floor.seconds);
    visit("floor_least", self.floor.least);
    visit("floor_spread", self.floor.spread);
  }
};

/// What a baseline's rounds took while nobody else had the device.
struct Vouched {
  std::size_t calls = 0;  ///< of a round; 0: nothing is known
  double seconds = 0;     ///< the middle one of them
  double floor_s = 0;     ///< the middle one of those that did nothing
  bool held = false;      ///< to what was known, so that it can only be less than that

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit("calls", self.calls);
    visit("seconds", self.seconds);
    visit("floor_s", self.floor_s);
    visit("held", self.held);
  }
};

}  // namespace hone
