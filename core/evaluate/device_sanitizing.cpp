// Limits of the sanitizer's runs, the request and the answer.
#include "evaluate/device_sanitizing.hpp"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "judge_protocol/defences.hpp"
#include "model/fields.hpp"

namespace hone {
namespace {

constexpr double kRunSeconds = 10;  // of one run; a small kernel takes 1 to 4 s
constexpr double kStartSeconds = 5;

Value request_of(const EvaluatorOptions& options, const DeviceCalls& program,
                 const std::string& artifact) {
  Value runs = Value::array();
  for (const DeviceSanitizer::Run& run : options.sanitizer.runs) {
    runs.push(Value::map({{"name", run.name}, {"arguments", texts_value(run.arguments)}}));
  }
  Value request = program.request;
  request.set("artifact", Value::bytes(artifact))
      .set("runs", std::move(runs))
      .set("seconds", kRunSeconds);
  if (!options.measure.defences.holds(Defence::kOwnReport)) request.set("mixed", true);
  return request;
}

std::string bytes_in(const Value& map, const char* name) {
  const Value* found = map.find(name);
  return found != nullptr && found->is_bytes() ? found->as_bytes() : "";
}

Result<SanitizerReply> read_reply(const std::string& bytes) {
  HONE_ASSIGN(const Value value, from_msgpack(bytes));
  Fields f(value, "answer of the sanitizer");
  const Value* runs = f.array("runs");
  HONE_TRY(f.finish_loosely());
  SanitizerReply reply;
  for (std::size_t i = 0; i < runs->as_array().size(); ++i) {
    const Value& one = runs->as_array()[i];
    Fields fields = f.inside("runs", *runs).inside(std::to_string(i), one);
    SanitizerReply::Run run;
    run.run.name = fields.text("name");
    run.status = fields.integer("status", 0, 255);
    run.timed_out = fields.flag("timed_out");
    HONE_TRY(fields.finish_loosely());
    run.run.report = bytes_in(one, "report");
    run.run.events = bytes_in(one, "events");
    reply.runs.push_back(std::move(run));
  }
  return reply;
}

}  // namespace

Status expect_sanitizer(const DeviceSanitizer& sanitizer) {
  const std::filesystem::path program = sanitizer.path;
  std::error_code ignored;
  if (program.is_absolute() && std::filesystem::is_regular_file(program, ignored) &&
      ::access(program.c_str(), X_OK) == 0)
    return {};
  return failed_precondition((program.empty() ? std::string("no sanitizer of the device was found")
                                              : "cannot run " + program.string()) +
                             "; " + sanitizer.help);
}

double sanitizer_seconds(const DeviceSanitizer& sanitizer) {
  return kStartSeconds + kRunSeconds * static_cast<double>(sanitizer.runs.size());
}

Result<SanitizerReply> sanitize_on_device(Player& player, const EvaluatorOptions& options,
                                          const DeviceCalls& program, const std::string& artifact) {
  PlayerRequest asked;
  asked.request = request_of(options, program, artifact);
  asked.seconds = sanitizer_seconds(options.sanitizer);
  HONE_ASSIGN(const PlayerAnswer answer, ask_player(player, asked));
  auto read = answer.bytes ? read_reply(*answer.bytes) : Result<SanitizerReply>(SanitizerReply{});
  SanitizerReply reply = read ? std::move(*read) : SanitizerReply{};
  reply.was_starved = answer.was_starved;
  return reply;
}

}  // namespace hone
