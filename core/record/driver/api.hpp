// What every file of the driver's functions needs: the lock of the recording, and the guard at the
// edge of C.
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
/// Held by every use of it. A child after fork() may take it, whatever other threads did before.
std::mutex& recording_lock();

/// Calls `use` with the recording, locked; nothing leaves it but a status.
template <typename Fn>
int guarded(Fn&& use) {
  const std::lock_guard<std::mutex> lock(recording_lock());
  try {
    return use(the_recording());
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  } catch (const std::exception&) {
    return kUnknown;
  }
}

/// The only context. Programs compare its address.
ContextHandle the_context();

/// The answer of a function that cannot be recorded, which the recording keeps as its problem.
int not_supported(const char* function);
int fail_with(const char* reason);

}  // namespace hone::record
