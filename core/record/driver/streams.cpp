// Streams and events.
#include "record/driver/api.hpp"

namespace {

using namespace hone::record;  // NOLINT: functions of C cannot stand in a namespace

/// Calls `use` with a stream; kInvalidHandle if it does not exist.
template <typename Fn>
int with_stream(StreamHandle handle, Fn&& use) {
  return guarded([&](Recording& r) -> int {
    const Stream* const stream = r.streams.find(handle);
    if (stream == nullptr) return kInvalidHandle;
    use(r, *stream);
    return kOk;
  });
}

int no_capture(int* status, std::uint64_t* id) {
  *status = 0;
  if (id != nullptr) *id = 0;
  return kOk;
}

}  // namespace

HONE_RECORD_API int cuStreamCreateWithPriority(StreamHandle* stream, unsigned flags, int priority) {
  return guarded([&](Recording& r) {
    *stream = &r.streams.create(flags, priority);
    return kOk;
  });
}
HONE_RECORD_API int cuStreamCreate(StreamHandle* stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}
HONE_RECORD_API int cuStreamDestroy_v2(StreamHandle stream) {
  return guarded([&](Recording& r) { return r.streams.destroy(stream) ? kOk : kInvalidHandle; });
}
HONE_RECORD_API int cuStreamSynchronize(StreamHandle handle) {
  return with_stream(handle, [](Recording& r, const Stream&) { r.synchronize(); });
}
HONE_RECORD_API int cuStreamQuery(StreamHandle handle) {
  return with_stream(handle, [](Recording&, const Stream&) {});
}
HONE_RECORD_API int cuStreamWaitEvent(StreamHandle handle, EventHandle event_handle, unsigned) {
  return guarded([&](Recording& r) {
    const Stream* const stream = r.streams.find(handle);
    const Event* const event = r.streams.find_event(event_handle);
    if (stream == nullptr || event == nullptr) return kInvalidHandle;
    r.wait(*event, stream->id);
    return kOk;
  });
}
HONE_RECORD_API int cuStreamGetPriority(StreamHandle handle, int* priority) {
  return with_stream(handle, [&](Recording&, const Stream& s) { *priority = s.priority; });
}
HONE_RECORD_API int cuStreamGetFlags(StreamHandle handle, unsigned* flags) {
  return with_stream(handle, [&](Recording&, const Stream& s) { *flags = s.flags; });
}
HONE_RECORD_API int cuStreamGetId(StreamHandle handle, unsigned long long* id) {
  *id = reinterpret_cast<std::uintptr_t>(handle) + 1;
  return kOk;
}
HONE_RECORD_API int cuStreamGetCtx(StreamHandle, ContextHandle* context) {
  *context = the_context();
  return kOk;
}
HONE_RECORD_API int cuStreamGetDevice(StreamHandle, int* device) {
  *device = 0;
  return kOk;
}
HONE_RECORD_API int cuStreamSetAttribute(StreamHandle, int, const void*) { return kOk; }

// Stream capture is refused, so no stream is being captured.
HONE_RECORD_API int cuStreamBeginCapture_v2(StreamHandle, int) {
  return fail_with("uses stream capture");
}
HONE_RECORD_API int cuStreamIsCapturing(StreamHandle, int* status) {
  return no_capture(status, nullptr);
}
HONE_RECORD_API int cuStreamGetCaptureInfo_v2(StreamHandle, int* status, std::uint64_t* id, void**,
                                              const void**, std::size_t*) {
  return no_capture(status, id);
}
HONE_RECORD_API int cuStreamGetCaptureInfo_v3(StreamHandle, int* status, std::uint64_t* id, void**,
                                              const void**, const void**, std::size_t*) {
  return no_capture(status, id);
}
HONE_RECORD_API int cuThreadExchangeStreamCaptureMode(int*) { return kOk; }

HONE_RECORD_API int cuEventCreate(EventHandle* event, unsigned) {
  return guarded([&](Recording& r) {
    *event = &r.streams.create_event();
    return kOk;
  });
}
HONE_RECORD_API int cuEventDestroy_v2(EventHandle event) {
  return guarded(
      [&](Recording& r) { return r.streams.destroy_event(event) ? kOk : kInvalidHandle; });
}
HONE_RECORD_API int cuEventRecord(EventHandle event_handle, StreamHandle handle) {
  return guarded([&](Recording& r) {
    const Stream* const stream = r.streams.find(handle);
    Event* const event = r.streams.find_event(event_handle);
    if (stream == nullptr || event == nullptr) return kInvalidHandle;
    r.record(*event, stream->id);
    return kOk;
  });
}
HONE_RECORD_API int cuEventRecordWithFlags(EventHandle event, StreamHandle stream, unsigned) {
  return cuEventRecord(event, stream);
}
HONE_RECORD_API int cuEventQuery(EventHandle) { return kOk; }
HONE_RECORD_API int cuEventSynchronize(EventHandle) {
  return guarded([](Recording& r) {
    r.synchronize();
    return kOk;
  });
}
HONE_RECORD_API int cuEventElapsedTime_v2(float*, EventHandle, EventHandle) {
  return fail_with("a time was asked for");
}
HONE_RECORD_API int cuEventElapsedTime(float* milliseconds, EventHandle start, EventHandle end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}
