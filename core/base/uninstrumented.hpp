// Tells sanitizers of the libraries that are not built with them: Debian's. For a source that each program with such a
// library has; of several of these a program takes one.
#pragma once

#if defined(__SANITIZE_THREAD__)
// Rationale: the thread sanitizer does not see the synchronisation inside libzmq, libsodium and cpp-httplib, and reports races.
extern "C" __attribute__((weak, visibility("default"))) const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libzmq.so\nrace:libzmq.so\n"
         "called_from_lib:libsodium.so\nrace:libsodium.so\n"
         "called_from_lib:libcpp-httplib\n";
}
#endif

#if defined(__SANITIZE_ADDRESS__)
// Rationale: libzmq may lose a message of its own where a connection ends while its context does (seen once, in
// Endpoint.StaleSocket_IsReplacedButALiveOneIsNot).
extern "C" __attribute__((weak, visibility("default"))) const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libzmq.so\n"; }
#endif
