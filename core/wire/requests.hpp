// The bodies of clients' requests, as in docs/protocol-reference.md: a struct for each verb, and a strict reader.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "model/value.hpp"

namespace hone::wire {

/// The limits of names (tasks, splits, groups, keys), and of episodes' ids and tokens.
inline constexpr std::size_t kNameBytesMax = 256, kIdBytesMax = 64;

struct DescribeRequest {
  static constexpr std::string_view kVerb = "describe";
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
  static constexpr std::string_view kVerb = "reset";
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
  static constexpr std::string_view kVerb = "step";
  std::string episode;
  std::int64_t turn = 0;
  std::int64_t call =
      0;         ///< number of a tool call within the turn, from 1; 0: the action ends the turn
  Value action;  ///< a map; the environment reads it

  template <typename Visit>
  void fields(Visit& visit) {
    visit.id("episode", episode);
    visit.turn("turn", turn);
    visit.optional("call", call);
    visit.map("action", action);
  }
};

struct CancelRequest {
  static constexpr std::string_view kVerb = "cancel";
  std::string episode;
  std::int64_t turn = 0;

  template <typename Visit>
  void fields(Visit& visit) {
    visit.id("episode", episode);
    visit.turn("turn", turn);
  }
};

struct CloseRequest {
  static constexpr std::string_view kVerb = "close";
  std::string episode;

  template <typename Visit>
  void fields(Visit& visit) {
    visit.id("episode", episode);
  }
};

struct ResumeRequest {
  static constexpr std::string_view kVerb = "resume";
  std::string episode, token;

  template <typename Visit>
  void fields(Visit& visit) {
    visit.id("episode", episode);
    visit.id("token", token);
  }
};

struct BranchRequest {
  static constexpr std::string_view kVerb = "branch";
  std::string episode, token;
  std::int64_t turn = 0;  ///< the last turn that the new episode takes over
  std::string group;      ///< empty: the group of the episode
  std::string key;        ///< empty: a repeated request is a new episode

  template <typename Visit>
  void fields(Visit& visit) {
    visit.id("episode", episode);
    visit.id("token", token);
    visit.turn("turn", turn);
    visit.optional("group", group);
    visit.optional("key", key);
  }
};

struct PingRequest {
  static constexpr std::string_view kVerb = "ping";
  std::vector<std::string> episodes;  ///< their leases are renewed

  template <typename Visit>
  void fields(Visit& visit) {
    visit.optional("episodes", episodes);
  }
};

enum class MetricsFormat { kMap, kPrometheus };

struct MetricsRequest {
  static constexpr std::string_view kVerb = "metrics";
  MetricsFormat format = MetricsFormat::kMap;
  bool old_names = true;  ///< of prometheus: also the names of hone 0.2

  template <typename Visit>
  void fields(Visit& visit) {
    visit.optional("format", format);
    visit.optional("old_names", old_names);
  }
};

struct HealthRequest {
  static constexpr std::string_view kVerb = "health";

  template <typename Visit>
  void fields(Visit&) {}
};

/// invalid_argument: a field is missing, unknown, of another type or out of range. The message has its name, the found and the
/// expected value.
template <typename Request>
Result<Request> read_request(const Value& body);

}  // namespace hone::wire

namespace hone {

template <>
struct EnumNames<wire::MetricsFormat> {
  static constexpr std::string_view kKind = "format";
  static constexpr std::string_view kNames[] = {"map", "prometheus"};
  static_assert(are_complete(kNames, wire::MetricsFormat::kPrometheus));
};

}  // namespace hone
