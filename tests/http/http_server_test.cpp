// What a gateway's door lets in: sizes, halves, types, tokens, names, and a port of its own.
#include "http/http_server.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace hone {
namespace {

/// Sends bytes and reads until the server hangs up; `leave`: says that no more will come.
std::string talk(int port, const std::string& bytes, bool leave = false) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) break;
    sent += static_cast<std::size_t>(n);
  }
  if (leave) shutdown(fd, SHUT_WR);
  std::string reply;
  char buffer[4096];
  for (ssize_t n = 0; (n = recv(fd, buffer, sizeof buffer, 0)) > 0;)
    reply.append(buffer, static_cast<std::size_t>(n));
  close(fd);
  return reply;
}

std::string post(const std::string& body, const std::string& headers = "Host: localhost\r\n",
                 const std::string& type = "application/json") {
  return "POST /eval HTTP/1.1\r\n" + headers + "Content-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string line_of(const std::string& reply) { return reply.substr(0, reply.find("\r\n")); }
std::string body_of(const std::string& reply) {
  const std::size_t at = reply.find("\r\n\r\n");
  return at == std::string::npos ? "" : reply.substr(at + 4);
}

HttpReply echo(const HttpRequest& request) {
  return {
      .body = Value::map(
          {{"method", request.method}, {"path", request.path}, {"bytes", request.body.size()}})};
}

std::unique_ptr<HttpServer> served(HttpOptions options = {}, HttpServer::Handler handler = echo) {
  options.threads = 8;
  auto server = HttpServer::start(options, std::move(handler));
  EXPECT_TRUE(server.ok());
  return server ? std::move(*server) : nullptr;
}

TEST(HttpServer, Request_ReachesTheHandler) {
  const auto server = served();
  EXPECT_EQ(body_of(talk(server->port(), post("{}"))),
            R"({"method":"POST","path":"/eval","bytes":2})");
  EXPECT_EQ(body_of(talk(server->port(), "GET /health HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n")),
            R"({"method":"GET","path":"/health","bytes":0})");
  // As curl -X POST sends it: no length at all.
  EXPECT_EQ(body_of(talk(server->port(), "POST /cleanup HTTP/1.1\r\nHost: localhost\r\n\r\n")),
            R"({"method":"POST","path":"/cleanup","bytes":0})");
}

TEST(HttpServer, IncompleteBody_IsABadRequest) {
  HttpOptions options;
  options.seconds_max = 1;
  const auto server = served(options);
  const std::string reply =
      talk(server->port(),
           "POST /eval HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
           "Content-Length: 100\r\n\r\n{\"a\":");
  EXPECT_EQ(line_of(reply), "HTTP/1.1 400 Bad Request");
  EXPECT_EQ(body_of(reply), R"({"detail":"the body ended after 5 bytes of 100"})");
}

TEST(HttpServer, TooLongRequest_IsRefused) {
  HttpOptions options;
  options.body_bytes_max = 1 << 20;
  const auto server = served(options);
  EXPECT_EQ(body_of(talk(server->port(), post(std::string(20 << 20, ' ')))),
            R"({"detail":"the request is longer than 1 MB"})");
  std::string chunks;
  for (int i = 0; i < 20; ++i) chunks += "10000\r\n" + std::string(0x10000, ' ') + "\r\n";
  const std::string reply =
      talk(server->port(),
           "POST /eval HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
           "Transfer-Encoding: chunked\r\n\r\n" +
               chunks + "0\r\n\r\n");
  EXPECT_EQ(line_of(reply), "HTTP/1.1 413 Payload Too Large");
  EXPECT_EQ(line_of(talk(server->port(), "GET /" + std::string(8000, 'a') +
                                             " HTTP/1.1\r\nHost: localhost\r\n\r\n")),
            "HTTP/1.1 200 OK");
}

TEST(HttpServer, CrossSiteRequest_IsRefused) {
  const auto server = served();
  EXPECT_EQ(line_of(talk(server->port(), post("{}", "Host: localhost\r\n", "text/plain"))),
            "HTTP/1.1 415 Unsupported Media Type");
  EXPECT_EQ(line_of(talk(server->port(), post("{}", "Host: leads.here.example\r\n"))),
            "HTTP/1.1 403 Forbidden");
  for (const auto& [site, line] :
       {std::pair("cross-site", "HTTP/1.1 403 Forbidden"),
        std::pair("same-site", "HTTP/1.1 403 Forbidden"),
        std::pair("same-origin", "HTTP/1.1 200 OK"), std::pair("none", "HTTP/1.1 200 OK")}) {
    EXPECT_EQ(line_of(talk(server->port(),
                           "GET /health HTTP/1.1\r\nHost: localhost\r\n"
                           "Sec-Fetch-Site: " +
                               std::string(site) + "\r\n\r\n")),
              line)
        << site;
  }
  EXPECT_EQ(line_of(talk(server->port(), post("{}", "Host: 127.0.0.1.example\r\n"))),
            "HTTP/1.1 403 Forbidden");
}

TEST(HttpServer, MissingToken_IsRefused) {
  HttpOptions options;
  options.token = "0123456789abcdef";
  const auto server = served(options);
  EXPECT_EQ(line_of(talk(server->port(), post("{}"))), "HTTP/1.1 401 Unauthorized");
  const std::string wrong = "Host: localhost\r\nAuthorization: Bearer 0123456789abcdeg\r\n";
  EXPECT_EQ(line_of(talk(server->port(), post("{}", wrong))), "HTTP/1.1 401 Unauthorized");
  const std::string right = "Host: far.example\r\nAuthorization: Bearer 0123456789abcdef\r\n";
  EXPECT_EQ(line_of(talk(server->port(), post("{}", right))), "HTTP/1.1 200 OK");
}

std::string get(const std::string& path, const std::string& headers = "Host: localhost\r\n") {
  return "GET " + path + " HTTP/1.1\r\n" + headers + "\r\n";
}

TEST(HttpServer, Login_SetsACookieThatReadsOnly) {
  HttpOptions options;
  options.token = "0123456789abcdef";
  options.login_path = "/login";
  options.public_paths = {"/", "/app.js"};
  const auto server = served(options);
  EXPECT_EQ(line_of(talk(server->port(), get("/app.js"))), "HTTP/1.1 200 OK");
  EXPECT_EQ(line_of(talk(server->port(), get("/app.js/../secret"))), "HTTP/1.1 401 Unauthorized");
  for (const char* path : {"/secret", "/login", "/login?token=0123456789abcdef"})
    EXPECT_EQ(line_of(talk(server->port(), get(path))), "HTTP/1.1 401 Unauthorized") << path;
  const std::string bearer = "Host: a.example\r\nAuthorization: Bearer 0123456789abcdef\r\n";
  const std::string reply = talk(server->port(), get("/login", bearer));
  EXPECT_EQ(line_of(reply), "HTTP/1.1 200 OK");
  const std::size_t at = reply.find("Set-Cookie: ");
  ASSERT_NE(at, std::string::npos);
  const std::string set = reply.substr(at + 12, reply.find("\r\n", at) - at - 12);
  const std::string cookie = set.substr(0, set.find(';'));
  EXPECT_EQ(set, cookie + "; Path=/; HttpOnly; SameSite=Strict");
  EXPECT_EQ(set.find(options.token), std::string::npos);
  const auto with = [](const std::string& value) {
    return "Host: a.example\r\nCookie: " + value + "\r\n";
  };
  EXPECT_EQ(line_of(talk(server->port(), get("/secret", with(cookie)))), "HTTP/1.1 200 OK");
  EXPECT_EQ(line_of(talk(server->port(), get("/secret", with("a=1; " + cookie + "; b=2")))),
            "HTTP/1.1 200 OK");
  for (const std::string& wrong :
       {cookie.substr(1), cookie + "0", std::string("hone=1"), std::string(";;; ")})
    EXPECT_EQ(line_of(talk(server->port(), get("/secret", with(wrong)))),
              "HTTP/1.1 401 Unauthorized")
        << wrong;
  EXPECT_EQ(line_of(talk(server->port(), post("{}", with(cookie)))), "HTTP/1.1 401 Unauthorized")
      << "another site can make a browser post";
  const auto other = served({.token = "0123456789abcdef"});
  EXPECT_EQ(line_of(talk(other->port(), get("/secret", with(cookie)))), "HTTP/1.1 401 Unauthorized")
      << "a gateway has no cookies";
}

TEST(HttpServer, Query_IsDecoded) {
  const auto server = served({}, [](const HttpRequest& request) {
    Value query = Value::map();
    for (const auto& [name, value] : request.query) query.set(name, value);
    return HttpReply{.body = Value::map({{"path", request.path}, {"query", std::move(query)}}),
                     .headers = {{"X-One", "1"}}};
  });
  const std::string reply =
      talk(server->port(), get("/a%2fb?search=soft%20max+1&empty=&x=%3Cb%3E"));
  EXPECT_NE(reply.find("X-One: 1\r\n"), std::string::npos);
  EXPECT_EQ(body_of(reply),
            R"({"path":"/a/b","query":{"empty":"","search":"soft max 1","x":"<b>"}})");
}

TEST(HttpServer, SchemeAndHostName_IgnoreCase) {
  HttpOptions options;
  options.token = "0123456789abcdef";
  const auto server = served(options);
  const std::string right = "Host: far.example\r\nAuthorization: bearer 0123456789abcdef\r\n";
  EXPECT_EQ(line_of(talk(server->port(), post("{}", right))), "HTTP/1.1 200 OK");
  const auto open = served();
  for (const char* host : {"LocalHost", "localhost.", "localhost.:80", "127.0.0.1."})
    EXPECT_EQ(line_of(talk(open->port(), post("{}", "Host: " + std::string(host) + "\r\n"))),
              "HTTP/1.1 200 OK")
        << host;
}

TEST(HttpServer, Token_IsCheckedBeforeTheBody) {
  HttpOptions options;
  options.token = "0123456789abcdef";
  const auto server = served(options);
  for (const char* method : {"POST", "PUT"}) {
    const std::string reply =
        talk(server->port(), std::string(method) +
                                 " /eval HTTP/1.1\r\nHost: localhost\r\n"
                                 "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n");
    EXPECT_EQ(line_of(reply), method == std::string("POST") ? "HTTP/1.1 401 Unauthorized"
                                                            : "HTTP/1.1 404 Not Found");
  }
}

/// Sends a byte at a time until the server hangs up, at most `most` of them.
std::size_t drip(int port, const std::string& head, std::size_t most,
                 const std::function<void()>& after_first) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_GT(send(fd, head.data(), head.size(), MSG_NOSIGNAL), 0);
  std::size_t sent = 0;
  for (; sent < most; ++sent) {
    pollfd polled{fd, POLLIN | POLLRDHUP, 0};
    if (poll(&polled, 1, 10) > 0 || send(fd, "a", 1, MSG_NOSIGNAL) != 1) break;
    if (sent == 0) after_first();
  }
  close(fd);
  return sent;
}

constexpr char kHalf[] =
    "POST /eval HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    "Content-Length: 100000\r\n\r\n";

TEST(HttpServer, SlowRequest_IsRead) {
  HttpOptions options;
  options.request_seconds_max = 0.5;
  const auto server = served(options);
  for (const std::string head : {"POST /eval HTTP/1.1\r\nHost: ", kHalf})
    EXPECT_LT(drip(server->port(), head, 90000, [] {}), 90000u);
}

TEST(HttpServer, SlowRequest_DoesNotDelayShutdown) {
  HttpOptions options;
  options.request_seconds_max = 3600;
  options.seconds_max = 3600;
  const auto server = served(options);
  std::thread stopping;
  EXPECT_LT(drip(server->port(), kHalf, 90000,
                 [&] { stopping = std::thread([&server] { server->stop(); }); }),
            90000u);
  stopping.join();
}

TEST(HttpServer, ClosedConnection_IsDetected) {
  std::atomic<bool> inside{false}, noticed{false};
  auto server = served({}, [&](const HttpRequest& request) {
    inside = true;
    while (!request.gone()) std::this_thread::yield();
    noticed = true;
    return HttpReply{};
  });
  drip(server->port(), post("{}"), 1, [&] {
    while (!inside) std::this_thread::yield();
  });
  server->stop();
  EXPECT_TRUE(noticed);
}

TEST(HttpServer, Garbage_IsAnswered) {
  const auto server = served();
  EXPECT_EQ(line_of(talk(server->port(), "what?\r\n\r\n")), "HTTP/1.1 400 Bad Request");
  EXPECT_EQ(line_of(talk(server->port(),
                         "PUT /eval HTTP/1.1\r\nHost: localhost\r\n"
                         "Content-Length: 2\r\n\r\n{}")),
            "HTTP/1.1 404 Not Found");
  talk(server->port(), "", true);
  talk(server->port(), "POST /eval HTTP/1.1\r\n", true);
  talk(server->port(), post("{}").substr(0, 100), true);
  EXPECT_EQ(line_of(talk(server->port(), post("{}"))), "HTTP/1.1 200 OK");
}

TEST(HttpServer, ExceptionInAHandler_IsAnswered) {
  const auto server = served({}, [](const HttpRequest&) -> HttpReply { throw 1; });
  EXPECT_EQ(line_of(talk(server->port(), post("{}"))), "HTTP/1.1 500 Internal Server Error");
}

TEST(HttpServer, PortInUse_IsAnError) {
  const auto first = served();
  HttpOptions options;
  options.port = first->port();
  const auto second = HttpServer::start(options, echo);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kUnavailable);
}

TEST(HttpServer, EightRequests_AreServedInParallel) {
  std::atomic<int> inside{0};
  const auto server = served({}, [&inside](const HttpRequest&) {
    ++inside;
    while (inside < 8) std::this_thread::yield();  // each waits for all
    return HttpReply{};
  });
  std::vector<std::thread> clients;
  std::atomic<int> answered{0};
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      if (line_of(talk(server->port(), post("{}"))) == "HTTP/1.1 200 OK") ++answered;
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(answered, 8);
}

TEST(HttpServer, ListenAddress_IsParsed) {
  EXPECT_EQ(parse_place("[::1]:80")->host, "::1");
  EXPECT_EQ(parse_place("*:80")->host, "0.0.0.0");
  for (const char* bad : {"", "localhost", ":80", "localhost:", "localhost:x", "localhost:70000"})
    EXPECT_FALSE(parse_place(bad).ok()) << bad;
  for (const char* one : {"localhost", "127.0.0.1", "127.1.2.3", "::1"})
    EXPECT_TRUE(is_loopback(one)) << one;
  for (const char* one : {"0.0.0.0", "127.0.0.1.example", "10.0.0.1", "::"})
    EXPECT_FALSE(is_loopback(one)) << one;
}

}  // namespace
}  // namespace hone
