// The standard headers that device code includes and a runtime compiler does not have, as text in
// memory.
#pragma once

#include <vector>

namespace hone_gpu {

struct Header {
  const char* name;  ///< as a source includes it
  const char* text;
};

/// Fixed-width integers, limits, and what the vendor's own compiler would include unasked.
const std::vector<Header>& headers_in_memory();

}  // namespace hone_gpu
