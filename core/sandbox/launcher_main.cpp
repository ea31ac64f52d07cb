// hone-launcher: the small process that starts, jails, watches and ends all the others. Started by
// Launcher::start. The same as a library is run by a program whose copies it starts (share/module/shared/zygote.py).
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "sandbox/cgroup.hpp"
#include "sandbox/messages.hpp"
#include "sandbox/seal.hpp"
#include "sandbox/warden.hpp"

namespace {

constexpr int kHostSocket = 3;
volatile int g_stop = 0;
pid_t g_host = 0;

void on_stop(int /*signal*/) { g_stop = 1; }
/// The kernel also sends this signal if only the parent's thread that started us has ended.
void on_parent_death(int /*signal*/) {
  if (getppid() != g_host) g_stop = 1;
}

void set_up_process() {
  g_host = getppid();
  setsid();  // the host handles the terminal's Ctrl-C
  signal(SIGPIPE, SIG_IGN);
  signal(SIGTERM, on_stop);
  signal(SIGUSR1, on_parent_death);
  prctl(PR_SET_PDEATHSIG, SIGUSR1, 0, 0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  prctl(PR_SET_NAME, "hone-launcher", 0, 0, 0);
}

}  // namespace

namespace hone {
namespace {

int launcher_main(Image image) {
  set_up_process();
  UniqueFd socket(kHostSocket);
  const Result<Packet> packet = receive_packet(kHostSocket);
  if (!packet) {
    std::fputs("hone-launcher: hone starts this program; do not run it directly\n", stderr);
    return 2;
  }
  PacketReader reader(packet->bytes);
  if (static_cast<MessageKind>(reader.number()) != MessageKind::kConfigure) return 2;
  const LauncherOptions options = get_options(reader);
  if (!reader.done()) return 2;
  const Capabilities capabilities = probe_machine();  // must run before PR_SET_DUMPABLE changes
  if (!guard_trusted_process()) return 2;
  std::vector<std::string> notes;
  const CgroupRoots roots = find_cgroups(&notes);
  sweep_cgroups(roots);
  fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  Warden warden(std::move(socket), options, roots, capabilities, image);
  if (!warden.announce()) return 1;
  warden.run(&g_stop);
  return 0;
}

}  // namespace
}  // namespace hone

#ifdef HONE_LAUNCHER_LIBRARY
/// The caller has one thread, the host's socket as descriptor 3, and no open device. Returns when the host
/// has closed the socket.
extern "C" __attribute__((visibility("default"))) int hone_launcher_main(hone::Image image) {
  return hone::launcher_main(image);
}
#else
/// With arguments: executes the named program, which loads an image and runs the launcher as a library. Until
/// then it is killed with the host, and it has no controlling terminal.
int main(int count, char** arguments) {
  if (count < 2) return hone::launcher_main(nullptr);
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  pollfd host{kHostSocket, 0, 0};
  if (poll(&host, 1, 0) != 0) return 1;  // the host ended before it could be watched
  execv(arguments[1], arguments + 1);
  return 127;
}
#endif
