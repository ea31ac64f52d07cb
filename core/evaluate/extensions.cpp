// Builds a known extension (share/module/builder/known_extension.py) in its own dry run.
#include "evaluate/extensions.hpp"

#include "base/clock.hpp"

namespace hone {
namespace {

constexpr double kWorksSeconds = 600;
constexpr double kFailsSeconds =
    120;  // validity of an answer: longer than a build, but a repair takes effect without a restart

Status status_of(const Result<DryRun>& said) {
  const std::string words = "a known extension of torch's does not build on this machine";
  if (!said) return failed_precondition(words + ": " + said.error().message);
  if (!is_of_extension(said->failure)) return {};
  return failed_precondition(words + ": " + said->words);
}

}  // namespace

Status Extensions::check(ExtensionKind kind, const std::string& device) {
  Answer& answer = kind == ExtensionKind::kDevice ? device_ : host_;
  MutexLock lock(answer.mutex);
  if (monotonic_s() < answer.until_s) return answer.status;
  const auto said = dry_run(zygotes_, options_, device,
                            to_json(Value::map({{"cpp_extension", enum_name(kind)}})));
  if (!said && said.error().code == Code::kResourceExhausted) return said.error();
  answer.status = status_of(said);
  answer.until_s = monotonic_s() + (answer.status ? kWorksSeconds : kFailsSeconds);
  return answer.status;
}

}  // namespace hone
