// Browsers: threads that ask a web process for data as the page in a browser does.
#pragma once

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"

namespace hone {

/// Half of them show the live view, a quarter the list of episodes, a quarter the tasks. They ask until stop().
class Browsers {
 public:
  Browsers(const std::string& url, std::size_t count);
  ~Browsers() { static_cast<void>(stop()); }

  struct Requests {
    std::vector<double> live_s;  ///< the time of each successful request for the live view (s)
    std::size_t all = 0, failed = 0;
  };
  /// The requests so far. A page shows a failed request and asks again, so an error here means that all of them failed; it is
  /// the first one.
  Result<Requests> stop();

 private:
  void browse(const std::string& url, std::size_t number, std::size_t count);

  /// False: stop() was called meanwhile.
  bool wait(double seconds);

  Mutex mutex_;
  Condition stopped_;
  bool stopping_ HONE_GUARDED_BY(mutex_) = false;
  Status first_error_ HONE_GUARDED_BY(mutex_);
  Requests requests_ HONE_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace hone
