// Mailbox: closures from any thread for the client's thread.
#pragma once

#include <functional>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace hone::inline client_api {

class Mailbox {
 public:
  Status open();
  /// [any thread]
  void post(std::function<void()> work);
  /// [any thread] Asks the client's thread to end.
  void stop();
  bool is_stopping() const;
  /// [client's thread] Runs the posted closures.
  void run();
  int fd() const { return wake_.get(); }  ///< readable when a closure was posted

 private:
  UniqueFd wake_;
  mutable Mutex mutex_;
  std::vector<std::function<void()>> posted_ HONE_GUARDED_BY(mutex_);
  bool stopping_ HONE_GUARDED_BY(mutex_) = false;
};

}  // namespace hone::inline client_api
