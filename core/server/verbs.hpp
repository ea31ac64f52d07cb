// The verbs of hone/1: a row for each with its endpoints, thread and handler, and the raw frames of a step.
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

namespace hone {

enum class Verb {
  kHello,
  kDescribe,
  kReset,
  kStep,
  kCancel,
  kPing,
  kClose,
  kResume,
  kBranch,
  kMetrics,
  kHealth,
  kUnknown
};
inline constexpr std::size_t kVerbCount = static_cast<std::size_t>(Verb::kUnknown) + 1;

/// The endpoint of a message.
enum class Door { kMain, kControl };

struct Peer;
class Dispatcher;

/// A request on its way through the dispatcher.
struct VerbCall {
  std::shared_ptr<Peer> peer;
  std::int64_t id = 0;
  std::uint64_t serial = 0;
  Verb verb = Verb::kUnknown;
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

/// All there is to say about a verb.
struct VerbRow {
  Verb verb;
  std::string_view name;
  bool main, control;  ///< the endpoints that serve it
  bool looks;          ///< it changes nothing, so that a monitor may use it
  std::variant<OnIoThread, OnWorker, ByService> handler;
};

/// The rows, in the order of Verb (verb_rows.cpp).
std::span<const VerbRow> verb_rows();
inline const VerbRow& verb_row(Verb verb) { return verb_rows()[static_cast<std::size_t>(verb)]; }

std::string_view verb_name(Verb verb);
/// Errors: unimplemented for an unknown verb, with the nearest name; failed_precondition for a verb of the other endpoint. Without a control endpoint, the main one serves all verbs.
Result<Verb> parse_verb(std::string_view name, Door door, const std::string& main_endpoint,
                        const std::string& control_endpoint);
/// Whether the verb changes nothing.
bool only_looks(Verb verb);
/// The names in the reply to hello.
std::vector<std::string> verb_names();

/// Replaces references to raw frames in a step's action (code_buffer, response_buffer) by their bytes (code, response), so that the hash of an action does not depend on its encoding. An unused frame is invalid_argument.
Status place_buffers(Verb verb, Value& body, std::vector<std::string>&& buffers);

}  // namespace hone
