#include "web/figure_cache.hpp"

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"

namespace hone {
namespace {

constexpr std::chrono::milliseconds kGoneCheck{100};

bool is_main(const FigureCache::Key& key) { return key.first.empty() && key.second.empty(); }

}  // namespace

std::optional<Result<Value>> FigureCache::find(const Key& key) {
  const double now_s = monotonic_s();
  std::erase_if(kept_, [now_s](const auto& one) { return one.second.until_s <= now_s; });
  const auto found = kept_.find(key);
  if (found == kept_.end()) return std::nullopt;
  return found->second.figures;
}

void FigureCache::keep(const Key& key, const Result<Value>& figures, double seconds) {
  kept_.insert_or_assign(key, Kept{figures, monotonic_s() + seconds});
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
    if (auto kept = find(key)) return std::move(*kept);
    if (!is_main(key) && others_ == kOthersMax)
      return unavailable(
          "too many requests for figures of one task, client or reward; try again later");
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
    if (auto kept = find(key)) return std::move(*kept);
    computed_.insert(key);
  }
  const double start_s = monotonic_s();
  Result<Value> figures = compute();
  MutexLock lock(mutex_);
  computed_.erase(key);
  if (figures) {
    keep(key, figures, std::max(kept_s_, factor_ * (monotonic_s() - start_s)));
  } else if (figures.error().code != Code::kCancelled) {
    keep(key, figures,
         kept_s_);  // otherwise each waiting request would repeat the failed computation
  }
  changed_.notify_all();
  return figures;
}

}  // namespace hone
