#include "bench/browsers.hpp"

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"
#include "http/http_server.hpp"

namespace hone {
namespace {

struct View {
  const char* path;
  double every_s;  ///< as in core/web/page/app.js
};
constexpr View kLive{"/api/live", 0.8}, kOverTime{"/api/over_time", 2},
    kEpisodes{"/api/episodes", 5}, kTasks{"/api/tasks", 10};

View view_of(std::size_t number) {
  if (number % 4 == 2) return kEpisodes;
  return number % 4 == 3 ? kTasks : kLive;
}

}  // namespace

Browsers::Browsers(const std::string& url, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    threads_.emplace_back([this, url, i, count] { browse(url, i, count); });
}

Result<Browsers::Requests> Browsers::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  MutexLock lock(mutex_);
  if (requests_.failed > 0 && requests_.failed == requests_.all) return first_error_.error();
  return requests_;
}

bool Browsers::wait(double seconds) {
  const double end_s = monotonic_s() + seconds;
  MutexLock lock(mutex_);
  while (!stopping_ && monotonic_s() < end_s)
    stopped_.wait_for(mutex_, std::chrono::duration<double>(end_s - monotonic_s()));
  return !stopping_;
}

void Browsers::browse(const std::string& url, std::size_t number, std::size_t count) {
  const View view = view_of(number);
  double course_s = 0;  // time of the next request for the figures over time
  // Spreads the first requests over one interval.
  double wait_s = view.every_s * static_cast<double>(number) / static_cast<double>(count);
  while (wait(wait_s)) {
    const double begun_s = monotonic_s();
    const auto reply = http_get(url + view.path);
    const double took_s = monotonic_s() - begun_s;
    if (view.path == kLive.path && begun_s >= course_s) {
      // Errors are ignored: if the journal's readers are busy, the page shows the error and asks again later.
      static_cast<void>(http_get(url + kOverTime.path));
      course_s = monotonic_s() + std::max(kOverTime.every_s, 9 * (monotonic_s() - begun_s));
    }
    wait_s = std::max(view.every_s, 9 * took_s);
    MutexLock lock(mutex_);
    ++requests_.all;
    if (!reply) {
      if (++requests_.failed == 1) first_error_ = reply.error();
    } else if (view.path == kLive.path) {
      requests_.live_s.push_back(took_s);
    }
  }
}

}  // namespace hone
