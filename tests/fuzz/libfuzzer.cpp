// libFuzzer's entry point, for every target.
#include <cstddef>

#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);  // NOLINT

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  hone::fuzz::one({reinterpret_cast<const char*>(data), size});
  return 0;
}
