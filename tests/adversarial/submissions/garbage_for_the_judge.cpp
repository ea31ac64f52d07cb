// Tries: to break the judge, or to be asked again, by garbage on the socket. Stopped by: messages
// have one size, and what is broken after the seal is the submission's doing.
#include <stdint.h>
#include <unistd.h>
[[gnu::constructor]] static void write_garbage() {
  for (int i = 0; i < 100; ++i) (void)!write(3, "\xff\xfe\x00garbage", 10);
}
extern "C" void add_relu(const float*, const float*, float*, int64_t) {}
