// The runtime's functions for streams and events.
#include "record/runtime/driver_calls.hpp"

namespace {

using namespace hone::record;  // NOLINT: functions of C cannot stand in a namespace

}  // namespace

HONE_RECORD_API int cudaStreamCreateWithPriority(StreamHandle* stream, unsigned flags,
                                                 int priority) {
  need_context();
  return answered(cuStreamCreateWithPriority(stream, flags, priority));
}
HONE_RECORD_API int cudaStreamCreateWithFlags(StreamHandle* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
HONE_RECORD_API int cudaStreamCreate(StreamHandle* stream) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}
HONE_RECORD_API int cudaStreamDestroy(StreamHandle stream) {
  return answered(cuStreamDestroy_v2(stream));
}
HONE_RECORD_API int cudaStreamQuery(StreamHandle stream) { return answered(cuStreamQuery(stream)); }
HONE_RECORD_API int cudaStreamSynchronize(StreamHandle stream) {
  return answered(cuStreamSynchronize(stream));
}
HONE_RECORD_API int cudaStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned flags) {
  return answered(cuStreamWaitEvent(stream, event, flags));
}
HONE_RECORD_API int cudaStreamGetPriority(StreamHandle stream, int* priority) {
  return answered(cuStreamGetPriority(stream, priority));
}
HONE_RECORD_API int cudaStreamGetFlags(StreamHandle stream, unsigned* flags) {
  return answered(cuStreamGetFlags(stream, flags));
}
HONE_RECORD_API int cudaStreamGetId(StreamHandle stream, unsigned long long* id) {
  return answered(cuStreamGetId(stream, id));
}
HONE_RECORD_API int cudaStreamGetDevice(StreamHandle, int* device) {
  *device = 0;
  return kOk;
}
HONE_RECORD_API int cudaStreamSetAttribute(StreamHandle, int, const void*) { return kOk; }

// Stream capture is refused, so no stream is being captured.
HONE_RECORD_API int cudaStreamBeginCapture(StreamHandle stream, int mode) {
  return answered(cuStreamBeginCapture_v2(stream, mode));
}
HONE_RECORD_API int cudaStreamIsCapturing(StreamHandle, int* status) {
  *status = 0;
  return kOk;
}
HONE_RECORD_API int cudaStreamGetCaptureInfo(StreamHandle, int* status, unsigned long long* id,
                                             void**, const void**, const void**, std::size_t*) {
  *status = 0;
  if (id != nullptr) *id = 0;
  return kOk;
}
HONE_RECORD_API int cudaThreadExchangeStreamCaptureMode(int*) { return kOk; }

HONE_RECORD_API int cudaEventCreateWithFlags(EventHandle* event, unsigned flags) {
  need_context();
  return answered(cuEventCreate(event, flags));
}
HONE_RECORD_API int cudaEventCreate(EventHandle* event) {
  return cudaEventCreateWithFlags(event, 0);
}
HONE_RECORD_API int cudaEventDestroy(EventHandle event) {
  return answered(cuEventDestroy_v2(event));
}
HONE_RECORD_API int cudaEventRecordWithFlags(EventHandle event, StreamHandle stream,
                                             unsigned flags) {
  return answered(cuEventRecordWithFlags(event, stream, flags));
}
HONE_RECORD_API int cudaEventRecord(EventHandle event, StreamHandle stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}
HONE_RECORD_API int cudaEventQuery(EventHandle event) { return answered(cuEventQuery(event)); }
HONE_RECORD_API int cudaEventSynchronize(EventHandle event) {
  return answered(cuEventSynchronize(event));
}
HONE_RECORD_API int cudaEventElapsedTime(float* milliseconds, EventHandle start, EventHandle end) {
  return answered(cuEventElapsedTime_v2(milliseconds, start, end));
}
