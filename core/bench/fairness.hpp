// bench_fairness(): what a client that floods takes from others, for `hone bench fairness`.
#pragma once

#include "bench/protocol.hpp"

namespace hone {

/// Eight clients with one no-op step at a time each, alone and beside another with a thousand in
/// flight: their requests per second and p99, with the flood over without it; and what the flood
/// itself gets, over what one of the eight does. A list as bench_protocol()'s.
Result<Value> bench_fairness(const ProtocolBenchOptions& options);

}  // namespace hone
