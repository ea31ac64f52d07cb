// Engine: the client's thread, which owns the connections and every request under way.
//
// Theory of operation. Callers post closures; the thread runs them and is the only one that touches
// anything below `Thread state`. A channel (main or control) goes through
//
//   down ──reopen──► connecting ──handshake──► greeting ──hello──► resuming ──all resumed──► ready
//    ▲                                                                                         │
//    └────────────── disconnected, or silent for three heartbeats ◄────────────────────────────┘
//
// (the control channel goes from connecting to ready). When the server says that it is shutting
// down, a ready channel becomes `leaving`: nothing new is sent, replies still come, and after the last
// of them the channel is down, as if the server were gone. A request waits in `waiting` until its
// channel is ready, is `in flight` until its reply, and goes back to `waiting` when the connection
// is lost: the protocol makes each verb safe to repeat. While there has been no server for
// `reconnect_timeout_s`, what waits fails, and the channel goes on trying. BUSY puts a request into
// `later_` until the server's retry_after has gone by. A step that was sent and given up still has
// its turn on the server: the episode's next step waits `behind_` it until its end has come.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/mutex.hpp"
#include "base/unique_fd.hpp"
#include "link.hpp"
#include "message.hpp"
#include "request.hpp"
#include "roster.hpp"

namespace hone::inline client_api {

class Engine {
 public:
  static Result<std::shared_ptr<Engine>> start(std::string endpoint, ClientOptions options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// [any thread] `request->done` is called exactly once, on the engine's thread.
  void submit(RequestPtr request);
  /// [any thread] Gives up the request: it ends here if it was not sent, else a cancel goes to the
  /// control endpoint.
  void cancel(std::int64_t id);
  /// [any thread] Waits for the first hello.
  Status wait_until_greeted(double seconds);
  Value hello() const;
  std::int64_t next_id() { return ++last_id_; }
  /// Whether this process is not the one that made the client.
  bool forked() const;

 private:
  enum class State { kDown, kConnecting, kGreeting, kResuming, kReady, kLeaving, kFailed };
  struct Channel {
    std::string endpoint;
    std::unique_ptr<Link> link;
    State state = State::kDown;
    std::int64_t since_ns = 0;   // when it entered its state
    std::int64_t reopen_ns = 0;  // when a channel that is down tries again
    std::int64_t heard_ns = 0;   // the last message of the server
    std::int64_t away_ns = 0;    // time since the server was lost; 0: connected, or not watched
    bool shutting_down = false;  // the last server said so, and no other has answered since
    int failures = 0;            // connections lost in a row without an answer
    std::map<std::int64_t, RequestPtr> in_flight;
    std::deque<RequestPtr> waiting;
  };

  Engine(std::string endpoint, ClientOptions options, std::optional<wire::KeyPair> keys);
  void post(std::function<void()> work);

  // Thread state and steps.
  void run();
  void run_posted();
  long milliseconds_to_next_timer() const;
  void run_timers();
  std::int64_t given_up_at(const Channel& channel) const;
  void fail_without_server(Channel& channel, std::int64_t now);
  void serve(Channel& channel);
  void flush(Channel& channel);
  bool send(Channel& channel, const RequestPtr& request);
  void accept(const RequestPtr& request);
  bool shorten_action(Request& request, std::size_t excess) const;
  void open(Channel& channel);
  void enter(Channel& channel, State state);
  void lose_connection(Channel& channel);
  bool lost_too_often(Request& request) const;
  static Failure always_lost(const Channel& channel, const Request& request);
  void on_link_event(Channel& channel, Link::Event event);
  bool wants_another_mechanism(const Channel& channel);
  void refused(Channel& channel, Link::Event event);
  void wait_for_next_server(Channel& channel, const RequestPtr& request);
  void note_shutdown(Channel& channel);
  bool has_left(const Channel& channel) const;
  void fail_for_good(const Failure& failure);
  void greet();
  void on_hello(const Reply& reply);
  void resume_all();
  void resume_more();
  void on_resumed(const std::string& episode, const Reply& reply);
  bool beats() const { return main_.state == State::kReady || main_.state == State::kLeaving; }
  double beat_s() const { return std::min(heartbeat_s_, lease_s_ / 3); }
  void renew_leases(std::int64_t now);
  void handle(Channel& channel, ReplyMessage message);
  void conclude(const RequestPtr& request, Reply reply);
  void resume_then_conclude(const RequestPtr& request, Reply reply);
  bool retry_later(const RequestPtr& request, const Failure& failure);
  void finish(const RequestPtr& request, Reply reply);
  void expire(Request* request);
  void leave(const Request& request);
  void close_unwanted(const std::string& episode);
  void give_up(std::int64_t id);
  RequestPtr take_waiting(std::int64_t id);
  void queue(const RequestPtr& request);
  void send_cancel(const RequestPtr& request, bool ends_it);
  void release_behind(const std::string& episode);
  void end_everything();
  Channel& channel_of(const Request& request);
  RequestPtr internal_request(std::string verb, Value body, std::function<void(Reply)> done);
  std::string where() const;
  /// The likely reason why no server answers.
  std::string why_unanswered() const HONE_REQUIRES(mutex_);

  const std::string endpoint_;
  const ClientOptions options_;
  const std::optional<wire::KeyPair> keys_;
  const int pid_;
  std::atomic<std::int64_t> last_id_{0};
  UniqueFd wake_;

  mutable Mutex mutex_;
  Condition greeted_changed_;
  std::vector<std::function<void()>> posted_ HONE_GUARDED_BY(mutex_);
  bool stopping_ HONE_GUARDED_BY(mutex_) = false;
  bool greeted_ HONE_GUARDED_BY(mutex_) = false;
  std::string hello_refused_ HONE_GUARDED_BY(mutex_);  ///< why the last hello has to be repeated
  Value hello_ HONE_GUARDED_BY(mutex_);
  std::optional<Failure> fatal_ HONE_GUARDED_BY(mutex_);
  std::size_t handshakes_failed_ HONE_GUARDED_BY(mutex_) = 0;
  bool unresolved_ HONE_GUARDED_BY(mutex_) = false;  ///< the last attempt found no such host

  // State of the client's thread, not shared.
  LinkContext context_;
  Channel main_, control_;
  Roster roster_;
  std::multimap<std::int64_t, Request*> deadlines_;
  std::unordered_map<std::int64_t, RequestPtr> alive_;
  std::multimap<std::int64_t, RequestPtr> later_;
  // episode: its steps given up, and their cancels, that have no answer yet
  std::unordered_map<std::string, std::size_t> ending_;
  std::multimap<std::string, RequestPtr> behind_;  // episode: steps that wait for those
  std::unordered_set<std::int64_t> left_;          // abandoned resets and branches in flight
  std::string incarnation_, former_incarnation_;
  double heartbeat_s_ = 5;
  double lease_s_ = 60;
  std::size_t in_flight_max_ = SIZE_MAX;
  std::size_t frame_bytes_max_ = SIZE_MAX;
  std::size_t judged_bytes_max_ = SIZE_MAX;  // the server rejects longer submissions
  std::deque<std::pair<std::string, std::string>> to_resume_;  // episode, token
  std::size_t resuming_ = 0;                                   // not answered yet
  std::int64_t next_beat_ns_ = 0;

  std::unique_ptr<std::thread> thread_;  // last: everything above exists before it runs
};

}  // namespace hone::inline client_api
