// Streams, events, and graphs, which are lists of kept work.
//
// A capture is strict: streams that took part must have been joined, and no captured stream waits for work outside.
#include "streams.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "driver.hpp"

namespace hone_emulated {
namespace {

using Clock = std::chrono::steady_clock;

struct Graph {
  std::vector<std::function<CUresult()>> work;
};

struct Stream;
/// How much of each captured stream's work is known to be done.
using Known = std::map<const Stream*, unsigned>;

struct Stream {
  std::shared_ptr<Graph> capture;  ///< null: not captured
  bool begun_here = false;
  unsigned work = 0;  ///< kept so far
  Known known;
};

struct Event {
  Clock::time_point at{};
  bool recorded = false;
  std::shared_ptr<Graph> capture;  ///< in which it was recorded last
  Known known;
};

std::vector<std::unique_ptr<Stream>>& streams() {
  static std::vector<std::unique_ptr<Stream>> all;
  return all;
}

Stream* stream_of(CUstream handle) { return reinterpret_cast<Stream*>(handle); }
bool is_captured(CUstream handle) { return handle != nullptr && stream_of(handle)->capture; }

void join(Known& known, const Known& more) {
  for (const auto& [stream, work] : more) known[stream] = std::max(known[stream], work);
}

CUresult end(Stream& origin) {
  CUresult result = CUDA_SUCCESS;
  const std::shared_ptr<Graph> graph = origin.capture;
  for (const auto& stream : streams()) {
    if (stream->capture != graph) continue;
    if (stream.get() != &origin && origin.known[stream.get()] < stream->work)
      result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    *stream = {};
  }
  return result;
}

}  // namespace

CUresult in_order(CUstream handle, std::function<CUresult()> work) {
  {
    const std::lock_guard lock(driver().mutex);
    if (is_captured(handle)) {
      Stream& stream = *stream_of(handle);
      stream.capture->work.push_back(std::move(work));
      ++stream.work;
      return CUDA_SUCCESS;
    }
  }
  return work();
}

}  // namespace hone_emulated

using namespace hone_emulated;

// NOLINTBEGIN(readability-identifier-naming): the driver's names.
HONE_EMULATED_API CUresult cuStreamCreate(CUstream* stream, unsigned) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  if (stream == nullptr) return CUDA_ERROR_INVALID_VALUE;
  streams().push_back(std::make_unique<Stream>());
  *stream = reinterpret_cast<CUstream>(streams().back().get());
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuStreamDestroy_v2(CUstream stream) {
  const std::lock_guard lock(driver().mutex);
  const auto found = std::find_if(streams().begin(), streams().end(),
                                  [&](const auto& one) { return one.get() == stream_of(stream); });
  if (found == streams().end()) return CUDA_ERROR_INVALID_HANDLE;
  streams().erase(found);
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuStreamSynchronize(CUstream stream) {
  if (is_captured(stream)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return wait_for_all();
}

HONE_EMULATED_API CUresult cuStreamQuery(CUstream) {
  const std::lock_guard lock(driver().mutex);
  return ready();
}

HONE_EMULATED_API CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  const auto* what = reinterpret_cast<const Event*>(event);
  if (what == nullptr || handle == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Stream& stream = *stream_of(handle);
  if (!what->recorded) return CUDA_SUCCESS;
  if (stream.capture && what->capture != stream.capture) return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  if (!what->capture) return CUDA_SUCCESS;
  stream.capture = what->capture;
  ++stream.work;
  join(stream.known, what->known);
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuStreamBeginCapture_v2(CUstream stream, int) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  if (stream == nullptr || is_captured(stream)) return CUDA_ERROR_INVALID_VALUE;
  stream_of(stream)->capture = std::make_shared<Graph>();
  stream_of(stream)->begun_here = true;
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  const std::lock_guard lock(driver().mutex);
  if (graph == nullptr || !is_captured(stream) || !stream_of(stream)->begun_here)
    return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_unique<Graph>(*stream_of(stream)->capture);
  *graph = nullptr;
  if (const CUresult result = end(*stream_of(stream)); result != CUDA_SUCCESS) return result;
  *graph = reinterpret_cast<CUgraph>(made.release());
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph graph,
                                                       unsigned long long flags) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  if (out == nullptr || graph == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *out = reinterpret_cast<CUgraphExec>(new Graph(*reinterpret_cast<const Graph*>(graph)));
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuGraphLaunch(CUgraphExec graph, CUstream) {
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& work : reinterpret_cast<const Graph*>(graph)->work) {
    if (const CUresult result = work(); result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuGraphExecDestroy(CUgraphExec graph) {
  delete reinterpret_cast<Graph*>(graph);
  return CUDA_SUCCESS;
}
HONE_EMULATED_API CUresult cuGraphDestroy(CUgraph graph) {
  delete reinterpret_cast<Graph*>(graph);
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuEventCreate(CUevent* event, unsigned) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  if (event == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *event = reinterpret_cast<CUevent>(new Event);
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuEventRecord(CUevent event, CUstream handle) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Event& what = *reinterpret_cast<Event*>(event);
  what = {Clock::now(), true, nullptr, {}};
  if (!is_captured(handle)) return CUDA_SUCCESS;
  const Stream& stream = *stream_of(handle);
  what.capture = stream.capture;
  what.known = stream.known;
  what.known[&stream] = stream.work;
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuEventSynchronize(CUevent) { return wait_for_all(); }

HONE_EMULATED_API CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto* from = reinterpret_cast<const Event*>(start);
  const auto* to = reinterpret_cast<const Event*>(end);
  if (from == nullptr || to == nullptr || !from->recorded || !to->recorded)
    return CUDA_ERROR_INVALID_HANDLE;
  *milliseconds = std::chrono::duration<float, std::milli>(to->at - from->at).count();
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuEventDestroy_v2(CUevent event) {
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  delete reinterpret_cast<Event*>(event);
  return CUDA_SUCCESS;
}
// NOLINTEND(readability-identifier-naming)
