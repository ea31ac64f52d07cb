// Names of states.
#include "journal/records.hpp"


namespace hone {

std::string_view episode_state_name(EpisodeState state) {
  switch (state) {
    case EpisodeState::kOpen:
      return "open";
    case EpisodeState::kEnded:
      return "ended";
    case EpisodeState::kClosed:
      return "closed";
    case EpisodeState::kReaped:
      return "reaped";
  }
  return "?";
}

}  // namespace hone
