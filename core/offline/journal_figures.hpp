// The figures of one journal, for `hone report`.
#pragma once

#include <cstdint>
#include <string>

#include "journal/reader.hpp"
#include "model/value.hpp"
#include "terminal/terminal.hpp"

namespace hone {

/// `name`: of the journal in the report. The terminal shows the progress. Damaged episodes are left out with an error line, and
/// their number is added to `damaged`. not_found: no episode passes the filter.
Result<Value> read_figures(Terminal& terminal, const std::string& path, const std::string& name,
                           const EpisodeFilter& filter, std::int64_t& damaged);

}  // namespace hone
