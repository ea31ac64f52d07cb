// Error codes of other processes, which are numbers until they are checked.
#pragma once

#include <cstdint>

#include "base/result.hpp"

namespace hone {

/// The code of an error that another process sent. A number that is not the code of an error is `internal`.
constexpr Code error_code_of(std::int64_t number) {
  const bool is_known = number > HONE_OK && number <= HONE_INTERNAL;
  return is_known ? static_cast<Code>(number) : Code::kInternal;
}

}  // namespace hone
