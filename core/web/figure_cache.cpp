#include "web/figure_cache.hpp"

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"

namespace hone {
namespace {

constexpr double kKeptFactor = 10;  // so that a key is computed for at most a tenth of the time
constexpr std::chrono::milliseconds kGoneCheck{100};

bool is_main(const FigureCache::Key& key) { return key.first.empty() && key.second.empty(); }

}  // namespace

Value FigureCache::find(const Key& key) {
  const double now_s = monotonic_s();
  std::erase_if(kept_, [now_s](const auto& one) { return one.second.until_s <= now_s; });
  const auto found = kept_.find(key);
  return found == kept_.end() ? Value() : found->second.figures;
}

void FigureCache::keep(const Key& key, const Value& figures, double seconds) {
  kept_[key] = {figures, monotonic_s() + seconds};
  if (kept_.size() <= kKeptMax) return;
  const auto rank = [&key](const auto& one) {
    return std::pair(is_main(one.first) || one.first == key, one.second.until_s);
  };
  kept_.erase(std::min_element(kept_.begin(), kept_.end(), [&rank](const auto& a, const auto& b) {
    return rank(a) < rank(b);
  }));
}

Result<Value> FigureCache::get(const Key& key, const Gone& gone, const Compute& compute) {
  {
    MutexLock lock(mutex_);
    if (Value figures = find(key); !figures.is_nil()) return figures;
    if (!is_main(key) && others_ == kOthersMax)
      return unavailable("too many requests for figures of one client or reward; try again later");
    if (!is_main(key)) ++others_;
  }
  Result<Value> figures = compute_once(key, gone, compute);
  MutexLock lock(mutex_);
  if (!is_main(key)) --others_;
  return figures;
}

Result<Value> FigureCache::compute_once(const Key& key, const Gone& gone, const Compute& compute) {
  {
    MutexLock lock(mutex_);
    while (computed_.count(key) != 0) {
      changed_.wait_for(mutex_, kGoneCheck);
      if (gone()) return Error{Code::kCancelled, "the request was closed"};
    }
    if (Value figures = find(key); !figures.is_nil()) return figures;
    computed_.insert(key);
  }
  const double start_s = monotonic_s();
  Result<Value> figures = compute();
  MutexLock lock(mutex_);
  computed_.erase(key);
  if (figures) keep(key, *figures, std::max(kept_s_, kKeptFactor * (monotonic_s() - start_s)));
  changed_.notify_all();
  return figures;
}

}  // namespace hone
