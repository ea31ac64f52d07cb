// Answers ZAP requests, and handles events of connections.
#include "server/doorkeeper.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"
#include "base/descriptors.hpp"
#include "base/log.hpp"

namespace hone {
namespace {

// Bytes that a client sends before its handshake is complete. With CURVE: greeting (64), HELLO (202) and INITIATE (over 250). Without: greeting and READY.
constexpr std::size_t kCurveBytesMin = 500, kPlainBytesMin = 80;
// Rationale: a client that retries in a loop must not fill the log.
constexpr std::int64_t kLogIntervalNs = 1'000'000'000;
constexpr std::size_t kQuestionFrames = 7;

Strangers::Limits within_descriptors(Strangers::Limits limits) {
  const std::size_t connections = raise_descriptor_limit() / 2;
  limits.open_max = std::min(limits.open_max, std::max<std::size_t>(connections, 64));
  limits.waiting_max = std::min(limits.waiting_max, std::max<std::size_t>(limits.open_max / 2, 1));
  return limits;
}

/// Printable ASCII for the log. ZeroMQ gives the address, not the peer.
std::string safe(const std::string& text) {
  std::string plain = text.substr(0, 64);
  for (char& c : plain) c = c > ' ' && c < '\x7f' ? c : '?';
  return plain;
}

}  // namespace

Doorkeeper::Doorkeeper(std::shared_ptr<AllowList> allowed, Strangers::Limits limits)
    : allowed_(std::move(allowed)),
      strangers_(
          within_descriptors(limits),
          [bytes_min = allowed_ ? kCurveBytesMin : kPlainBytesMin](int descriptor) {
            return has_sent_less(descriptor, bytes_min);
          },
          [this](int descriptor, const std::string& endpoint) { hang_up(descriptor, endpoint); }),
      served_max_(Strangers::served_of(strangers_.limits().open_max)) {}

Result<std::unique_ptr<Doorkeeper>> Doorkeeper::create(SocketContext& context,
                                                       std::shared_ptr<AllowList> allowed,
                                                       Strangers::Limits limits) {
  std::unique_ptr<Doorkeeper> keeper(new Doorkeeper(std::move(allowed), limits));
  keeper->wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!keeper->wake_) return system_error("eventfd", errno);
  if (keeper->allowed_) {
    HONE_ASSIGN(Socket zap, Socket::replier(context, kZapEndpoint));
    keeper->zap_ = std::make_unique<Socket>(std::move(zap));
  }
  return keeper;
}

Doorkeeper::~Doorkeeper() { stop(); }

Status Doorkeeper::watch(SocketContext& context, Socket& router) {
  HONE_ASSIGN(Socket watch, router.watch(context));
  watches_.push_back(std::move(watch));
  return {};
}

void Doorkeeper::start() {
  thread_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "hone-door");
    run();
  });
}

void Doorkeeper::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_.get(), &one, sizeof one));
  thread_.join();
}

std::string Doorkeeper::limit_text() const {
  const std::size_t files = raise_descriptor_limit();
  const bool by_files = strangers_.limits().open_max >= files / 2;
  return std::to_string(served_max_) +
         (by_files ? " (with " + std::to_string(files) + " open files)" : "");
}

Doorkeeper::Counts Doorkeeper::counts() const {
  return {admitted_, keys_refused_, handshakes_failed_, hung_up_, open_, disconnected_};
}

void Doorkeeper::run() {
  std::vector<Socket*> sockets;
  if (zap_) sockets.push_back(zap_.get());
  for (Socket& watch : watches_) sockets.push_back(&watch);
  wire::Frames question;
  while (!stopping_) {
    wait_readable(sockets, wake_.get(), -1);
    while (zap_ && zap_->receive(question, 0)) answer(question);
    for (Socket& watch : watches_) {
      while (const auto event = watch.next_event()) note(*event);
    }
  }
  zap_.reset();
  watches_.clear();
}

/// Frames: version, request id, domain, address, routing id, mechanism, key.
void Doorkeeper::answer(const wire::Frames& question) {
  const bool curve = question.size() == kQuestionFrames && question[5] == "CURVE";
  const std::string key = curve ? key_text(question[6]) : "";
  allowed_->refresh();
  const auto client = key.empty() ? nullptr : allowed_->find(key);
  const std::string id = question.size() > 1 ? question[1] : "";
  if (client != nullptr) {
    ++admitted_;
    log_info("server", "client '" + client->name + "' connected from " + safe(question[3]));
    static_cast<void>(zap_->send({"1.0", id, "200", "OK", key, ""}));
    return;
  }
  static_cast<void>(zap_->send({"1.0", id, "400", "unknown key", "", ""}));
  const std::uint64_t refused = ++keys_refused_;
  const std::int64_t now_ns = monotonic_ns();
  if (logged_ns_ != 0 && now_ns - logged_ns_ < kLogIntervalNs) return;
  const std::uint64_t not_logged = refused - logged_count_ - 1;
  logged_ns_ = now_ns;
  logged_count_ = refused;
  log_warning(
      "server",
      "refused a connection from " +
          (question.size() > 3 ? safe(question[3]) : std::string("an unknown address")) +
          ": its public key is not in the allow-list: " + (key.empty() ? "(none)" : key) +
          (not_logged > 0 ? "; " + std::to_string(not_logged) + " more since the last message"
                          : ""));
}

void Doorkeeper::note(const ConnectionEvent& event) {
  switch (event.kind) {
    case ConnectionEvent::kAccepted:
      strangers_.accepted(event.descriptor, event.endpoint);
      break;
    case ConnectionEvent::kGone:
      strangers_.gone(event.descriptor);
      ++disconnected_;
      break;
    case ConnectionEvent::kHandshakeFailed:
      ++handshakes_failed_;
      break;
    case ConnectionEvent::kOther:
      break;
  }
  open_ = strangers_.open();
}

void Doorkeeper::hang_up(int descriptor, const std::string& endpoint) {
  if (!shut_down_connection(descriptor, endpoint)) return;
  if (hung_up_++ == 0) {
    log_warning(
        "server",
        "closed a connection to " + endpoint + ": " + std::to_string(open_) +
            " connections are open; the limits are " + limit_text() + " in total and " +
            std::to_string(strangers_.limits().waiting_max) +
            " that have not completed a handshake; the metric hung_up counts closed connections");
  }
}

}  // namespace hone
