// FigureCache: figures that are costly to compute, kept for some seconds.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "model/value.hpp"

namespace hone {

/// [any thread] Figures by client and reward, or by task. One thread at a time computes the figures of a key. Other requests of this key
/// wait for it; requests of other keys do not. The main key, with two empty strings, is never evicted before it expires.
///
///   cache.get({"trainer", ""}, request.gone, [&] { return read_figures("trainer"); });
class FigureCache {
 public:
  using Key = std::pair<std::string, std::string>;
  using Gone = std::function<bool()>;
  using Compute = std::function<Result<Value>()>;

  static constexpr std::size_t kKeptMax = 8;  ///< keys, the main one among them
  /// Requests that compute or wait at a time, for other keys than the main one. Rationale: a journal has two caches, which
  /// together leave some readers (kFigureReaders, web.hpp) for the main keys.
  static constexpr std::size_t kOthersMax = 3;

  /// `kept_s`: time for which a result is kept (s). Figures are kept for `factor` times the time to compute them, if that is longer;
  /// with 10, a key is computed for at most about a tenth of the time. If there are more than kKeptMax keys, some are evicted
  /// earlier.
  explicit FigureCache(double kept_s = 2, double factor = 10) : kept_s_(kept_s), factor_(factor) {}

  /// The result that is kept, or else that of `compute`. cancelled: `gone` has become true while this waited. This error is not
  /// kept. unavailable: kOthersMax other requests compute or wait.
  Result<Value> get(const Key& key, const Gone& gone, const Compute& compute);

 private:
  struct Kept {
    Result<Value> figures;
    double until_s = 0;
  };
  /// nullopt: it is not kept, or too old.
  std::optional<Result<Value>> find(const Key& key) HONE_REQUIRES(mutex_);
  void keep(const Key& key, const Result<Value>& figures, double seconds) HONE_REQUIRES(mutex_);
  Result<Value> compute_once(const Key& key, const Gone& gone, const Compute& compute)
      HONE_EXCLUDES(mutex_);

  const double kept_s_, factor_;
  Mutex mutex_;
  Condition changed_;
  std::map<Key, Kept> kept_ HONE_GUARDED_BY(mutex_);
  std::set<Key> computed_ HONE_GUARDED_BY(mutex_);  ///< keys that some thread computes now
  std::size_t others_ HONE_GUARDED_BY(mutex_) = 0;
};

}  // namespace hone
