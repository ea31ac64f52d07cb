// Tries: to put nonsense into the page that the judge reads. Stopped by: nothing there is believed;
// nonsense hurts its author.
#include <stdint.h>
#include <string.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  const inside::Pages p = inside::pages();
  memset(p.answers->message, 0xff, sizeof p.answers->message);
  p.answers->answer = 77;
  p.answers->done.store(p.orders->go.load());
  for (;;) pause();
}
