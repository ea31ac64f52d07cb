// Handles of streams and events.
#include "record/plan/streams.hpp"

namespace hone::record {

Stream& Streams::create(unsigned flags, int priority) {
  auto stream = std::make_unique<Stream>();
  stream->id = (flags & kStreamNonBlocking) != 0 ? ++last_id_ : 0;
  stream->flags = flags;
  stream->priority = priority;
  Stream& created = *stream;
  streams_[&created] = std::move(stream);
  return created;
}

const Stream* Streams::find(StreamHandle handle) const {
  static constexpr Stream kDefault;
  if (reinterpret_cast<std::uintptr_t>(handle) <= kPerThreadStream) return &kDefault;
  const auto found = streams_.find(handle);
  return found == streams_.end() ? nullptr : found->second.get();
}

Event& Streams::create_event() {
  auto event = std::make_unique<Event>();
  Event& created = *event;
  events_[&created] = std::move(event);
  return created;
}

Event* Streams::find_event(EventHandle handle) const {
  const auto found = events_.find(handle);
  return found == events_.end() ? nullptr : found->second.get();
}

}  // namespace hone::record
