// Every refusal of the filters that depends on an `int` argument, with the upper half of that argument set. The
// kernel ignores the upper half, so a filter that compares all 64 bits would allow the call.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <csignal>

#include "sandbox_fixture.hpp"

namespace hone {
namespace {

struct Refused {
  const char* seal;
  long number;
  std::string arguments;  ///< as raw_call_acts.cpp reads them
};

std::string of_int(long value) { return "i" + std::to_string(value); }

std::vector<Refused> refusals() {
  std::vector<Refused> all;
  for (const int signal : {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGXCPU, SIGXFSZ, SIGSYS}) {
    all.push_back({"seal:", SYS_kill, "pid " + of_int(signal)});
    all.push_back({"seal:", SYS_tgkill, "pid tid " + of_int(signal)});
  }
  for (const int signal : {0, SIGKILL}) {
    all.push_back({"seal:", SYS_kill, "i0 " + of_int(signal)});
    all.push_back({"seal:", SYS_kill, "i-1 " + of_int(signal)});
    all.push_back({"build:", SYS_kill, "i-1 " + of_int(signal)});
    all.push_back({"module:", SYS_kill, "i-1 " + of_int(signal)});
    all.push_back({"sanitizer:", SYS_kill, "i-1 " + of_int(signal)});
  }
  all.push_back({"seal:", SYS_tkill, "tid i9"});
  all.push_back({"seal:", SYS_prlimit64, "i0 " + of_int(RLIMIT_NOFILE) + " buffer 0"});
  all.push_back({"seal:", SYS_setrlimit, of_int(RLIMIT_NOFILE) + " buffer"});
  all.push_back({"seal:", SYS_madvise, "buffer 4096 " + of_int(MADV_REMOVE)});
  all.push_back({"seal:", SYS_madvise, "buffer 4096 " + of_int(MADV_MERGEABLE)});
  all.push_back({"seal:", SYS_prctl, of_int(PR_SET_DUMPABLE) + " 0"});
  all.push_back({"seal:", SYS_prctl, of_int(PR_SET_PDEATHSIG) + " 0"});
  all.push_back({"seal:", SYS_socket, of_int(AF_INET) + " " + of_int(SOCK_STREAM) + " i0"});
  all.push_back({"seal:", SYS_setpriority, "i0 i0 i5"});
  for (const char* seal : {"seal:", "build:", "module:", "sanitizer:"}) {
    for (const int command : {F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETLK, F_SETLKW, F_OFD_SETLK,
                              F_OFD_SETLKW, F_SETLEASE, F_NOTIFY})
      all.push_back({seal, SYS_fcntl, "i0 " + of_int(command) + " buffer"});
    for (const int request : {FIOSETOWN, SIOCSPGRP, TIOCSTI})
      all.push_back({seal, SYS_ioctl, "i0 " + of_int(request) + " buffer"});
    for (const int clock : {-2, -6, 12})  // -6: the processor time of process 0
      all.push_back({seal, SYS_clock_gettime, of_int(clock) + " buffer"});
  }
  for (const char* seal : {"build:", "module:", "sanitizer:"}) {
    all.push_back({seal, SYS_setrlimit, of_int(RLIMIT_CORE) + " buffer"});
    all.push_back({seal, SYS_prlimit64, "i0 " + of_int(RLIMIT_CORE) + " buffer 0"});
    all.push_back({seal, SYS_setpriority, "i1 i0 i5"});
    all.push_back({seal, SYS_socket, of_int(AF_INET) + " " + of_int(SOCK_STREAM) + " i0"});
  }
  for (const int type : {S_IFCHR, S_IFBLK, S_IFREG, S_IFSOCK, 0})
    all.push_back({"sanitizer:", SYS_mknod, "buffer " + of_int(type | 0600) + " 259"});
  return all;
}

TEST(Filters, UpperHalfOfAnIntArgument_ChangesNoRefusal) {
  LauncherOptions options;
  options.minimum = IsolationLevel::kNone;
  options.maximum = IsolationLevel::kFiltered;  // the filter alone
  auto launcher = Launcher::start(options);
  ASSERT_TRUE(launcher) << launcher.error().message;
  for (const Refused& refused : refusals()) {
    const Jail jail = std::string(refused.seal) == "seal:" ? Jail::kCandidate : Jail::kBuilder;
    for (const int bit : {-1, 32, 63}) {
      const std::string detail =
          std::to_string(bit) + " " + std::to_string(refused.number) + " " + refused.arguments;
      auto process =
          (*launcher)->spawn(probe_request(jail, std::string(refused.seal) + "raw-call", detail));
      ASSERT_TRUE(process) << process.error().message;
      const auto exit = (*process)->wait(30);
      ASSERT_TRUE(exit) << exit.error().message;
      EXPECT_EQ(exit->signal, 0) << refused.seal << " " << detail;
      EXPECT_EQ(exit->output, "EPERM\n") << refused.seal << " " << detail;
    }
  }
}

}  // namespace
}  // namespace hone
