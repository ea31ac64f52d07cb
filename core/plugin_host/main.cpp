// hone-plugin-host: runs one plugin from outside the tree: a library in its own process, a Python file by its
// interpreter. Started by HostedPlugin.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "plugin_host/library_host.hpp"
#include "plugin_host/protocol.hpp"

namespace {

/// The process is killed when hone ends, has no descriptor but its socket, and leaves no core dump.
bool set_up_process(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != parent) return false;  // hone ended before the signal was set
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  syscall(SYS_close_range, hone::kPluginHostSocket + 1, ~0U, 0);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::signal(SIGPIPE, SIG_IGN);
  return true;
}

/// Rationale: limits data and not address space, because interpreters and thread pools reserve far more than
/// they use.
void limit_memory(rlim_t megabytes) {
  const rlimit memory{megabytes << 20, megabytes << 20};
  if (megabytes > 0) setrlimit(RLIMIT_DATA, &memory);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6 && argc != 7) {
    std::fputs("hone-plugin-host: hone starts this program; do not run it directly\n", stderr);
    return 2;
  }
  if (!set_up_process(static_cast<pid_t>(std::atol(argv[1])))) return 1;
  const auto memory_mb = static_cast<rlim_t>(std::atoll(argv[2]));
  if (std::string_view(argv[3]) == "library") {
#ifndef HONE_SANITIZED  // a sanitizer's shadow memory is larger than any limit
    limit_memory(memory_mb);
#endif
    return hone::serve_library(hone::kPluginHostSocket, argv[4], argv[5]);
  }
  char no_site[] = "-s", unbuffered[] = "-u", no_cache[] = "-B";
  char* words[] = {argv[4], no_site, unbuffered, no_cache, argv[5], argv[6], nullptr};
  limit_memory(memory_mb);
  execv(argv[4], words);
  std::fprintf(stderr, "cannot run %s: %s\n", argv[4], std::strerror(errno));
  return 127;
}
