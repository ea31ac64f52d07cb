// Closures for the client's thread.
#include "mailbox.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace hone::inline client_api {

Status Mailbox::open() {
  wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) return system_error("eventfd", errno);
  return {};
}

void Mailbox::post(std::function<void()> work) {
  {
    MutexLock lock(mutex_);
    posted_.push_back(std::move(work));
  }
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_.get(), &one, sizeof one));
}

void Mailbox::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  post([] {});
}

bool Mailbox::is_stopping() const {
  MutexLock lock(mutex_);
  return stopping_;
}

void Mailbox::run() {
  std::uint64_t count = 0;
  static_cast<void>(!::read(wake_.get(), &count, sizeof count));
  std::vector<std::function<void()>> posted;
  {
    MutexLock lock(mutex_);
    posted.swap(posted_);
  }
  for (auto& work : posted) work();
}

}  // namespace hone::inline client_api
