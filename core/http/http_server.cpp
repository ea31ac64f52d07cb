// The one file that includes cpp-httplib.
#include "http/http_server.hpp"

#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <thread>

#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "base/log.hpp"

namespace hone {
namespace {

constexpr char kJson[] = "application/json";

void write(const HttpReply& reply, httplib::Response& response) {
  response.status = reply.status;
  for (const auto& [name, value] : reply.headers) response.set_header(name, value);
  if (reply.retry_after_s) response.set_header("Retry-After", std::to_string(*reply.retry_after_s));
  if (!reply.content_type.empty()) return response.set_content(reply.text, reply.content_type);
  response.set_content(to_json(reply.body), kJson);
}

/// The host of "localhost:18188" or "[::1]:18188".
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

std::string lower(std::string_view text) {
  std::string low(text);
  std::transform(low.begin(), low.end(), low.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return low;
}

/// One peer: its request has to be here in time, however slowly it drips, and nothing is read once
/// the server stops.
class Connection final : public httplib::Stream {
 public:
  Connection(int fd, const HttpOptions& options, const std::atomic<bool>& stopping)
      : fd_(fd),
        silent_s_(options.seconds_max),
        end_s_(monotonic_s() + options.request_seconds_max),
        stopping_(stopping) {}

  bool is_readable() const override {
    return at_ < held_ || ready(POLLIN, std::min(end_s_, monotonic_s() + silent_s_));
  }
  bool is_writable() const override { return ready(POLLOUT, monotonic_s() + silent_s_); }
  ssize_t read(char* bytes, std::size_t size) override {
    if (at_ == held_) {
      if (!is_readable()) return -1;
      const ssize_t n = recv(fd_, buffer_.data(), buffer_.size(), 0);
      if (n <= 0) return n;
      at_ = 0;
      held_ = static_cast<std::size_t>(n);
    }
    const std::size_t taken = std::min(size, held_ - at_);
    std::copy_n(buffer_.data() + at_, taken, bytes);
    at_ += taken;
    return static_cast<ssize_t>(taken);
  }
  ssize_t write(const char* bytes, std::size_t size) override {
    return is_writable() ? send(fd_, bytes, size, MSG_NOSIGNAL) : -1;
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}  // not used
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return fd_; }

  bool gone() const {
    pollfd polled{fd_, POLLRDHUP, 0};
    return poll(&polled, 1, 0) > 0;
  }
  bool late() const { return monotonic_s() >= end_s_; }

 private:
  bool ready(short event, double end_s) const {
    constexpr double kSliceS = 0.1;  // interval of checks for a stop
    for (;;) {
      const double left_s = end_s - monotonic_s();
      if (left_s <= 0) return false;
      pollfd polled{fd_, event, 0};
      const int n = poll(&polled, 1, static_cast<int>(std::ceil(std::min(left_s, kSliceS) * 1e3)));
      if (n > 0) return event != POLLIN || !stopping_;
      if (stopping_ || (n < 0 && errno != EINTR)) return false;
    }
  }

  const int fd_;
  const double silent_s_, end_s_;
  const std::atomic<bool>& stopping_;
  std::array<char, 16 << 10> buffer_{};
  std::size_t at_ = 0, held_ = 0;
};

thread_local const Connection* g_connection = nullptr;  // whose request this thread handles

/// httplib's server, with connections of hone's own: its own ones wait for each byte anew.
class Door final : public httplib::Server {
 public:
  explicit Door(const HttpOptions& options) : options_(options) {}
  std::atomic<bool> stopping{false};

 private:
  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket, options_, stopping);
    g_connection = &connection;
    bool closed = false;
    const bool done = process_request(connection, true, closed, nullptr);
    g_connection = nullptr;
    shutdown(socket, SHUT_RDWR);
    close(socket);
    return done;
  }

  const HttpOptions& options_;
};

/// What a reply says where httplib alone refused.
std::string_view refusal(int status) {
  switch (status) {
    case 400:
      return "the HTTP request is malformed";
    case 404:
      return "unknown method";
    case 413:
      return "the request is too long";
    case 414:
      return "the path is too long";
    default:
      return "the request was refused";
  }
}

}  // namespace

HttpReply http_error(int status, std::string_view what) {
  return {.status = status, .body = Value::map({{"detail", what}})};
}

Result<HttpPlace> parse_place(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::string expected = "expected HOST:PORT, such as 127.0.0.1:18188";
  if (colon == std::string::npos || colon == 0)
    return invalid_argument("found '" + text + "', " + expected);
  HttpPlace place{text.substr(0, colon), 0};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, place.port);
  if (error != std::errc() || stop != end || place.port < 0 || place.port > 65535)
    return invalid_argument("found port '" + text.substr(colon + 1) + "', expected 0 to 65535");
  if (place.host.starts_with('[') && place.host.ends_with(']'))
    place.host = place.host.substr(1, place.host.size() - 2);
  if (place.host == "*") place.host = "0.0.0.0";
  return place;
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host == "[::1]" ||
         (host.starts_with("127.") &&
          host.find_first_not_of("0123456789.") == std::string_view::npos);
}

std::string http_url(const std::string& host, int port) {
  return "http://" + (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" +
         std::to_string(port);
}

class HttpServer::Impl {
 public:
  Impl(HttpOptions options, Handler handler)
      : options_(std::move(options)), handler_(std::move(handler)), server_(options_) {}

  Status start() {
    server_.new_task_queue = [n = options_.threads] { return new httplib::ThreadPool(n); };
    server_.set_keep_alive_max_count(1);
    server_.set_read_timeout(options_.seconds_max);
    server_.set_write_timeout(options_.seconds_max);
    server_.set_payload_max_length(options_.body_bytes_max);
    server_.set_tcp_nodelay(true);
    // Rationale: its own choice lets a second program listen on the same port.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    // Before anything of a body is read.
    server_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          const std::optional<HttpReply> refused = refuse(request);
          if (!refused) return httplib::Server::HandlerResponse::Unhandled;
          write(*refused, response);
          return httplib::Server::HandlerResponse::Handled;
        });
    server_.Get(".*", [this](const httplib::Request& request, httplib::Response& response) {
      write(handle(request, ""), response);
    });
    server_.Post(".*", [this](const httplib::Request& request, httplib::Response& response,
                              const httplib::ContentReader& reader) {
      std::string body;
      const std::optional<HttpReply> refused = read_body(request, reader, body);
      write(refused ? *refused : handle(request, std::move(body)), response);
    });
    server_.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (response.body.empty())
        write(http_error(response.status, refusal(response.status)), response);
    });
    server_.set_exception_handler([this](const httplib::Request&, httplib::Response& response,
                                         const std::exception_ptr&) { write(fault(), response); });
    if (options_.port == 0) {
      port_ = server_.bind_to_any_port(options_.host);
    } else {
      port_ = server_.bind_to_port(options_.host, options_.port) ? options_.port : -1;
    }
    if (port_ <= 0) {
      return unavailable("cannot listen on " + options_.host + ":" + std::to_string(options_.port) +
                         ": the address is in use or does not belong to this machine");
    }
    thread_ = std::thread([this] {
      server_.listen_after_bind();
      ended_ = true;
    });
    // Rationale: stop() has no effect before the server runs, and the thread would then never end.
    while (!server_.is_running() && !ended_) std::this_thread::yield();
    return {};
  }

  void stop() {
    if (!thread_.joinable()) return;
    server_.stopping = true;
    server_.stop();
    thread_.join();
  }

  int port() const { return port_; }

 private:
  /// The cookie that stands for the token. Rationale: a hash, so that the browser's files do not contain the token;
  /// with the port, because a browser sends a cookie to all ports of a host.
  std::string cookie() const {
    return "hone_" + std::to_string(port_) + "=" + sha256_hex("hone cookie " + options_.token);
  }

  bool has_cookie(const httplib::Request& request) const {
    const std::string expected = cookie();
    const std::string given = request.get_header_value("Cookie");
    for (std::size_t at = 0; at < given.size();) {
      const std::size_t end = std::min(given.find(';', at), given.size());
      if (equal_secrets(std::string_view(given).substr(at, end - at), expected)) return true;
      at = given.find_first_not_of("; ", end);
    }
    return false;
  }

  bool has_token(const httplib::Request& request) const {
    const std::string given = request.get_header_value("Authorization");
    return lower(given.substr(0, 7)) == "bearer " &&
           equal_secrets(std::string_view(given).substr(7), options_.token);
  }

  HttpReply fault() const {
    return http_error(500, "internal error of hone " + options_.who + "; see its log");
  }

  HttpReply handle(const httplib::Request& request, std::string body) const {
    try {
      const Connection* peer = g_connection;
      HttpRequest asked{request.method, request.path, std::move(body),
                        [peer] { return peer != nullptr && peer->gone(); }};
      asked.query.assign(request.params.begin(), request.params.end());
      return handler_(asked);
    } catch (const std::exception& error) {
      log_error(options_.who, std::string("an exception: ") + error.what());
      return fault();
    }
  }

  HttpReply logged_in() const {
    HttpReply reply;
    reply.headers = {{"Set-Cookie", cookie() + "; Path=/; HttpOnly; SameSite=Strict"},
                     {"Cache-Control", "no-store"}};
    return reply;
  }

  std::optional<HttpReply> refuse(const httplib::Request& request) const {
    const std::string& method = request.method;
    if (method != "GET" && method != "HEAD" && method != "POST")
      return http_error(404, refusal(404));
    const bool reads = method == "GET" || method == "HEAD";
    const auto& open = options_.public_paths;
    const bool is_public = reads && std::find(open.begin(), open.end(), request.path) != open.end();
    // Browsers say so when a page of another site, or of another port, makes the request.
    const std::string site = request.get_header_value("Sec-Fetch-Site");
    if (!is_public && !site.empty() && site != "same-origin" && site != "none")
      return http_error(403, "a page of another site made this request; open hone's page itself");
    if (!options_.token.empty()) {
      if (is_public) return std::nullopt;
      const bool browser = reads && !options_.login_path.empty();
      if (has_token(request)) {
        if (browser && request.path == options_.login_path) return logged_in();
        return std::nullopt;
      }
      if (browser && has_cookie(request)) return std::nullopt;
      return http_error(401, "expected the header 'Authorization: Bearer TOKEN' with this " +
                                 options_.who + "'s token");
    }
    const std::string given = lower(request.get_header_value("Host"));
    std::string_view host = without_port(given);
    if (host.ends_with('.')) host.remove_suffix(1);
    if (given.empty() || is_loopback(host)) return std::nullopt;
    return http_error(403,
                      "the header Host names another machine; expected localhost or 127.0.0.1");
  }

  /// Refuses a body that is not JSON or too long before it is read.
  std::optional<HttpReply> read_body(const httplib::Request& request,
                                     const httplib::ContentReader& reader,
                                     std::string& body) const {
    const bool chunked = request.has_header("Transfer-Encoding");
    const std::string length = request.get_header_value("Content-Length");
    if (!chunked && (length.empty() || length == "0")) return std::nullopt;
    if (!request.get_header_value("Content-Type").starts_with(kJson))
      return http_error(415, "expected a body of Content-Type application/json");
    bool too_long = false;
    const bool complete = reader([&](const char* bytes, std::size_t size) {
      too_long = body.size() + size > options_.body_bytes_max;
      if (!too_long) body.append(bytes, size);
      return !too_long;
    });
    if (complete) return std::nullopt;
    std::uint64_t said = 0;
    std::from_chars(length.data(), length.data() + length.size(), said);
    if (too_long || said > options_.body_bytes_max) {
      return http_error(413, "the request is longer than " +
                                 std::to_string(options_.body_bytes_max >> 20) + " MB");
    }
    if (g_connection != nullptr && g_connection->late()) {
      return http_error(408, "the request was not complete within " +
                                 std::to_string(std::lround(options_.request_seconds_max)) + " s");
    }
    return http_error(400, "the body ended after " + std::to_string(body.size()) + " bytes" +
                               (length.empty() ? "" : " of " + length));
  }

  const HttpOptions options_;
  const Handler handler_;
  Door server_;
  std::thread thread_;
  std::atomic<bool> ended_{false};
  int port_ = 0;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() { stop(); }

Result<std::unique_ptr<HttpServer>> HttpServer::start(HttpOptions options, Handler handler) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(handler));
  HONE_TRY(impl->start());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

int HttpServer::port() const { return impl_->port(); }
void HttpServer::stop() { impl_->stop(); }

Result<std::string> http_get(const std::string& url, double seconds) {
  const std::string scheme = "http://";
  const std::size_t slash = url.starts_with(scheme) ? url.find('/', scheme.size()) : 0;
  if (slash == 0 || slash == std::string::npos)
    return invalid_argument("found '" + url + "', expected http://HOST:PORT/PATH");
  httplib::Client client(url.substr(0, slash));
  const auto limit =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::duration<double>(seconds));
  client.set_connection_timeout(limit);
  client.set_read_timeout(limit);
  const httplib::Result reply = client.Get(url.substr(slash));
  if (!reply) return unavailable(url + ": " + httplib::to_string(reply.error()));
  if (reply->status != 200)
    return unavailable(url + ": status " + std::to_string(reply->status) + ": " + reply->body);
  return reply->body;
}

}  // namespace hone
