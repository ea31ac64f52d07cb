// Request: what the client's thread knows of one request, and Pending::State, through which its
// caller sees it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.hpp"
#include "hone/client.hpp"
#include "wire/requests.hpp"

namespace hone::inline client_api {

inline constexpr std::int64_t kNsPerMs = 1'000'000;

/// Belongs to the client's thread once submitted.
struct Request {
  std::int64_t id = 0;
  std::string verb;
  Value body;
  std::vector<std::string> buffers;
  std::string episode;           ///< that the body names, or ""
  std::string token;             ///< of a resume
  std::int64_t turn = 0;         ///< of a step
  std::int64_t deadline_ns = 0;  ///< monotonic; 0: none
  double timeout_s = 0;          ///< from which the deadline came, for messages
  std::int64_t asked_ns = 0;     ///< when it was first queued; 0: sent without a queue
  bool control = false;          ///< goes to the control endpoint where there is one
  bool internal = false;         ///< the client's own: not sent again on a new connection
  bool resent = false;           ///< was under way when a connection was lost
  bool accepted = false;         ///< a step that the server has said it has
  bool given_up = false;         ///< a step that was sent, and whose caller wants its end alone
  bool cancel_missed = false;    ///< the server got the cancel before the step
  std::size_t losses = 0;        ///< connections lost while it was under way
  std::int64_t lost_ns = 0;      ///< when the first of them was
  int busy_tries = 0;
  std::function<void(Reply)> done = [](Reply) {};
  std::function<void(Value)> progress = [](Value) {};
};
using RequestPtr = std::shared_ptr<Request>;

/// Whether the answer names an episode that is new.
inline bool begins_episode(std::string_view verb) {
  const wire::VerbFacts* facts = wire::find_verb(verb);
  return facts != nullptr && facts->begins_episode;
}

/// What a message calls the request: "step of episode 4be1, turn 2".
std::string subject(const Request& request);

struct Pending::State {
  Mutex mutex;
  Condition changed;
  bool done HONE_GUARDED_BY(mutex) = false;
  Reply reply HONE_GUARDED_BY(mutex);
  std::deque<Value> progress HONE_GUARDED_BY(mutex);
  std::function<void()> on_done;
  std::function<void()> on_progress;
  std::function<void()>
      cancel;  ///< set before the request is submitted; safe after the client is gone
};

}  // namespace hone::inline client_api
