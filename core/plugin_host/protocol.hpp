// The protocol between hone and a plugin host: framed messages (channel/stream.hpp), one request and one answer at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/value.hpp"
#include "plugin/call.hpp"

namespace hone {

// Theory of operation. hone sends {"call", "kind", "handle", "argument", "bytes_max"}; the plugin
// host answers {"value"} or {"error": {"code", "message", "cause"?}}, and may send any number of {"log":
// {"level", "message"}} before. Calls: hello (first: loads the plugin), describe, create, score,
// destroy, open, list, get. A library's host speaks MessagePack, and arguments and values are the
// very bytes of the ABI; a Python host speaks JSON, because Python's own reader of it is C and needs
// no package.
// Rationale: nothing here is trusted. A message that is none, is too long or comes too late ends the
// plugin host.

enum class HostLanguage { kLibrary, kPython };

/// The descriptor of the socket in a plugin host.
inline constexpr int kPluginHostSocket = 3;
/// Largest message: a call's output limit, and the fields around it.
inline constexpr std::size_t kHostMessageBytesMax = kSinkBytesMax + 4096;

struct HostCall {
  std::string_view name;  ///< "score"
  std::string_view kind = "reward";
  std::int64_t handle = 0;
  const Value* argument = nullptr;  ///< configuration, episode or id
};

/// A request's bytes.
std::string encode_call(HostLanguage language, const HostCall& call);

/// One message of a plugin host.
struct HostMessage {
  bool is_log = false;
  int level = 0;
  std::string line;                ///< of a log message
  Result<Value> answer = Value();  ///< of any other message
};

/// invalid_argument: the bytes are not a message, so the plugin host cannot be used any more. `who` begins
/// the error for an invalid value of a library's plugin.
Result<HostMessage> decode_message(HostLanguage language, std::string_view bytes,
                                   const std::string& who);

}  // namespace hone
