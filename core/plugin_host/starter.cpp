// A thread that calls posix_spawn, with a queue of requests.
#include "plugin_host/starter.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <optional>
#include <thread>

#include "base/mutex.hpp"

namespace hone {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

/// In the new process no signal is blocked or ignored, and it leads its own process group.
void set_attributes(posix_spawnattr_t& attributes) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

Result<pid_t> spawn(StartRequest request) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, request.output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, request.output, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, request.socket, 3);
  set_attributes(attributes);
  pid_t pid = 0;
  const int failed =
      posix_spawn(&pid, request.arguments.front().c_str(), &actions, &attributes,
                  pointers(request.arguments).data(), pointers(request.environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return system_error("start " + request.arguments.front(), failed);
  return pid;
}

/// A request and the promise of its result.
struct Order {
  StartRequest request;
  std::optional<Result<pid_t>> answer;
};

}  // namespace

struct HostStarter::Thread {
  Mutex mutex;
  Condition changed;
  std::deque<Order*> orders HONE_GUARDED_BY(mutex);
  bool started HONE_GUARDED_BY(mutex) = false;
  bool ending HONE_GUARDED_BY(mutex) = false;
  std::thread thread;

  void run() {
    MutexLock lock(mutex);
    for (;;) {
      while (orders.empty() && !ending) changed.wait(mutex);
      if (orders.empty()) return;
      Order& order = *orders.front();
      orders.pop_front();
      order.answer = spawn(order.request);
      changed.notify_all();
    }
  }
};

HostStarter::HostStarter() : thread_(std::make_unique<Thread>()) {}

HostStarter::~HostStarter() {
  {
    MutexLock lock(thread_->mutex);
    thread_->ending = true;
    thread_->changed.notify_all();
  }
  if (thread_->thread.joinable()) thread_->thread.join();
}

Result<pid_t> HostStarter::start(const StartRequest& request) {
  Order order{request, {}};
  MutexLock lock(thread_->mutex);
  if (!thread_->started) {
    thread_->thread = std::thread([thread = thread_.get()] { thread->run(); });
    thread_->started = true;
  }
  thread_->orders.push_back(&order);
  thread_->changed.notify_all();
  while (!order.answer) thread_->changed.wait(thread_->mutex);
  return *order.answer;
}

}  // namespace hone
