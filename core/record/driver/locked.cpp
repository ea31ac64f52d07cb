// The recording of the process and its lock.
#include <pthread.h>

#include <string>

#include "record/driver/api.hpp"

namespace hone::record {
namespace {

void lock_for_fork() { recording_lock().lock(); }
void unlock_after_fork() { recording_lock().unlock(); }

}  // namespace

Recording& the_recording() {
  static auto* const kRecording = new Recording;
  return *kRecording;
}

std::mutex& recording_lock() {
  static auto* const kLock = [] {
    auto* lock = new std::mutex;
    ::pthread_atfork(lock_for_fork, unlock_after_fork, unlock_after_fork);
    return lock;
  }();
  return *kLock;
}

ContextHandle the_context() {
  static char context;
  return &context;
}

int not_supported(const char* function) {
  return fail_with(("function " + std::string(function) + " is not supported").c_str());
}

int fail_with(const char* reason) {
  return guarded([&](Recording& r) {
    r.fail(reason);
    return kNotSupported;
  });
}

}  // namespace hone::record
