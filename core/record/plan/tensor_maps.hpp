// Tensor maps (TMA descriptors): the host gets a token of 128 bytes, which is recognised when it
// comes back in a launch's parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hone/recorded_plan.hpp"

namespace hone::record {

/// Owns the encoded maps. `place` and `at` are filled in at a launch, because the memory may have
/// been freed since the map was encoded.
class TensorMaps {
 public:
  struct Encoded {
    recorded::TensorMap map;
    std::uint64_t address = 0;
  };

  /// Writes a new token of kTensorMapBytes to `token`.
  void encode(Encoded encoded, void* token);
  /// The map whose token starts at byte `at` of `data`; nullptr if there is none.
  const Encoded* find(std::string_view data, std::size_t at) const;

 private:
  std::vector<Encoded> maps_;
};

}  // namespace hone::record
