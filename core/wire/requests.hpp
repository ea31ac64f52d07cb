// The verbs of hone/1 and the bodies of their requests, as in docs/protocol-reference.md: a struct for each verb, and a strict
// reader. For a new verb, add a struct with its facts in kVerb here, list it in AllRequests, and add a row with its handler to
// server/verb_rows.cpp. Clients send any verb with call(). For a method of its own, extend clients/cpp (include/hone/client.hpp,
// src/client.cpp) and clients/python/src/hone/_verbs.py, which both Python clients use. Documents: docs/protocol.md (endpoints,
// repeated requests) and docs/protocol-reference.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/enum_names.hpp"
#include "model/fields.hpp"
#include "model/value.hpp"

namespace hone::wire {

/// The limits of names (tasks, splits, groups, keys), and of episodes' ids and tokens.
inline constexpr std::size_t kNameBytesMax = 256, kIdBytesMax = 64;

enum class Endpoints { kMain, kControl, kBoth };

/// The facts of a verb that both servers and clients use. A client may send any verb again: after a lost connection, or if the
/// server was full. So each verb defines what a repeated request does (docs/protocol.md).
struct VerbFacts {
  std::string_view name;
  Endpoints endpoints = Endpoints::kMain;  ///< that serve it
  bool is_read_only = false;               ///< it changes nothing, so that a monitor may use it
  bool begins_episode = false;             ///< its reply names a new episode
  /// Clients send it even if they have lost its episode, because the server may still have the episode or have closed it.
  bool is_sent_for_lost_episode = false;
  /// Of a verb that both endpoints serve: clients send it to the control endpoint, where no large request delays it.
  bool prefers_control = false;
};

/// Sets the fields of a request from `map`. `map` keeps the first mistake.
class FieldReader {
 public:
  explicit FieldReader(Fields& map) : map_(map) {}

  void required(std::string_view key, std::string& field, std::size_t bytes_max);
  void required(std::string_view key, std::int64_t& field);
  void required(std::string_view key, Value& field);  ///< a map
  void required(std::string_view key, std::vector<std::string>& field);

  void optional(std::string_view key, std::string& field, std::size_t bytes_max = kNameBytesMax);
  void optional(std::string_view key, std::int64_t& field);
  void optional(std::string_view key, bool& field);
  void optional(std::string_view key, std::vector<std::string>& field);
  void optional(std::string_view key, std::optional<std::string>& field);
  void optional(std::string_view key, std::optional<std::int64_t>& field);
  void optional(std::string_view key, std::optional<Value>& field);
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void optional(std::string_view key, Enum& field) {
    const auto& names = EnumNames<Enum>::kNames;
    const std::string name =
        map_.choice_or(key, std::string(enum_name(field)), {std::begin(names), std::end(names)});
    field = find_enum<Enum>(name).value_or(field);
  }

 private:
  Fields& map_;
};

struct HelloRequest {
  static constexpr VerbFacts kVerb{
      .name = "hello", .endpoints = Endpoints::kBoth, .is_read_only = true};
  std::vector<std::string> versions;  ///< of the protocol
  std::string client;                 ///< empty: not said

  template <typename Visit>
  void fields(Visit& visit) {
    visit.required("versions", versions);
    visit.optional("client", client, 128);
  }
  /// invalid_argument if there are too many versions, or none that this server speaks.
  Status check() const;
};

struct DescribeRequest {
  static constexpr VerbFacts kVerb{.name = "describe", .is_read_only = true};
  std::optional<std::string> environment;  ///< none: the server's default
  std::string task;                        ///< empty: list the tasks
  std::string split;                       ///< empty: all
  std::optional<Value> options;            ///< a map

  template <typename Visit>
  void fields(Visit& visit) {
    visit.optional("environment", environment);
    visit.optional("task", task);
    visit.optional("split", split);
    visit.optional("options", options);
  }
};

struct ResetRequest {
  static constexpr VerbFacts kVerb{.name = "reset", .begins_episode = true};
  std::optional<std::string> environment;  ///< none: the server's default
  std::string task;                        ///< empty: drawn by the seed
  std::string split;                       ///< empty: any; a draw uses the configured split
  std::string group;                       ///< empty: none
  std::optional<std::int64_t> seed;        ///< none: the server draws one
  std::optional<Value> options;            ///< a map; the environment reads it
  std::string key;                         ///< empty: a repeated request is a new episode

  template <typename Visit>
  void fields(Visit& visit) {
    visit.optional("environment", environment);
    visit.optional("task", task);
    visit.optional("split", split);
    visit.optional("group", group);
    visit.optional("seed", seed);
    visit.optional("options", options);
    visit.optional("key", key);
  }
};

struct StepRequest {
  static constexpr VerbFacts kVerb{.name = "step"};
  std::string episode;
  std::int64_t turn = 0;
  std::int64_t call =
      0;         ///< number of a tool call within the turn, from 1; 0: the action ends the turn
  Value action;  ///< a map; the environment reads it

  template <typename Visit>
  void fields(Visit& visit) {
    visit.required("episode", episode, kIdBytesMax);
    visit.required("turn", turn);
    visit.optional("call", call);
    visit.required("action", action);
  }
};

struct CancelRequest {
  static constexpr VerbFacts kVerb{
      .name = "cancel", .endpoints = Endpoints::kBoth, .prefers_control = true};
  std::string episode;
  std::int64_t turn = 0;

  template <typename Visit>
  void fields(Visit& visit) {
    visit.required("episode", episode, kIdBytesMax);
    visit.required("turn", turn);
  }
};

struct CloseRequest {
  static constexpr VerbFacts kVerb{.name = "close", .is_sent_for_lost_episode = true};
  std::string episode;

  template <typename Visit>
  void fields(Visit& visit) {
    visit.required("episode", episode, kIdBytesMax);
  }
};

struct ResumeRequest {
  static constexpr VerbFacts kVerb{.name = "resume", .is_sent_for_lost_episode = true};
  std::string episode, token;

  template <typename Visit>
  void fields(Visit& visit) {
    visit.required("episode", episode, kIdBytesMax);
    visit.required("token", token, kIdBytesMax);
  }
};

struct BranchRequest {
  static constexpr VerbFacts kVerb{
      .name = "branch", .begins_episode = true, .is_sent_for_lost_episode = true};
  std::string episode, token;
  std::int64_t turn = 0;  ///< the last turn that the new episode takes over
  std::string group;      ///< empty: the group of the episode
  std::string key;        ///< empty: a repeated request is a new episode

  template <typename Visit>
  void fields(Visit& visit) {
    visit.required("episode", episode, kIdBytesMax);
    visit.required("token", token, kIdBytesMax);
    visit.required("turn", turn);
    visit.optional("group", group);
    visit.optional("key", key);
  }
};

struct PingRequest {
  static constexpr VerbFacts kVerb{
      .name = "ping", .endpoints = Endpoints::kBoth, .is_read_only = true};
  std::vector<std::string> episodes;  ///< their leases are renewed

  template <typename Visit>
  void fields(Visit& visit) {
    visit.optional("episodes", episodes);
  }
};

enum class MetricsFormat { kMap, kPrometheus };

struct MetricsRequest {
  static constexpr VerbFacts kVerb{
      .name = "metrics", .endpoints = Endpoints::kControl, .is_read_only = true};
  MetricsFormat format = MetricsFormat::kMap;
  bool old_names = true;  ///< of prometheus: also the names of hone 0.2

  template <typename Visit>
  void fields(Visit& visit) {
    visit.optional("format", format);
    visit.optional("old_names", old_names);
  }
};

struct HealthRequest {
  static constexpr VerbFacts kVerb{
      .name = "health", .endpoints = Endpoints::kControl, .is_read_only = true};

  template <typename Visit>
  void fields(Visit&) {}
};

template <typename... Requests>
struct RequestList {
  static constexpr VerbFacts kVerbs[] = {Requests::kVerb...};

  /// The place of a request in the list.
  template <typename Request>
  static constexpr std::size_t index_of() {
    constexpr bool kIsIt[] = {std::is_same_v<Request, Requests>...};
    std::size_t index = 0;
    while (!kIsIt[index]) ++index;
    return index;
  }
};

/// The one list of verbs. hello publishes them in this order.
using AllRequests = RequestList<HelloRequest, DescribeRequest, ResetRequest, StepRequest,
                                CancelRequest, PingRequest, CloseRequest, ResumeRequest,
                                BranchRequest, MetricsRequest, HealthRequest>;
inline constexpr std::size_t kVerbCount = std::size(AllRequests::kVerbs);

/// Null if there is no such verb.
constexpr const VerbFacts* find_verb(std::string_view name) {
  for (const VerbFacts& verb : AllRequests::kVerbs) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

/// invalid_argument: a field is missing, unknown, of another type or out of range. The message has its name, the found and the
/// expected value.
template <typename Request>
Result<Request> read_request(const Value& body) {
  Fields map(body, std::string(Request::kVerb.name));
  Request request;
  FieldReader reader(map);
  request.fields(reader);
  HONE_TRY(map.finish());
  if constexpr (requires { request.check(); }) HONE_TRY(request.check());
  return request;
}

}  // namespace hone::wire

namespace hone {

template <>
struct EnumNames<wire::MetricsFormat> {
  static constexpr std::string_view kKind = "format";
  static constexpr std::string_view kNames[] = {"map", "prometheus"};
  static_assert(are_complete(kNames, wire::MetricsFormat::kPrometheus));
};

}  // namespace hone
