// The nearest valid name, for "did you mean" in messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

/// The candidate with the fewest edits; empty if none is near. At most a third of the name's letters may be edited, and
/// one letter of a short name. A name of more than 128 characters has no candidate.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

/// "unknown key 'trun'; did you mean 'turn'?" or, when nothing is near, "…; valid: a, b, c".
std::string unknown_name(std::string_view kind, std::string_view name,
                         const std::vector<std::string>& candidates);

}  // namespace hone
