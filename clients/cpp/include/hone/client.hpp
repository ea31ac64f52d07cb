// The C++ client of hone: episodes over one connection, with reconnection, resumption and retries.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone {
// Rationale: a program may hold both this client and the server, whose own types have some of the same names.
inline namespace client_api {

/// Cause of a failure because the server could not be reached. No server sends it.
inline constexpr std::string_view kServerLost = "server_lost";

/// Why a request failed, as the server or this client says it.
struct Failure {
  Code code = Code::kInternal;
  std::string error_class;  ///< "protocol", "task", "capacity", "timeout", "cancelled" or "infra"
  std::string message;      ///< lower case, found and expected
  bool retryable = false;   ///< the same request may succeed later
  std::optional<double> retry_after_s;  ///< the server's wish, with BUSY
  bool shutting_down = false;           ///< the server is shutting down and takes no new requests
  std::int64_t drain_ms = 0;            ///< with shutting_down: the server ends within this time
  std::string cause = {};  ///< a name of docs/protocol-reference.md, for programs; empty: none

  Error error() const;
};

/// What a request ended with: a body, or a failure.
struct Reply {
  Value body;  ///< a map (docs/protocol.md); nil after a failure
  std::optional<Failure> failure;

  bool ok() const { return !failure.has_value(); }
};

struct ClientOptions {
  std::string name;                ///< "trainer/1.0" in hello; default: "hone-cpp/" and the version
  double connect_timeout_s = 10;   ///< for connect() alone
  double request_timeout_s = 600;  ///< default of every request; ≤ 0: none
  double reconnect_timeout_s =
      30;  ///< how long a request waits while no server is there; then it fails; ≤ 0: no limit
  bool retry_busy = true;        ///< ask again after BUSY until the request's time is up
  std::string control_endpoint;  ///< default: what hello says
  std::string key_file;          ///< this client's key pair (hone keys new); empty: no CURVE
  std::string server_key;  ///< the server's public key, or a file with it; default: in key_file
  /// A request that was under way at this many connection losses, over at least reconnect_timeout_s,
  /// fails as unavailable: it may be what crashes the server.
  std::size_t connection_losses_max = 5;
};

/// A request under way. Cheap to copy; all members may be called from any thread.
class Pending {
 public:
  struct State;
  explicit Pending(std::shared_ptr<State> state) : state_(std::move(state)) {}

  bool done() const;
  /// Waits for the answer, or for progress where `or_progress`; false when `seconds` went by first
  /// (< 0: no end).
  bool wait(double seconds = -1, bool or_progress = false) const;
  /// Waits, then takes the answer. Once.
  Reply take();
  /// What the server said on the way and was not taken yet: {"stage": "building"}, …
  std::vector<Value> take_progress();
  /// Gives a step up: one that waits to be sent ends here; one that was sent is cancelled on the
  /// control endpoint. The answer still comes (usually `cancelled`); the turn stays open.
  void cancel();

 private:
  std::shared_ptr<State> state_;
};

struct RequestOptions {
  std::optional<double> timeout_s;   ///< overrides ClientOptions::request_timeout_s
  std::vector<std::string> buffers;  ///< raw frames after the body
  /// Both are called from the client's thread, and must not block or throw.
  std::function<void()> on_done = {};      ///< once, when the answer has come
  std::function<void()> on_progress = {};  ///< when Pending::take_progress has a message
};

struct ResetOptions {
  std::string task;   ///< "dataset/id" or "id"; empty: drawn by the seed
  std::string split;  ///< where to draw from; empty: the server's default
  std::optional<std::int64_t> seed;
  std::string group;        ///< samples of one task that share a device model and one baseline
  std::string environment;  ///< empty: the server's default
  Value options;            ///< a map, such as {"max_turns": 4}; nil: defaults
};

struct Step {
  std::int64_t turn = 0;
  Value observation;             ///< docs/protocol.md, OBS
  std::optional<double> reward;  ///< none: not scored
  bool reward_valid = false;     ///< false: a fault of the machine; do not train on it
  std::optional<double> return_to_date;
  bool terminated = false;
  bool truncated = false;
  Value returns;  ///< in the last reply an array with every turn's return, else nil
  Value info;

  bool ended() const { return terminated || truncated; }
};

struct Action {
  std::string code;      ///< source, or
  std::string response;  ///< a whole model response; the one that is set counts, code first
  std::string language;  ///< of `code`; empty: the task's
};

/// The longest current wait of a request for a lost server.
struct WaitForServer {
  double waited_s = 0;
  double left_s = 0;  ///< until it fails; infinite: reconnect_timeout_s sets no limit
};

/// One episode that belongs to this connection. A plain handle, used by one thread at a time; the
/// server keeps the episode until it ends, is closed or its lease runs out, and the client renews
/// the lease while it is connected.
struct Episode {
  std::string id;
  std::string token;      ///< resumes the episode on another connection
  std::int64_t turn = 0;  ///< the last turn done
  Value observation;
  Value info;
};

/// A connection to `hone serve`. Any thread may call any member; one background thread does the
/// work.
///
///   auto client = hone::Client::connect("tcp://127.0.0.1:5917");
///   auto episode = (*client)->reset({.task = "add_relu"});
///   auto step = (*client)->step(*episode, {.code = source});
///   if (step && step->reward) std::printf("%g\n", *step->reward);
///
/// Lost connections are made anew: open episodes are resumed with their tokens and unanswered
/// requests sent again, which the protocol makes safe (a step is known by episode, turn and action;
/// a reset by its key). A server that shuts down counts as away, like one that was killed. A request that waits for a server longer than reconnect_timeout_s fails as
/// `unavailable`, and the client goes on trying; once it is back, the same request may be sent
/// again. An episode that did not survive (the server was restarted, the lease ran out) fails its
/// requests as `unavailable`, for good. Do not use a client across fork(): connect in the
/// child.
class Client {
 public:
  /// Connects and says hello. unavailable: no reply within connect_timeout_s; invalid_argument:
  /// a bad endpoint, key file or no version in common; failed_precondition: the server refuses the
  /// key, or wants one, or has none.
  static Result<std::unique_ptr<Client>> connect(const std::string& endpoint,
                                                 ClientOptions options = {});
  /// Fails what is under way as `cancelled`. Open episodes stay on the server until their leases
  /// run out.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// The server's hello, from the last time this client connected; nil after fork().
  Value hello() const;
  /// Whether the server takes new requests now: connected, greeted, all episodes resumed, and not
  /// shutting down. False after fork().
  bool is_served() const;
  /// The longest wait for a lost server; does not wait itself. nullopt: no request waits, or this
  /// process is a fork. Requests on the control endpoint do not count.
  std::optional<WaitForServer> server_wait() const;
  /// Environments and tasks, or one task where `task` is given.
  Result<Value> describe(const std::string& task = {}, const std::string& split = {});
  Result<Episode> reset(const ResetOptions& options);
  Result<Step> step(Episode& episode, const Action& action);
  /// The step's answer later; pass its reply to finish_step(). Several episodes may be under way at
  /// once.
  Pending submit_step(const Episode& episode, const Action& action, RequestOptions options = {});
  /// Reads a step's reply and moves the handle on.
  static Result<Step> finish_step(Episode& episode, const Reply& reply);
  /// Ends the evaluation of a turn that is under way; false: there was none.
  Result<bool> cancel(const Episode& episode, std::int64_t turn);
  /// Closes the episode: {"episode", "turns", "returns", "return_to_date"}.
  Result<Value> close(const Episode& episode);
  /// A new episode that shares this one's first `turn` turns: the way to try several answers to the
  /// same state. `turn` ≤ the turns done; `group`: instead of the episode's own.
  Result<Episode> branch(const Episode& episode, std::int64_t turn, const std::string& group = {});
  /// Takes over an episode of another connection or process.
  Result<Episode> resume(const std::string& id, const std::string& token);
  /// {"incarnation", "time"}. Leases need no help: the client renews them by itself.
  Result<Value> ping();

  /// Any verb, also those without a member here: metrics and health, which monitoring tools use.
  Pending submit(const std::string& verb, Value body, RequestOptions options = {});
  Result<Value> call(const std::string& verb, Value body, RequestOptions options = {});

 private:
  class Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace client_api
}  // namespace hone
