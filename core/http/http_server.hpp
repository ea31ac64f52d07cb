// HttpServer: JSON over HTTP on one port: limits, an optional token, and one handler for all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone {

struct HttpRequest {
  std::string method;  ///< "GET" or "POST"
  std::string path;    ///< "/eval", decoded
  std::string body;
  std::function<bool()> gone = [] {
    return false;
  };  ///< whether the client has closed the connection
  std::vector<std::pair<std::string, std::string>> query = {};  ///< "?limit=10", decoded
};

struct HttpReply {
  int status = 200;
  Value body = Value::map();
  std::optional<int> retry_after_s = {};
  std::string text = {}, content_type = {};  ///< instead of the body, if there is a content type
  std::vector<std::pair<std::string, std::string>> headers = {};  ///< additional ones
};

/// {"detail": what}, as FastAPI says it.
HttpReply http_error(int status, std::string_view what);

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 0;                           ///< 0: a free one
  std::string who = "gateway";            ///< what messages and the log call this server
  std::string token;                      ///< of `Authorization: Bearer …`; empty: none is asked
  std::size_t threads = 64;               ///< requests at a time; more wait
  std::size_t body_bytes_max = 4u << 20;  ///< of a request
  int seconds_max = 10;                   ///< that a peer may stay silent while it sends or reads
  double request_seconds_max = 20;        ///< for the whole of a request to be here
  /// With a token: GET of this path with the token sets a cookie. A GET with that cookie needs no token, so that a
  /// browser can show pages. Empty: no cookies.
  std::string login_path = {};
  std::vector<std::string> public_paths =
      {};  ///< GET of these needs no token: files without secrets
};

/// "127.0.0.1:18188", "localhost:0", "[::1]:80".
struct HttpPlace {
  std::string host;
  int port = 0;
};
Result<HttpPlace> parse_place(const std::string& text);
bool is_loopback(std::string_view host);
/// "http://127.0.0.1:5919" or "http://[::1]:80".
std::string http_url(const std::string& host, int port);

/// Serves from start() to stop() or its end. One request for each connection. The handler is called
/// from many threads at once.
///
/// Rationale: a web page in a browser can also send requests to loopback. A body must therefore be
/// application/json, which a page of another origin cannot send without a CORS preflight. Without a
/// token, a Host header must be a loopback name such as localhost, which stops DNS rebinding.
///
///   HONE_ASSIGN(auto server, HttpServer::start({.port = 18188}, [](const HttpRequest& request) {
///     return HttpReply{.body = Value::map({{"path", request.path}})};
///   }));
class HttpServer {
 public:
  using Handler = std::function<HttpReply(const HttpRequest&)>;

  /// unavailable: the port is taken; invalid_argument: no such address.
  static Result<std::unique_ptr<HttpServer>> start(HttpOptions options, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  /// Accepts no more requests, drops incomplete ones, and waits for the others.
  void stop();

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// GET of an http:// URL, for benchmarks. Returns the body; an error: no reply within `seconds`, or a status other than 200.
Result<std::string> http_get(const std::string& url, double seconds = 60);

}  // namespace hone
