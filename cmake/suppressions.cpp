// Suppressions for libraries of the system, which are built without sanitizers. hone_build.cmake adds this file to each program
// of a preset with sanitizers.

// Rationale: the thread sanitizer does not see the synchronisation inside libzmq, libsodium and cpp-httplib, and reports races.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libzmq.so\nrace:libzmq.so\n"
         "called_from_lib:libsodium.so\nrace:libsodium.so\n"
         "called_from_lib:libcpp-httplib\n";
}

// Rationale: libzmq may lose a message of its own where a connection ends while its context does (seen once, in
// Endpoint.StaleSocket_IsReplacedButALiveOneIsNot).
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libzmq.so\n"; }
