// A library for a sealed process to load.
extern "C" __attribute__((visibility("default"))) int answer() { return 42; }
