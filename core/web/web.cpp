// Paths, and the requests to the server or the reads of the journal behind them.
#include "web/web.hpp"

#include <algorithm>
#include <filesystem>

#include "base/clock.hpp"
#include "hone/version.h"
#include "web/page_files.hpp"

namespace hone {
namespace {

constexpr std::string_view kLogin = "/api/login", kEpisodes = "/api/episodes";

/// Gives an acquired semaphore back.
class Held {
 public:
  explicit Held(std::counting_semaphore<>& semaphore) : semaphore_(semaphore) {}
  ~Held() { semaphore_.release(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  std::counting_semaphore<>& semaphore_;
};

/// 503 with the reason.
HttpReply no_answer(const Error& error) { return http_error(503, error.message); }

HttpReply refused(const Error& error) {
  int status = 500;
  if (error.code == Code::kNotFound) status = 404;
  if (error.code == Code::kInvalidArgument) status = 400;
  if (error.code == Code::kUnavailable || error.code == Code::kCancelled) status = 503;
  return http_error(status, error.message);
}

HttpReply reply_of(Result<Value> body) {
  if (!body) return refused(body.error());
  return {.body = std::move(*body)};
}

std::string member_text(const Value& map, std::string_view key) {
  const Value* found = map.find(key);
  return found != nullptr && found->is_string() ? found->as_string() : "";
}

HttpReply static_file(const PageFile& file) {
  HttpReply reply;
  reply.text = file.text;
  reply.content_type = file.content_type;
  return reply;
}

/// Rationale: `trusted-types` makes an assignment of a string to innerHTML an exception in browsers that know it.
void add_headers(HttpReply& reply) {
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "
            "'self'; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
            "require-trusted-types-for 'script'; trusted-types 'none'"},
           {"X-Content-Type-Options", "nosniff"},
           {"X-Frame-Options", "DENY"},
           {"Referrer-Policy", "no-referrer"},
           {"Cross-Origin-Resource-Policy", "same-origin"},
           {"Cross-Origin-Opener-Policy", "same-origin"},
           {"Cache-Control", "no-store"}}) {
    reply.headers.emplace_back(name, value);
  }
}

}  // namespace

HttpOptions Web::options(HttpOptions http) {
  http.login_path = kLogin;
  for (const PageFile& file : page_files()) http.public_paths.emplace_back(file.path);
  return http;
}

HttpReply Web::handle(const HttpRequest& request) const {
  if (request.method != "GET") return http_error(405, "expected GET");
  if (request.path.starts_with("/api/")) {
    HttpReply reply = api(request);
    add_headers(reply);
    return reply;
  }
  for (const PageFile& file : page_files()) {
    if (request.path != file.path) continue;
    HttpReply reply = static_file(file);
    add_headers(reply);
    return reply;
  }
  HttpReply reply = monitored(request.path);
  add_headers(reply);
  return reply;
}

HttpReply Web::monitored(std::string_view path) const {
  if (sources_.server) {
    if (path == "/metrics") return metrics();
    if (path == "/healthz") return health();
    if (path == "/readyz") return readiness();
  }
  return http_error(404, std::string("no such path; expected / or /api/…") +
                             (sources_.server ? ", /metrics, /healthz or /readyz" : ""));
}

HttpReply Web::api(const HttpRequest& request) const {
  const std::string_view path = request.path;
  if (path == kLogin) return {};  // with a token, HttpServer replies itself
  if (path == "/api/about") return about();
  if (path == "/api/live") return live();
  const bool of_journal = path == "/api/tasks" || path == "/api/names" || path == kEpisodes ||
                          path.starts_with(std::string(kEpisodes) + "/");
  if (of_journal && sources_.episodes == nullptr) return http_error(404, sources_.no_episodes);
  if (of_journal) return of_episodes(request);
  return http_error(
      404,
      "no such path; expected /api/about, /api/live, /api/tasks, /api/names, /api/episodes or "
      "/api/episodes/EPISODE");
}

HttpReply Web::of_episodes(const HttpRequest& request) const {
  const std::string_view path = request.path;
  if (!readers_.try_acquire()) {
    HttpReply busy = http_error(503, "other requests read the journal; try again");
    busy.retry_after_s = 1;
    return busy;
  }
  const Held held(readers_);
  if (path == "/api/tasks") return reply_of(sources_.episodes->tasks(request.query, request.gone));
  if (path == "/api/names") return reply_of(sources_.episodes->names());
  if (path == kEpisodes) return reply_of(sources_.episodes->list(request.query));
  return reply_of(sources_.episodes->episode(path.substr(kEpisodes.size() + 1)));
}

HttpReply Web::about() const {
  const EpisodePages* episodes = sources_.episodes;
  const std::string file =
      episodes == nullptr ? "" : std::filesystem::path(episodes->path()).filename().string();
  return {.body = Value::map({{"version", HONE_VERSION_STRING},
                              {"live", static_cast<bool>(sources_.server)},
                              {"journal", episodes == nullptr ? Value() : Value(file)},
                              {"no_episodes", episodes == nullptr ? sources_.no_episodes : ""}})};
}

/// Health and metrics in one reply.
HttpReply Web::live() const {
  if (!sources_.server) return http_error(404, "this is a journal without a server");
  auto health = sources_.server("health", Value::map());
  if (!health) return no_answer(health.error());
  auto metrics = sources_.server("metrics", Value::map());
  if (!metrics) return no_answer(metrics.error());
  const Value* counters = metrics->find("metrics");
  return {.body = Value::map({{"health", std::move(*health)},
                              {"metrics", counters != nullptr ? *counters : Value::map()},
                              {"at", wall_s()}})};
}

HttpReply Web::metrics() const {
  const auto reply =
      sources_.server("metrics", Value::map({{"format", "prometheus"}, {"old_names", false}}));
  if (!reply) return no_answer(reply.error());
  HttpReply text;
  text.text = member_text(*reply, "text");
  text.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return text;
}

/// The server answers. It may be unable to do steps: then a restart would not help.
HttpReply Web::health() const {
  const auto reply = sources_.server("health", Value::map());
  if (!reply) return no_answer(reply.error());
  return {.body = Value::map({{"status", "ok"}})};
}

/// The server takes new work.
HttpReply Web::readiness() const {
  const auto reply = sources_.server("health", Value::map());
  if (!reply) return no_answer(reply.error());
  HttpReply ready;
  const std::string status = member_text(*reply, "status");
  ready.status = status == "serving" ? 200 : 503;
  ready.body.set("status", status);
  if (const Value* problems = reply->find("problems")) ready.body.set("problems", *problems);
  return ready;
}

}  // namespace hone
