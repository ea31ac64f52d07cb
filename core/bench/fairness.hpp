// bench_fairness(): what a client that floods takes from others, for `hone bench fairness`.
#pragma once

#include "bench/protocol.hpp"

namespace hone {

/// Measures eight clients with one no-op step at a time each, without and with a ninth client that has a thousand in flight: ratios of their requests per second and p99, and the rate of the ninth client against one of the eight. A list as of bench_protocol().
Result<Value> bench_fairness(const ProtocolBenchOptions& options);

}  // namespace hone
