// MeasureSettings as a map.
#include "judge/settings.hpp"

#include "model/fields.hpp"

namespace hone {
namespace {

Value texts(const std::vector<std::string>& list) {
  Value array = Value::array();
  for (const std::string& text : list) array.push(text);
  return array;
}

}  // namespace

Value settings_to_value(const MeasureSettings& s) {
  return Value::map({{"measure", s.measure},
                     {"round_ms", s.round_ms},
                     {"pairs_min", s.pairs_min},
                     {"pairs_max", s.pairs_max},
                     {"seconds_max", s.seconds_max},
                     {"set_mb", s.set_mb},
                     {"singles", s.singles},
                     {"max_interval", s.max_interval},
                     {"submission_seconds", s.submission_seconds},
                     {"swapped", s.swapped},
                     {"marked", s.marked},
                     {"off", texts(s.defences.off())}});
}

Result<MeasureSettings> settings_from_value(const Value& value) {
  Fields f(value, "measure");
  MeasureSettings s;
  s.measure = f.flag_or("measure", s.measure);
  s.round_ms = f.number_or("round_ms", s.round_ms, 0.1, 1000);
  s.pairs_min = static_cast<int>(f.integer_or("pairs_min", s.pairs_min, 3, 1000));
  s.pairs_max = static_cast<int>(f.integer_or("pairs_max", s.pairs_max, s.pairs_min, 1000));
  s.seconds_max = f.number_or("seconds_max", s.seconds_max, 0.01, 600);
  s.set_mb = f.integer_or("set_mb", s.set_mb, 1, 65536);
  s.singles = static_cast<int>(f.integer_or("singles", s.singles, 0, 100));
  s.max_interval = f.number_or("max_interval", s.max_interval, 0, 1e6);
  s.submission_seconds = f.number_or("submission_seconds", s.submission_seconds, 0.1, 86400);
  s.swapped = f.flag_or("swapped", s.swapped);
  s.marked = f.flag_or("marked", s.marked);
  const std::vector<std::string> off = f.texts_or("off", {});
  HONE_TRY(f.finish());
  HONE_ASSIGN(s.defences, Defences::without(off));
  return s;
}

}  // namespace hone
