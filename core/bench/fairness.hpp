// bench_fairness(): the effect of a flooding client on others, for `hone bench fairness`.
#pragma once

#include "bench/protocol.hpp"

namespace hone {

/// Measures eight clients, each with one no-op step in flight, without and with a ninth client that has a
/// thousand in flight. Reports the ratios of their requests per second and of their p99, and the rate of the
/// ninth client relative to one of the eight. The list has the form of bench_protocol()'s.
Result<Value> bench_fairness(const ProtocolBenchOptions& options);

}  // namespace hone
