// hone-candidate: the untrusted process that runs a submission. Maps what the judge sends, seals itself,
// loads one artifact, and calls it when told to.
//
// Theory of operation: core/channel/control.hpp. Until it has sealed itself this program is
// trusted; after the artifact is loaded it is the submission's, and nothing it says is believed.
// Where artifacts are device code alone, its own code stays ours, and it can be told to load another; so can a
// process of the dataset's own modules.
// For modules the same program is a library, which a Python interpreter of ours calls (module/).
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

#include "base/files.hpp"
#include "candidate/rounds.hpp"
#include "channel/control.hpp"
#include "plugin/backend.hpp"
#include "sandbox/seal.hpp"

namespace hone {
namespace {

constexpr int kSocket = 3;
constexpr std::size_t kFdCount = 4;
constexpr int kSpins = 20000;  // some tens of µs before the thread sleeps

Status check(int32_t code, const hone_error& error, const char* what) {
  if (code == HONE_OK) return {};
  return Error{static_cast<Code>(code), std::string(what) + ": " + error.message};
}

Result<std::array<UniqueFd, kFdCount>> receive_setup(Setup& setup) {
  union {
    cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int) * kFdCount)];
  } control{};
  iovec part{&setup, sizeof setup};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  ssize_t n = 0;
  do {
    n = recvmsg(kSocket, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n == 0) std::exit(0);  // the judge no longer needs us
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (n != static_cast<ssize_t>(sizeof setup) || setup.version != kChannelVersion ||
      header == nullptr || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len != CMSG_LEN(sizeof(int) * kFdCount)) {
    return internal_error("setup: broken message");
  }
  std::array<UniqueFd, kFdCount> fds;
  for (std::size_t i = 0; i < kFdCount; ++i) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
    fds[i].reset(fd);
  }
  return fds;
}

/// The submission's share of address space: what is mapped now, and `extra` more.
void limit_memory(std::uint64_t extra) {
#if !defined(HONE_SANITIZED)
  if (extra == 0) return;
  std::ifstream statm("/proc/self/statm");
  std::uint64_t pages = 0;
  if (!(statm >> pages)) return;
  const rlimit limit{pages * 4096 + extra, pages * 4096 + extra};
  setrlimit(RLIMIT_AS, &limit);
#else
  static_cast<void>(extra);  // sanitizers reserve terabytes
#endif
}

Status open(Candidate& self, const Backend& backend, std::uint32_t index,
            const hone_python* python) {
  hone_error error = fresh_error();
  self.backend = backend.factory();
  HONE_TRY(check(self.backend->open_device(backend.host(), index, &self.device, &error), error,
                 "open device"));
  if (python == nullptr) return {};
  if (self.backend->use_python == nullptr)
    return failed_precondition(
        "the backend does not support Python modules: its use_python is NULL");
  HONE_TRY(check(self.backend->use_python(self.device, python, &error), error, "use Python"));
  if (python->open == nullptr) return {};
  return check(python->open(index, error.message, sizeof error.message), error, "open");
}

Status map_controls(Candidate& self, const std::array<UniqueFd, kFdCount>& fds) {
  HONE_ASSIGN(void* orders, map_region(fds[0].get(), kOrdersBytes, false));
  HONE_ASSIGN(void* answers, map_region(fds[1].get(), kAnswersBytes, true));
  self.orders = static_cast<const Orders*>(orders);
  self.answers = static_cast<Answers*>(answers);
  return {};
}

Status import_arena(Candidate& self, int fd) {
  hone_error error = fresh_error();
  self.backend->release_buffer(self.arena);
  self.arena = nullptr;
  HONE_TRY(check(
      self.backend->import_buffer(self.device, fd, self.setup.arena_bytes, &self.arena, &error),
      error, "import arena"));
  char* base = static_cast<char*>(self.backend->map_buffer(self.arena));
  self.device_code = base == nullptr;
  if (base != nullptr && self.setup.populate != 0) populate(base, self.setup.arena_bytes);
  return {};
}

Status prepare(Candidate& self, const std::array<UniqueFd, kFdCount>& fds) {
  hone_error error = fresh_error();
  HONE_TRY(map_controls(self, fds));
  HONE_TRY(import_arena(self, fds[2].get()));
  const Setup& setup = self.setup;
  HONE_TRY(check(self.backend->prepare_load(self.device, setup.threads, &error), error, "prepare"));
  if (self.device_code) {
    HONE_TRY(check(self.backend->create_buffer(self.device, kSpareBytes, &self.spare, &error),
                   error, "spare memory"));
  }
  if (self.sealed) return {};
  limit_memory(self.device_code ? 0 : setup.memory_bytes);
  SealOptions seal;
  // Libraries of torch start threads where they use a device.
  seal.threads = setup.threads > 1 || (self.device_code && self.python != nullptr);
  seal.device = self.device_code;
  seal.readable = self.readable;
  // A module's folder, where the launcher has given it one.
  if (const char* folder = std::getenv("TMPDIR"); self.python != nullptr && folder != nullptr)
    seal.writable = folder;
#if defined(HONE_TEST_BUILD)
  seal.seccomp = (setup.weaken & 1u) == 0;
  seal.landlock = (setup.weaken & 2u) == 0;
#endif
  return seal_candidate(seal);
}

Status load(Candidate& self, int artifact_fd) {
  hone_error error = fresh_error();
  self.note.clear();
  const Setup& setup = self.setup;
  HONE_TRY(
      check(self.backend->load(self.device, artifact_fd, &self.artifact, &error), error, "load"));
  if (setup.kernel_count > kKernelsMax) return internal_error("setup: too many kernels");
  for (std::uint32_t i = 0; i < setup.kernel_count; ++i) {
    const KernelName& kernel = setup.kernels[i];
    HONE_TRY(check(self.backend->get_kernel(self.artifact, kernel.name, kernel.argument_kinds,
                                            kernel.argument_count, &self.kernels[i], &error),
                   error, "entry"));
    if (error.message[0] != '\0') self.note = error.message;
  }
  return {};
}

void say(Report report, const Status& status, const std::string& note = "",
         std::uint32_t flags = 0) {
  Loaded loaded{};
  loaded.version = kChannelVersion;
  loaded.report = report;
  loaded.code = status ? HONE_OK : static_cast<std::int32_t>(status.error().code);
  loaded.flags = flags;
  std::snprintf(loaded.message, sizeof loaded.message, "%s",
                status ? note.c_str() : status.error().message.c_str());
  // Rationale: write() rather than send(): the seal leaves reads and writes of open descriptors
  // alone.
  if (write(kSocket, &loaded, sizeof loaded) != static_cast<ssize_t>(sizeof loaded)) std::_Exit(70);
}

/// Another artifact in the place of the one that is loaded, and another arena where the judge says so.
Status reload(Candidate& self) {
  self.backend->unload(self.artifact);
  self.artifact = nullptr;
  std::fill(std::begin(self.kernels), std::end(self.kernels), nullptr);
  self.has_told_choice = false;
  self.answers->chosen_count = 0;
  HONE_ASSIGN(const auto fds, receive_setup(self.setup));
  const Status ready = import_arena(self, fds[2].get());
  say(Report::kSealed, ready);
  HONE_TRY(ready);
  const Status loaded = load(self, fds[3].get());
  say(Report::kLoaded, loaded, self.note, self.flags());
  return loaded;
}

[[noreturn]] void serve(Candidate& self) {
  for (std::uint32_t last = 0;;) {
    std::uint32_t round = self.orders->go.load(std::memory_order_acquire);
    const auto& awake = self.orders->awake;
    for (int spin = 0;
         round == last && (spin < kSpins || awake.load(std::memory_order_relaxed) != 0);
         spin = std::min(spin + 1, kSpins)) {
      __builtin_ia32_pause();
      round = self.orders->go.load(std::memory_order_acquire);
    }
    if (round == last) {
      futex_wait(self.orders->go, last, -1);
      continue;
    }
    const bool reloads = self.orders->order == Order::kReload && self.device_code;
    const bool wakes = self.orders->wake != 0;
    self.answers->answer = obey_guarded(self);
    // Once this is said the orders may be the next round's.
    self.answers->done.store(round, std::memory_order_release);
    if (wakes) futex_wake(self.answers->done);
    last = round;
    if (reloads && !reload(self)) std::_Exit(1);
  }
}

/// Rationale: a module on a device is sealed before the driver has threads, which no seal would bind, and
/// makes its context when it is told to, for that disturbs what is measured: by a setup, or ahead of one by kOpenAhead.
Status seal_and_wait(Candidate& self, const Backend& backend) {
  HONE_ASSIGN(const BackendDescription description, backend.description());
  HONE_TRY(seal_module(self.readable, ".", {description.device_nodes, description.driver_folders}));
  self.sealed = true;
  pollfd polled{kSocket, POLLIN, 0};
  while (poll(&polled, 1, -1) < 0 && errno == EINTR) {
  }
  if ((polled.revents & POLLIN) == 0) std::exit(0);  // the judge has closed the connection
  char packet[2];
  const ssize_t ahead = static_cast<ssize_t>(kOpenAhead.size());
  if (recv(kSocket, packet, sizeof packet, MSG_PEEK) == ahead)
    static_cast<void>(recv(kSocket, packet, sizeof packet, 0));
  return {};
}

}  // namespace

/// `python`: the interpreter that runs this, or null. Arguments: a backend's library, a device's number,
/// and folders that the interpreter needs.
int candidate_main(int argc, char** argv, const hone_python* python) {
  if (argc < 3) return 64;
  prctl(PR_SET_NAME, "hone-candidate");
  // Never unloaded, never destroyed: the process ends with _Exit or a signal.
  static Candidate self;
  self.python = python;
  const auto fail = [](const Error& error) {
    std::fprintf(stderr, "candidate: %s\n", error.message.c_str());
    return 70;
  };
  auto backend = Backend::load(argv[1]);
  if (!backend) return fail(backend.error());
  self.readable.assign(argv + 3, argv + argc);
  if (python != nullptr && python->on_device != 0) {
    if (const Status waited = seal_and_wait(self, **backend); !waited) return fail(waited.error());
  }
  const Status opened =
      open(self, **backend, static_cast<std::uint32_t>(std::atoi(argv[2])), python);
  say(Report::kOpened, opened);
  if (!opened) return fail(opened.error());
  auto fds = receive_setup(self.setup);
  if (!fds) return fail(fds.error());
  const Status ready = prepare(self, *fds);
  say(Report::kSealed, ready);
  if (!ready) return 70;
  const Status loaded = load(self, (*fds)[3].get());
  say(Report::kLoaded, loaded, self.note, self.flags());
  if (!loaded) std::_Exit(1);
  serve(self);
}

}  // namespace hone

#ifdef HONE_CANDIDATE_LIBRARY
/// module/device/run_module.py calls it.
extern "C" __attribute__((visibility("default"))) int hone_candidate_main(
    int argc, char** argv, const hone_python* python) {
  return hone::candidate_main(argc, argv, python);
}
#else
int main(int argc, char** argv) { return hone::candidate_main(argc, argv, nullptr); }
#endif
