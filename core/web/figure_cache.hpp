// FigureCache: figures that are costly to compute, kept for some seconds.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "model/value.hpp"

namespace hone {

/// [any thread] Figures by client and reward. One thread at a time computes the figures of a key. Other requests of this key
/// wait for it; requests of other keys do not. The main key, without client and reward, is never evicted before it expires.
///
///   cache.get({"trainer", ""}, request.gone, [&] { return read_figures("trainer"); });
class FigureCache {
 public:
  using Key = std::pair<std::string, std::string>;
  using Gone = std::function<bool()>;
  using Compute = std::function<Result<Value>()>;

  static constexpr std::size_t kKeptMax = 8;  ///< keys, the main one among them
  /// Requests that compute or wait at a time, for other keys than the main one. Rationale: fewer than the requests that may read
  /// a journal (web.hpp), so that some are left for other pages.
  static constexpr std::size_t kOthersMax = 4;

  /// `kept_s`: least time that figures are kept (s). Figures that take long to compute are kept longer.
  explicit FigureCache(double kept_s = 2) : kept_s_(kept_s) {}

  /// Figures that are kept, or else the result of `compute`. Errors are not kept. cancelled: `gone` has become true while this
  /// waited. unavailable: kOthersMax other requests compute or wait.
  Result<Value> get(const Key& key, const Gone& gone, const Compute& compute);

 private:
  struct Kept {
    Value figures;
    double until_s = 0;
  };
  /// nil: they are not kept, or too old.
  Value find(const Key& key) HONE_REQUIRES(mutex_);
  void keep(const Key& key, const Value& figures, double seconds) HONE_REQUIRES(mutex_);
  Result<Value> compute_once(const Key& key, const Gone& gone, const Compute& compute)
      HONE_EXCLUDES(mutex_);

  const double kept_s_;
  Mutex mutex_;
  Condition changed_;
  std::map<Key, Kept> kept_ HONE_GUARDED_BY(mutex_);
  std::set<Key> computed_ HONE_GUARDED_BY(mutex_);  ///< keys that some thread computes now
  std::size_t others_ HONE_GUARDED_BY(mutex_) = 0;
};

}  // namespace hone
