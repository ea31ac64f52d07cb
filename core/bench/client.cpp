// Clients that send requests and measure the time until the replies.
#include "bench/client.hpp"

#include <deque>

#include "base/clock.hpp"

namespace hone {
namespace {

constexpr long kPatienceMs = 10'000;
/// Steps that build wait for earlier ones, so this is long.
constexpr long kCrowdPatienceMs = 300'000;

/// Whether the message ends a request. An echo server answers with the request's own verb instead of
/// "result".
Result<bool> ends_request(const wire::Frames& reply) {
  if (reply.size() < 4) return internal_error("bench: a reply with too few frames");
  if (reply[1] == "error") {
    HONE_ASSIGN(const Value body, from_msgpack(reply[3]));
    HONE_ASSIGN(const wire::ErrorBody error, wire::error_body_from_value(body));
    return Error{error.code, "bench: " + error.message};
  }
  return reply[1] != "accepted" && reply[1] != "progress";
}

double seconds_since(std::int64_t start_ns) {
  return static_cast<double>(monotonic_ns() - start_ns) * 1e-9;
}

}  // namespace

SocketOptions bench_socket_options() {
  SocketOptions options;
  options.frame_bytes_max = 64u << 20;
  options.hwm = 10'000;
  options.linger_ms = 0;
  options.heartbeat_s = 0;
  return options;
}

wire::Frames bench_request(std::string verb, std::int64_t id, Value body) {
  return wire::encode_request({std::move(verb), id, {}, std::move(body), {}});
}

wire::Frames bench_step(const Value& episode, std::size_t turn, std::string code) {
  return bench_request("step", static_cast<std::int64_t>(turn),
                       Value::map({{"episode", episode},
                                   {"turn", turn},
                                   {"action", Value::map({{"code", std::move(code)}})}}));
}

Value bench_figure(const std::string& name, double value, const char* unit, double baseline,
                   double ratio, double goal) {
  return Value::map({{"name", name},
                     {"value", value},
                     {"unit", unit},
                     {"baseline", baseline},
                     {"ratio", ratio},
                     {"goal", goal > 0 ? Value(goal) : Value()},
                     {"holds", goal > 0 ? Value(ratio >= goal) : Value()}});
}

Value bench_bound(const std::string& name, double value, const char* unit, double baseline,
                  double most) {
  return Value::map({{"name", name},
                     {"value", value},
                     {"unit", unit},
                     {"baseline", baseline},
                     {"ratio", baseline > 0 ? Value(value / baseline) : Value()},
                     {"goal", "value <= " + to_json(Value(most))},
                     {"holds", value <= most}});
}

BenchClient::BenchClient(const std::string& endpoint, const SocketOptions& options)
    : socket_(Socket::dealer(context_, options)), connected_(socket_.connect(endpoint)) {}

Result<double> BenchClient::run(const std::vector<wire::Frames>& requests, std::size_t window,
                                std::vector<double>* latencies_s) {
  HONE_TRY(connected_);
  const std::int64_t start_ns = monotonic_ns();
  std::size_t sent = 0, answered = 0;
  std::deque<std::int64_t> sent_ns;
  while (answered < requests.size()) {
    while (sent < requests.size() && sent - answered < window) {
      if (latencies_s != nullptr) sent_ns.push_back(monotonic_ns());
      if (socket_.send(requests[sent]) != Socket::Sent::kYes) return unavailable("bench: not sent");
      ++sent;
    }
    bool ended = false;
    while (!ended) {
      if (!socket_.receive(reply_, kPatienceMs)) return unavailable("bench: no reply");
      HONE_ASSIGN(ended, ends_request(reply_));
    }
    if (latencies_s != nullptr) {
      latencies_s->push_back(seconds_since(sent_ns.front()));
      sent_ns.pop_front();
    }
    ++answered;
  }
  return seconds_since(start_ns);
}

Result<std::string> BenchClient::ask(const wire::Frames& request) {
  HONE_TRY(run({request}, 1));
  return reply_[3];
}

/// The position of one client in its list of requests.
struct BenchCrowd::Turn {
  Socket* socket;
  const Requests* requests;
  std::string* body;
  std::size_t next = 0;
  std::int64_t sent_ns = 0;
};

BenchCrowd::BenchCrowd(const std::string& endpoint, std::size_t clients) : bodies_(clients) {
  for (std::size_t i = 0; i < clients && connected_.ok(); ++i) {
    sockets_.push_back(Socket::dealer(context_, bench_socket_options()));
    connected_ = sockets_.back().connect(endpoint);
  }
}

Status BenchCrowd::send_next(Turn& turn) {
  if (turn.next == turn.requests->size()) return {};
  turn.sent_ns = monotonic_ns();
  if (turn.socket->send((*turn.requests)[turn.next]) != Socket::Sent::kYes) {
    return unavailable("bench: not sent");
  }
  ++turn.next;
  return {};
}

/// Handles all messages that have arrived for this client.
Status BenchCrowd::take(Turn& turn, std::vector<double>* latencies_s, std::size_t* unscored,
                        std::size_t& left) {
  wire::Frames reply;
  while (turn.socket->receive(reply, 0)) {
    HONE_ASSIGN(const bool ended, ends_request(reply));
    if (!ended) continue;
    if (latencies_s != nullptr) latencies_s->push_back(seconds_since(turn.sent_ns));
    *turn.body = std::move(reply[3]);
    if (unscored != nullptr) {
      HONE_ASSIGN(const Value body, from_msgpack(*turn.body));
      if (member_or_nil(body, "reward_valid") == Value(false)) ++*unscored;
    }
    --left;
    HONE_TRY(send_next(turn));
  }
  return {};
}

Result<double> BenchCrowd::run(const std::vector<Requests>& requests,
                               std::vector<double>* latencies_s, std::size_t* unscored) {
  HONE_TRY(connected_);
  std::vector<Turn> turns;
  std::vector<Socket*> waiting;
  std::size_t left = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    turns.push_back({&sockets_[i], &requests[i], &bodies_[i]});
    waiting.push_back(&sockets_[i]);
    left += requests[i].size();
  }
  const std::int64_t start_ns = monotonic_ns();
  std::int64_t heard_ns = start_ns;
  for (Turn& turn : turns) HONE_TRY(send_next(turn));
  while (left > 0) {
    const std::size_t before = left;
    wait_readable(waiting, -1, kCrowdPatienceMs);
    for (Turn& turn : turns) HONE_TRY(take(turn, latencies_s, unscored, left));
    if (left < before) heard_ns = monotonic_ns();
    if (seconds_since(heard_ns) * 1e3 > kCrowdPatienceMs) return unavailable("bench: no reply");
  }
  return seconds_since(start_ns);
}

Result<std::vector<std::vector<Value>>> BenchCrowd::open(const std::string& task,
                                                         std::size_t episodes) {
  std::vector<std::vector<Value>> names(size());
  const std::vector<Requests> resets(size(),
                                     {bench_request("reset", 0, Value::map({{"task", task}}))});
  for (std::size_t n = 0; n < episodes; ++n) {
    HONE_TRY(run(resets));
    for (std::size_t i = 0; i < size(); ++i) {
      HONE_ASSIGN(const Value body, from_msgpack(bodies_[i]));
      names[i].push_back(*body.find("episode"));
    }
  }
  return names;
}

Status BenchCrowd::close(const std::vector<std::vector<Value>>& episodes) {
  std::vector<Requests> requests(size());
  for (std::size_t i = 0; i < size(); ++i) {
    for (const Value& name : episodes[i]) {
      requests[i].push_back(bench_request("close", 0, Value::map({{"episode", name}})));
    }
  }
  HONE_TRY(run(requests));
  return {};
}

}  // namespace hone
