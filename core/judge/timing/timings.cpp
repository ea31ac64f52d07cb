#include "judge/timing/timings.hpp"

#include <algorithm>

namespace hone {

void Timings::drop_since(const Mark& mark) {
  floors.resize(mark.floors);
  wall_floors.resize(std::min(wall_floors.size(), mark.floors));
  marked.resize(mark.marked);
}

void Timings::keep_as_single_floors(const Mark& mark) {
  single_floors.insert(single_floors.end(),
                       floors.begin() + static_cast<std::ptrdiff_t>(mark.floors), floors.end());
  drop_since(mark);
}

}  // namespace hone
