// A known extension (share/module/known_extension.py) in a rehearsal of its own.
#include "evaluate/extensions.hpp"

#include "base/clock.hpp"
#include "evaluate/rehearsal.hpp"

namespace hone {
namespace {

constexpr double kWorksSeconds = 600;
constexpr double kFailsSeconds =
    120;  // longer than one takes; who mends it need not start the server again

Status status_of(const Result<Rehearsed>& said) {
  const std::string words = "a known extension of torch's does not build on this machine";
  if (!said) return failed_precondition(words + ": " + said.error().message);
  if (said->raised_in != "hindered" && said->raised_in != "build") return {};
  if (said->words.starts_with("load_inline needs")) return failed_precondition(said->words);
  return failed_precondition(words + ": " + said->words);
}

}  // namespace

Status Extensions::check(const std::string& kind, const std::string& device) {
  Answer& answer = kind == "device" ? device_ : host_;
  MutexLock lock(answer.mutex);
  if (monotonic_s() < answer.until_s) return answer.status;
  const auto said =
      rehearse(interpreters_, options_, device, to_json(Value::map({{"cpp_extension", kind}})));
  if (!said && said.error().code == Code::kResourceExhausted) return said.error();
  answer.status = status_of(said);
  answer.until_s = monotonic_s() + (answer.status ? kWorksSeconds : kFailsSeconds);
  return answer.status;
}

}  // namespace hone
