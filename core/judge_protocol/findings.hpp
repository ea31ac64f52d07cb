// Times of a baseline that the host keeps between two judges and two submissions.
#pragma once

#include <cstddef>

namespace hone {

/// The floor: the time of an empty round, in seconds.
struct Floor {
  double seconds = 0;  ///< the median
  double least = 0;
  double spread = 0;  ///< twice the interquartile range: a smaller difference of rounds is noise
};

/// Times of a baseline at the timed shape, measured when it is installed.
struct Calibration {
  double call_seconds = 0;    ///< of one call
  double answer_seconds = 0;  ///< devices only: of the reference's answer to one call
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

}  // namespace hone
