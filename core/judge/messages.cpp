// Judgements as maps.
#include "judge/messages.hpp"

#include <iterator>

#include "base/enum_names.hpp"
#include "model/fields.hpp"

namespace hone {
namespace {

constexpr std::string_view kEndings[] = {
    "done",  "died",     "timed_out", "out_of_memory", "exception",     "refused",
    "fault", "mismatch", "starved",   "broken_report", "not_launchable"};
constexpr std::string_view kCulprits[] = {"none", "submission", "baseline", "reference",
                                          "kept process"};
constexpr std::string_view kPlaces[] = {
    "none",        "loading", "check",           "measurement",
    "calibration", "answer",  "reference_error", "known_answer"};
// For people; a shape follows where there is one.
constexpr std::string_view kPlaceTexts[] = {"",
                                            "loading",
                                            "a check",
                                            "a measurement",
                                            "calibration",
                                            "the reference's answer",
                                            "the reference's own error",
                                            "a known answer"};
static_assert(std::size(kPlaces) == std::size(kPlaceTexts));

}  // namespace

std::string_view ending_name(Ending ending) { return kEndings[static_cast<int>(ending)]; }

Result<Ending> parse_ending(std::string_view name) {
  return parse_enum<Ending>("ending", kEndings, name);
}

std::string_view culprit_name(Culprit culprit) { return kCulprits[static_cast<int>(culprit)]; }

Result<Culprit> parse_culprit(std::string_view name) {
  return parse_enum<Culprit>("culprit", kCulprits, name);
}

std::string_view place_name(Place place) { return kPlaces[static_cast<int>(place)]; }

Result<Place> parse_place(std::string_view name) {
  return parse_enum<Place>("place", kPlaces, name);
}

std::string where_text(const Where& where) {
  const std::string text(kPlaceTexts[static_cast<int>(where.place)]);
  if (where.shape.empty()) return text;
  return text + (where.place == Place::kAnswer ? " for " : " of ") + where.shape;
}

std::string in_where(const Where& where) {
  return where.place == Place::kNone ? "" : " in " + where_text(where);
}

Value judgement_to_value(const Judgement& j) {
  Value value = Value::map({{"ending", ending_name(j.ending)},
                            {"culprit", culprit_name(j.culprit)},
                            {"place", place_name(j.where.place)},
                            {"shape", j.where.shape},
                            {"hidden", j.where.hidden},
                            {"message", j.message},
                            {"verdict", verdict_to_value(j.verdict)}});
  if (j.hindered) value.set("hindered", extension_kind_name(*j.hindered));
  return value;
}

Result<Judgement> judgement_from_value(const Value& value) {
  Fields f(value, "judgement");
  Judgement j;
  const std::string ending = f.text("ending");
  const std::string culprit = f.text("culprit");
  const std::string place = f.text("place");
  j.where.shape = f.text("shape");
  j.where.hidden = f.flag("hidden");
  j.message = f.text("message");
  const Value* verdict = f.map("verdict");
  const std::string hindered = f.text_or("hindered", "");
  HONE_TRY(f.finish());
  HONE_ASSIGN(j.ending, parse_ending(ending));
  HONE_ASSIGN(j.culprit, parse_culprit(culprit));
  HONE_ASSIGN(j.where.place, parse_place(place));
  if (!hindered.empty()) {
    HONE_ASSIGN(j.hindered, parse_extension_kind(hindered));
  }
  HONE_ASSIGN(j.verdict, verdict_from_value(*verdict));
  return j;
}

Value calibration_to_value(const Calibration& c) {
  return Value::map({{"call_seconds", c.call_seconds},
                     {"answer_seconds", c.answer_seconds},
                     {"floor_seconds", c.floor.seconds},
                     {"floor_least", c.floor.least},
                     {"floor_spread", c.floor.spread}});
}

Result<Calibration> calibration_from_value(const Value& value) {
  Fields f(value, "calibration");
  Calibration c;
  const auto seconds = [&f](const char* key) { return f.number(key, 0, 1e9); };
  c.call_seconds = seconds("call_seconds");
  c.answer_seconds = seconds("answer_seconds");
  c.floor = {seconds("floor_seconds"), seconds("floor_least"), seconds("floor_spread")};
  HONE_TRY(f.finish());
  return c;
}

Value vouched_to_value(const Vouched& v) {
  return Value::map(
      {{"calls", v.calls}, {"seconds", v.seconds}, {"floor_s", v.floor_s}, {"held", v.held}});
}

Result<Vouched> vouched_from_value(const Value& value) {
  Fields f(value, "vouched");
  Vouched v;
  v.calls = static_cast<std::size_t>(f.integer("calls", 0, 1 << 30));
  v.seconds = f.number("seconds", 0, 1e9);
  v.floor_s = f.number("floor_s", 0, 1e9);
  v.held = f.flag("held");
  HONE_TRY(f.finish());
  return v;
}

std::string kind_of(const Value& answer) {
  const Value* kind = answer.find("kind");
  return kind != nullptr && kind->is_string() ? kind->as_string() : "";
}

Result<Judgement> judgement_of(const Value& answer) {
  const Value* judgement = answer.find("judgement");
  if (kind_of(answer) != "judged" || judgement == nullptr) {
    return internal_error("judge: found an answer '" + kind_of(answer) + "', expected 'judged'");
  }
  return judgement_from_value(*judgement);
}

}  // namespace hone
