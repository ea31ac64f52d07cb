// Places in a judgement, for people.
#include "judge_protocol/judgement.hpp"

#include <iterator>

namespace hone {
namespace {

// A shape follows where there is one.
constexpr std::string_view kPlaceTexts[] = {"",
                                            "loading",
                                            "a check",
                                            "a measurement",
                                            "calibration",
                                            "the reference's answer",
                                            "the reference's own error",
                                            "a known answer"};
static_assert(are_complete(kPlaceTexts, Place::kKnownAnswer));

}  // namespace

std::string where_text(const Where& where) {
  const std::string text(kPlaceTexts[static_cast<int>(where.place)]);
  if (where.shape.empty()) return text;
  return text + (where.place == Place::kAnswer ? " for " : " of ") + where.shape;
}

std::string in_where(const Where& where) {
  return where.place == Place::kNone ? "" : " in " + where_text(where);
}

}  // namespace hone
