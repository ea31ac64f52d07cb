// The nearest valid name, for "did you mean" in messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

/// The candidate with the fewest edits, at most a third of the name's length, and one for a short name; empty if there is
/// none.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

/// "unknown key 'trun'; did you mean 'turn'?" or, when nothing is near, "…; valid: a, b, c".
std::string unknown_name(std::string_view kind, std::string_view name,
                         const std::vector<std::string>& candidates);

}  // namespace hone
