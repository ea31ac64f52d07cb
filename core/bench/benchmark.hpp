// Benchmark: one of the benchmarks of `hone bench`, with the tasks and plugins of a configuration.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "bench/module_mix.hpp"
#include "config/config.hpp"
#include "model/value.hpp"

namespace hone {

inline constexpr const char* kBenchTask = "add_relu";  ///< default task

struct BenchRequest {
  std::string what;               ///< name of the benchmark, such as "step"
  std::string task = kBenchTask;  ///< of step, gpu, modules, noise, journal and web
  std::int64_t count = 0;  ///< submissions, repetitions or rounds; 0: the benchmark's default
  std::string source;      ///< of modules: file of a correct submission; empty: the baseline
  MixRequest mix;          ///< of modules, in place of a task
  std::int64_t episodes = 100'000, steps = 1'000'000;  ///< in the journal of journal and web
  std::string folder = ".";  ///< of journal and web: on the disk to measure
};

/// Open it before the process has threads or sockets.
///
///   HONE_ASSIGN(const Benchmark bench, Benchmark::open({.what = "step"}, loaded));
///   HONE_ASSIGN(const Value figures, bench.measure(say));
class Benchmark {
 public:
  using Say = std::function<void(std::string_view what)>;  ///< progress

  /// Checks options that exclude or need each other. A mix adds a dataset and needs many processes.
  static Result<Benchmark> open(BenchRequest request, LoadedConfig loaded);

  /// A list of figures (model/figure.hpp).
  Result<Value> measure(const Say& say) const;

 private:
  Benchmark(BenchRequest request, MixTraces traces, Config config)
      : request_(std::move(request)), mix_traces_(std::move(traces)), config_(std::move(config)) {}

  Result<Value> measure_device(const Say& say) const;
  Result<Value> measure_modules(const Say& say) const;
  Result<Value> measure_mix(const Say& say) const;
  Result<Value> measure_journal(const Say& say) const;

  BenchRequest request_;
  MixTraces mix_traces_;
  Config config_;
};

}  // namespace hone
