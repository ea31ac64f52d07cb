// The verbs of hone/1 on the server: the thread and the handler of each, and the raw frames of a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "episode/service.hpp"
#include "model/value.hpp"
#include "wire/requests.hpp"

namespace hone {

/// The place of a verb in wire::AllRequests.
enum class Verb : std::size_t {};
template <typename Request>
inline constexpr Verb kVerbOf = Verb{wire::AllRequests::index_of<Request>()};
/// Of a message without a known verb.
inline constexpr Verb kUnknownVerb{wire::kVerbCount};

/// The endpoint of a message.
enum class Door { kMain, kControl };

struct Peer;
class Dispatcher;

/// A request on its way through the dispatcher.
struct VerbCall {
  std::shared_ptr<Peer> peer;
  std::int64_t id = 0;
  std::uint64_t serial = 0;
  Verb verb = kUnknownVerb;
  std::int64_t deadline_ns = 0;  ///< 0: none
  Value body;
};

/// Served on the I/O thread, at once.
struct OnIoThread {
  Result<Value> (*serve)(Dispatcher& to, const VerbCall& call);
};
/// Served by a worker thread, which may wait.
struct OnWorker {
  void (*serve)(EpisodeService& service, const Caller& caller, const Value& body,
                const EpisodeService::Reply& reply);
};
/// Handed over on the I/O thread; the service replies later from a thread of its own.
struct ByService {
  void (*serve)(Dispatcher& to, const VerbCall& call);
};

using VerbHandler = std::variant<OnIoThread, OnWorker, ByService>;

struct VerbRow {
  Verb verb;
  VerbHandler handler;

  const wire::VerbFacts& facts() const {
    return wire::AllRequests::kVerbs[static_cast<std::size_t>(verb)];
  }
};

/// The rows, in the order of wire::AllRequests (verb_rows.cpp).
std::span<const VerbRow> verb_rows();
inline const VerbRow& verb_row(Verb verb) { return verb_rows()[static_cast<std::size_t>(verb)]; }

std::string_view verb_name(Verb verb);
/// Errors: unimplemented for an unknown verb, with the nearest name; failed_precondition for a verb of the other endpoint. Without a control endpoint, the main one serves all verbs.
Result<Verb> parse_verb(std::string_view name, Door door, const std::string& main_endpoint,
                        const std::string& control_endpoint);
/// The names in the reply to hello.
std::vector<std::string> verb_names();

/// Replaces references to raw frames in a step's action (code_buffer, response_buffer) by their bytes (code, response), so that the hash of an action does not depend on its encoding. An unused frame is invalid_argument.
Status place_buffers(Verb verb, Value& body, std::vector<std::string>&& buffers);

}  // namespace hone
