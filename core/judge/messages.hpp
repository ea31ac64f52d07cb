// What the host asks of a judge and what it answers: maps over a stream (channel/stream.hpp), both
// sides trusted.
#pragma once

#include <string>

#include "base/result.hpp"
#include "judge/judgement.hpp"
#include "judge/session.hpp"
#include "model/value.hpp"

namespace hone {

std::string_view ending_name(Ending ending);  ///< "done", "died", …
Result<Ending> parse_ending(std::string_view name);
std::string_view culprit_name(Culprit culprit);  ///< "none", "submission", …
Result<Culprit> parse_culprit(std::string_view name);
std::string_view place_name(Place place);  ///< "loading", "check", …
Result<Place> parse_place(std::string_view name);

Value judgement_to_value(const Judgement& judgement);
Result<Judgement> judgement_from_value(const Value& value);

Value calibration_to_value(const Calibration& found);
Result<Calibration> calibration_from_value(const Value& value);
Value vouched_to_value(const Vouched& found);
Result<Vouched> vouched_from_value(const Value& value);

/// A judge's answer: its kind ("judged", "installed", …; "" for what has none), and its judgement.
std::string kind_of(const Value& answer);
Result<Judgement> judgement_of(const Value& answer);

}  // namespace hone
