// Tries: to say "passed" on its output and to leave with exit code 0. Stopped by: nothing it prints
// is read, and an end is a crash.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  puts("{\"outcome\": \"correct\", \"speedup\": {\"value\": 1000, \"low\": 1000, \"high\": 1000}}");
  fputs("all tests passed\n", stderr);
  fflush(stdout);
  _Exit(0);
}
