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

/// [any thread] Figures by client and reward. The figures of one key are computed by one thread at a time; others that want the
/// same key wait for them, and no other key waits. The main key, without client and reward, always has a place.
///
///   cache.get({"trainer", ""}, request.gone, [&] { return read_figures("trainer"); });
class FigureCache {
 public:
  using Key = std::pair<std::string, std::string>;
  using Gone = std::function<bool()>;
  using Compute = std::function<Result<Value>()>;

  static constexpr std::size_t kKeptMax = 8;  ///< keys, the main one among them
  /// Requests of other keys than the main one that compute or wait. Rationale: a page compares two sets, and the requests that read
  /// a journal are limited, too (web.hpp).
  static constexpr std::size_t kOthersMax = 4;

  /// `kept_s`: how long figures are kept, and longer if they take long to compute.
  explicit FigureCache(double kept_s = 2) : kept_s_(kept_s) {}

  /// cancelled: `gone` has become true while this waited. unavailable: too many other requests compute. Otherwise the
  /// result of `compute`, whose errors are not kept.
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
