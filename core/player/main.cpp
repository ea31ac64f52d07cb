// hone-player: makes the calls of a submission's plan on a device for the tools sanitize and profile, inside a jail, then ends.
//
//   hone-player sanitize BACKEND.so DEVICE SANITIZER [READABLE…]
//   hone-player count    BACKEND.so DEVICE LIBRARY   [READABLE…]
//   hone-player play     BACKEND.so DEVICE                         (under the sanitizer)
//
// The first two have descriptor 3, the host, and start in an empty folder that they can write.
//
// Theory of operation. `sanitize` seals itself, gets a request from the host, and starts the sanitizer once for each run. The
// sanitizer starts `play`, which makes the calls. `count` seals itself, opens the device and a library that reads hardware
// counters, waits for its one request, maybe for long, and then makes the launches of one call several times. The device code
// is the submission's, and all host code is trusted. But the driver and the sanitizer parse an image that the submission chose,
// so all forms count as untrusted. Their inputs come from a public seed, so they learn no secret. The host treats their answer
// as untrusted data.
#include <fcntl.h>
#include <sys/prctl.h>

#include <cstdlib>
#include <string>

#include "base/priority.hpp"
#include "player/count.hpp"
#include "player/play.hpp"
#include "player/sanitize.hpp"

namespace hone {
namespace {

constexpr int kWrongArguments = 64;

int serve(const std::string& what, const PlayerArguments& given) {
  prctl(PR_SET_NAME, "hone-player");
  set_priority(0, kBuilderPriority);
  fcntl(kPlayerHost, F_SETFD, FD_CLOEXEC);  // a sanitizer must not inherit it
  if (what == "sanitize") return sanitize(given);
  return what == "count" ? count(given) : kWrongArguments;
}

int player_main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == kPlayArgument)
    std::_Exit(play(argv[2], static_cast<std::uint32_t>(std::atoi(argv[3]))));
  if (argc < 5) return kWrongArguments;
  return serve(argv[1], {argv[0], argv[2], argv[3], argv[4], {argv + 5, argv + argc}});
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) { return hone::player_main(argc, argv); }
