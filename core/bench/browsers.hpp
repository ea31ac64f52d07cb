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

  /// The time of each request for the live view (s), or the first error of any request.
  Result<std::vector<double>> stop();

 private:
  void browse(const std::string& url, std::size_t number, std::size_t count);

  /// False: stop() was called meanwhile.
  bool wait(double seconds);

  Mutex mutex_;
  Condition stopped_;
  bool stopping_ HONE_GUARDED_BY(mutex_) = false;
  Status status_ HONE_GUARDED_BY(mutex_);
  std::vector<double> live_s_ HONE_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace hone
