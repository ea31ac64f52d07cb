// Streams and events of a program, which order its work.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "record/driver/types.hpp"

namespace hone::record {

/// Theory of operation. Stream 0 of a plan is the default stream. A blocking stream counts as the
/// default stream, because the device runs the work of both in order. Other streams have numbers of
/// their own, and only events order their work.
struct Stream {
  std::uint32_t id = 0;
  unsigned flags = 0;
  int priority = 0;
};

struct Event {
  std::uint64_t run = 0;     ///< the run in which it was recorded last, 0: none
  std::uint32_t record = 0;  ///< the number of that event record
  std::uint32_t stream = 0;
};

/// Owns streams and events; handles are their addresses.
class Streams {
 public:
  Stream& create(unsigned flags, int priority);
  bool destroy(StreamHandle handle) { return streams_.erase(handle) > 0; }
  /// nullptr if the handle is unknown. The default stream has three handles.
  const Stream* find(StreamHandle handle) const;

  Event& create_event();
  bool destroy_event(EventHandle handle) { return events_.erase(handle) > 0; }
  Event* find_event(EventHandle handle) const;

 private:
  std::map<const void*, std::unique_ptr<Stream>> streams_;
  std::map<const void*, std::unique_ptr<Event>> events_;
  std::uint32_t last_id_ = 0;
};

}  // namespace hone::record
