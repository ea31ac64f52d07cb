// bench_idle(): memory of a server with many open episodes, for `hone bench idle`.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.hpp"
#include "config/config.hpp"
#include "model/value.hpp"

namespace hone {

/// Figures (model/figure.hpp): memory with 1, 10,000 and 100,000 open episodes. Each figure is measured in its own process,
/// so call it before this process has threads.
Result<Value> bench_idle(const Config& config,
                         const std::function<void(std::string_view what)>& say);

}  // namespace hone
