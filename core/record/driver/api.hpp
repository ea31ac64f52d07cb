// Shared by all files of the driver's functions: the recording's lock, and a guard that turns
// exceptions into status codes.
#pragma once

#include <mutex>
#include <new>

#include "hone/plugin/failure.hpp"
#include "record/driver/types.hpp"
#include "record/plan/recording.hpp"
#include "record/plan/work.hpp"

/// A function that programs find by its name.
#define HONE_RECORD_API extern "C" __attribute__((visibility("default")))

namespace hone::record {

/// The recording of this process. It is never destroyed: programs call the driver while they end.
Recording& the_recording();
/// Held during every use of the recording. After fork(), the child may take it even if another thread of the parent held it.
std::mutex& recording_lock();

/// Calls `use` with the locked recording. Exceptions become a status, and the recording's problem.
template <typename Fn>
int guarded(Fn&& use) {
  const std::lock_guard<std::mutex> lock(recording_lock());
  Recording& recording = the_recording();
  try {
    return use(recording);
  } catch (const std::bad_alloc&) {
    recording.fail("out of memory while recording");
    return kOutOfMemory;
  } catch (const std::exception& e) {
    recording.fail(e.what());
    return kUnknown;
  }
}

/// The only context. Programs compare its address.
ContextHandle the_context();

/// For calls that cannot be recorded: makes the call the recording's problem and returns kNotSupported.
int not_supported(const char* function);
int fail_with(const char* reason);

}  // namespace hone::record
