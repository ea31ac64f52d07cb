// Data that crosses the plugin ABI: messages of plugin hosts, MessagePack in a plugin and in hone, input and
// output of rewards.
#include "fuzz/fuzz.hpp"
#include "hone/plugin.hpp"
#include "plugin/call.hpp"
#include "plugin/host_services.hpp"
#include "plugin/reward.hpp"
#include "plugin_host/protocol.hpp"

namespace hone::fuzz {
namespace {

void check_host_message(HostLanguage language, std::string_view bytes) {
  const auto message = decode_message(language, bytes, "reward: score");
  if (!message) return check_error(message.error());
  if (message->is_log) {
    check(message->level >= HONE_LOG_DEBUG && message->level <= HONE_LOG_ERROR, "a level is one");
  } else if (!message->answer) {
    const Code code = message->answer.error().code;
    check(code > Code::kOk && code <= Code::kInternal, "an answered error has a code");
  }
}

/// Two decoders of one format: a plugin's and hone's agree wherever hone's limits let it.
void check_both_decoders(std::string_view bytes) {
  const auto ours = from_msgpack(bytes);
  if (!ours) check_error(ours.error(), "messagepack: ");
  try {
    const plugin::Value theirs = plugin::from_msgpack(bytes);
    const std::string packed = plugin::to_msgpack(theirs);
    check(plugin::to_msgpack(plugin::from_msgpack(packed)) == packed,
          "a plugin's value decodes again to the same");
    check(!ours || same(*from_msgpack(packed), *ours), "both decoders read the same");
  } catch (const plugin::Failure& failure) {
    check_error({static_cast<Code>(failure.code()), failure.what()}, "messagepack: ");
    check(!ours, "what hone takes, a plugin takes");
  }
}

const hone_reward_factory& factory() {
  return *static_cast<const hone_reward_factory*>(
      hone_plugin_entry.get_factory(HONE_REWARD_FACTORY_ID));
}

/// A reward's answer to an episode of any shape: an error, or a report that hone takes.
void check_reward(std::string_view bytes) {
  static HostServices services("kevin", {});
  hone_reward* reward = nullptr;
  const std::string config = to_msgpack(Value::map());
  check(call_plugin("kevin: create",
                    [&](hone_error* error) {
                      return factory().create(services.table(), borrow(config), &reward, error);
                    })
            .ok(),
        "a reward is made with its defaults");
  const auto written = call_for_value("kevin: score", [&](hone_sink* out, hone_error* error) {
    return factory().score(reward, borrow(bytes), out, error);
  });
  factory().destroy(reward);
  if (!written) {
    check(written.error().code == Code::kInvalidArgument, "a bad episode is invalid_argument");
    return check_error(written.error(), "kevin: score: ");
  }
  const auto episode = from_msgpack(bytes);
  if (!episode) return;  // over a limit of hone's, which no episode is
  const auto report = report_from_value(*written, *episode);
  check(report.ok(), report ? "" : "what a reward gives is taken: " + report.error().message);
}

/// A report of any shape against an episode of two turns, one of which counts.
void check_report(std::string_view bytes) {
  static const Value kEpisode = Value::map({{"turns", Value::array({
                                                          Value::map({{"scored", true}}),
                                                          Value::map({{"scored", false}}),
                                                      })}});
  const auto written = from_msgpack(bytes);
  if (!written) return;
  const auto report = report_from_value(*written, kEpisode);
  if (!report) return check_error(report.error());
  check(report->turns.size() == 2 && report->returns.size() == 2, "an entry for each turn");
  check(report->turns[0] && report->returns[0] && !report->turns[1] && !report->returns[1],
        "numbers for exactly the turns that count");
}

}  // namespace

void one(std::string_view bytes) {
  Input input(bytes);
  switch (input.number(1) % 5) {
    case 0:
      return check_host_message(HostLanguage::kLibrary, input.rest());
    case 1:
      return check_host_message(HostLanguage::kPython, input.rest());
    case 2:
      return check_both_decoders(input.rest());
    case 3:
      return check_reward(input.rest());
    default:
      return check_report(input.rest());
  }
}

}  // namespace hone::fuzz
