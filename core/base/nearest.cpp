// Edit distance over short names.
#include "base/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hone {
namespace {

/// Swapping two adjacent letters counts as one edit.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
  if (name.size() > 128) return {};
  std::string best;
  std::size_t best_edits = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t n = edits(name, candidate);
    if (n < best_edits) {
      best_edits = n;
      best = candidate;
    }
  }
  return best;
}

std::string unknown_name(std::string_view kind, std::string_view name,
                         const std::vector<std::string>& candidates) {
  std::string text = "unknown " + std::string(kind) + " '" + std::string(name.substr(0, 128)) + "'";
  if (const std::string near = nearest(name, candidates); !near.empty()) {
    return text + "; did you mean '" + near + "'?";
  }
  text += "; valid:";
  for (std::size_t i = 0; i < candidates.size(); ++i) text += (i ? ", " : " ") + candidates[i];
  return text;
}

}  // namespace hone
