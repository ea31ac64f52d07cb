// Names of states.
#include "journal/records.hpp"

namespace hone {

std::string_view record_state_name(RecordState state) {
  switch (state) {
    case RecordState::kOpen:
      return "open";
    case RecordState::kEnded:
      return "ended";
    case RecordState::kClosed:
      return "closed";
    case RecordState::kReaped:
      return "reaped";
    case RecordState::kForgotten:
      return "forgotten";
    case RecordState::kDamaged:
      return "damaged";
  }
  return "?";
}

}  // namespace hone
