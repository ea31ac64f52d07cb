// Tries: to report by itself, from a constructor, that all is loaded, and to end then. Stopped by:
// a report is not believed; the work has to be done.
#include <stdint.h>
#include <unistd.h>
[[gnu::constructor]] static void lie() {
  struct {
    uint32_t version, report;
    int32_t code;
    uint32_t flags;
    char message[256];
  } loaded{8, 3, 0, 0, "fine"};
  (void)!write(3, &loaded, sizeof loaded);
  for (;;) pause();
}
extern "C" void add_relu(const float*, const float*, float*, int64_t) {}
