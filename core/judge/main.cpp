// hone-judge: the trusted process of one device. Owns inputs, answers and the clock.
//
//   hone-judge BACKEND.so DEVICE CPU CORES     (CORES: "1,0"; the host's socket is descriptor 3)
#include <sched.h>
#include <sys/prctl.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "base/priority.hpp"
#include "judge/judge.hpp"
#include "plugin/call.hpp"
#include "sandbox/seal.hpp"

namespace hone {
namespace {

constexpr int kHost = 3;

int judge_main(int argc, char** argv) {
  if (argc != 5) return 64;
  // No other process may read this one, whatever user they share; and its short sleeps end in time.
  if (Status guarded = guard_trusted_process(); !guarded) {
    std::fprintf(stderr, "judge: %s\n", guarded.error().message.c_str());
    return 70;
  }
  prctl(PR_SET_TIMERSLACK, 1);
  prctl(PR_SET_NAME, "hone-judge");
  set_priority(0, kMeasurePriority);
  const int cpu = std::atoi(argv[3]);
  std::vector<int> cores;
  std::stringstream list(argv[4]);
  for (std::string core; std::getline(list, core, ',');) cores.push_back(std::atoi(core.c_str()));
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  sched_setaffinity(0, sizeof set, &set);

  auto backend = Backend::load(argv[1]);
  if (!backend) {
    std::fprintf(stderr, "judge: %s\n", backend.error().message.c_str());
    return 70;
  }
  hone_error error = empty_error();
  hone_device* device = nullptr;
  const auto index = static_cast<std::uint32_t>(std::atoi(argv[2]));
  if ((*backend)->factory()->open_device((*backend)->host(), index, &device, &error) != HONE_OK) {
    std::fprintf(stderr, "judge: open device %u: %s\n", index, error.message);
    return 70;
  }
  Judge(kHost, **backend, device, cpu, std::move(cores)).serve();
  (*backend)->factory()->close_device(device);
  return 0;
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) { return hone::judge_main(argc, argv); }
