// What the driver's error numbers mean to hone, and the words that an author of a kernel gets.
#pragma once

#include <string>

#include "driver.hpp"
#include "hone/abi.h"

namespace hone_gpu {

/// What the number of a failed call means.
struct Meaning {
  hone_code code;
  const char* words;  ///< for the author; "" where the driver's own words must do
};

/// `launching`: the call was a launch, so that a value that is refused is one of the launch.
Meaning meaning_of(gpuResult result, bool launching);

/// Throws a Failure "what: words (NAME)" where the call failed.
void check(const Driver& driver, gpuResult result, const char* what, bool launching = false);

}  // namespace hone_gpu
