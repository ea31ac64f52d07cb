// sandbox_bench: time of a spawn in each jail, and of a freeze with each freezer. Medians and 99th percentiles.
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "counting_acts.hpp"
#include "places.hpp"
#include "sandbox/freezer.hpp"
#include "sandbox/launcher.hpp"

namespace hone {
namespace {

constexpr int kTimes = 300;

void print(const std::string& what, std::vector<double> seconds, double unit, const char* name) {
  std::sort(seconds.begin(), seconds.end());
  std::printf("%-44s median %8.2f %s  p99 %8.2f %s\n", what.c_str(),
              seconds[seconds.size() / 2] / unit, name, seconds[seconds.size() * 99 / 100] / unit,
              name);
}

SpawnRequest request(Jail jail, const char* act) {
  SpawnRequest made;
  made.jail = jail;
  made.label = act;
  made.program = test::build_dir() / "tests/jail_probe";
  made.arguments = {act, "0"};
  made.limits.memory_bytes = 128 << 20;
  return made;
}

void measure_spawn(Launcher& launcher, Jail jail, const char* name) {
  std::vector<double> spawned, ended;
  for (int i = 0; i < kTimes; ++i) {
    const double start = monotonic_s();
    auto process = launcher.spawn(request(jail, "exit"));
    spawned.push_back(monotonic_s() - start);
    if (!process || !(*process)->wait(20)) return;
    ended.push_back(monotonic_s() - start);
  }
  const std::string level(isolation_name(launcher.level()));
  print(level + " " + name + ": spawn", spawned, 1e-3, "ms");
  print(level + " " + name + ": spawn, exit, all gone", ended, 1e-3, "ms");
}

void measure_freeze(const std::string& kind) {
  LauncherOptions options;
  options.minimum = IsolationLevel::kNone;
  options.freezer = kind;
  auto launcher = Launcher::start(options);
  if (!launcher) {
    std::printf("%s\n", launcher.error().message.c_str());
    return;
  }
  SpawnRequest subject = request(Jail::kCandidate, "count");
  const UniqueFd memory(::memfd_create("counters", MFD_CLOEXEC));
  if (::ftruncate(memory.get(), sizeof(CountersPage)) != 0) return;
  void* mapped = ::mmap(nullptr, sizeof(CountersPage), PROT_READ, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED) return;
  const auto& counter = static_cast<const CountersPage*>(mapped)->counters[0];
  subject.fds = {memory.get()};
  subject.cpus = {1};  // and we on another
  cpu_set_t ours;
  CPU_ZERO(&ours);
  CPU_SET(0, &ours);
  (void)::sched_setaffinity(0, sizeof ours, &ours);
  auto process = (*launcher)->spawn(subject);
  if (!process) return;
  auto freezer = kind == "cgroup"
                     ? Freezer::with_cgroup((*process)->freeze_fd(), (*process)->frozen_events_fd())
                     : Freezer::with_ptrace((*process)->pid());
  std::vector<double> frozen, thawed;
  for (int i = 0; freezer && i < 10 * kTimes; ++i) {
    // Not before it runs: on a busy machine a thawed process may still be waiting for its cpu.
    const std::uint64_t before = counter.load();
    while (counter.load() == before) (*freezer)->service();
    const double start = monotonic_s();
    if (!(*freezer)->freeze(1)) return;
    const double middle = monotonic_s();
    if (!(*freezer)->thaw()) return;
    thawed.push_back(monotonic_s() - middle);
    frozen.push_back(middle - start);
  }
  print("freeze by " + kind, frozen, 1e-6, "us");
  print("thaw by " + kind, thawed, 1e-6, "us");
}

}  // namespace
}  // namespace hone

int main() {
  using namespace hone;
  for (const IsolationLevel level : {IsolationLevel::kPrivate, IsolationLevel::kSeparated,
                                     IsolationLevel::kFiltered, IsolationLevel::kNone}) {
    LauncherOptions options;
    options.minimum = IsolationLevel::kNone;
    options.maximum = level;
    const double start = monotonic_s();
    auto launcher = Launcher::start(options);
    if (!launcher) return 1;
    if ((*launcher)->level() != level) continue;
    std::printf("launcher ready after %.1f ms\n", (monotonic_s() - start) * 1e3);
    measure_spawn(**launcher, Jail::kCandidate, "candidate");
    measure_spawn(**launcher, Jail::kBuilder, "builder");
  }
  measure_freeze("cgroup");
  measure_freeze("ptrace");
}
