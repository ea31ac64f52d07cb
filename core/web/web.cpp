// Paths, and the requests to the server or the reads of the journal behind them.
#include "web/web.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/utf8.hpp"
#include "hone/version.h"
#include "model/verdict.hpp"
#include "web/page_files.hpp"

namespace hone {
namespace {

constexpr std::size_t kNameBytes = 256;  // of a journal's name in an error message
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

/// 503 for too many requests, with a time after which to try again.
HttpReply busy(const std::string& why) {
  HttpReply reply = http_error(503, why + "; try again");
  reply.retry_after_s = 1;
  return reply;
}

/// 503 with the server's error.
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

Result<const EpisodePages*> chosen_journal(const std::vector<WebSources::Journal>& journals,
                                           const EpisodePages::Query& query) {
  const auto asked = std::find_if(query.begin(), query.end(), [](const auto& one) {
    return one.first == "journal" && !one.second.empty();
  });
  if (asked == query.end()) return journals.front().episodes;
  const auto found = std::find_if(journals.begin(), journals.end(),
                                  [&](const auto& one) { return one.name == asked->second; });
  if (found != journals.end()) return found->episodes;
  std::string known;
  for (const WebSources::Journal& one : journals) known += (known.empty() ? "" : ", ") + one.name;
  return not_found("journal: found '" + cut_end(asked->second, kNameBytes) + "', expected one of " +
                   known);
}

/// Best first.
Value outcomes_value() {
  Value outcomes = Value::array();
  for (std::size_t i = std::size(kOutcomes); i-- > 0;)
    outcomes.push(Value::map({{"name", kOutcomes[i].name}, {"meaning", kOutcomes[i].meaning}}));
  return outcomes;
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
  if (path == "/api/live") return live(request);
  const bool of_journal = path == "/api/tasks" || path == "/api/over_time" ||
                          path == "/api/names" || path == kEpisodes ||
                          path.starts_with(std::string(kEpisodes) + "/");
  if (of_journal && sources_.journals.empty()) return http_error(404, sources_.no_episodes);
  if (of_journal) return of_episodes(request);
  return http_error(
      404,
      "no such path; expected /api/about, /api/live, /api/tasks, /api/over_time, /api/names, "
      "/api/episodes or /api/episodes/EPISODE");
}

HttpReply Web::of_episodes(const HttpRequest& request) const {
  const std::string_view path = request.path;
  const bool has_figures = path == "/api/tasks" || path == "/api/over_time";
  auto& readers = has_figures ? figure_readers_ : readers_;
  if (!readers.try_acquire()) return busy("other requests read the journal");
  const Held held(readers);
  const auto journal = chosen_journal(sources_.journals, request.query);
  if (!journal) return refused(journal.error());
  const EpisodePages& episodes = **journal;
  if (path == "/api/tasks") return reply_of(episodes.tasks(request.query, request.gone));
  if (path == "/api/over_time") return reply_of(episodes.over_time(request.query, request.gone));
  if (path == "/api/names") return reply_of(episodes.names(request.gone));
  if (path == kEpisodes) return reply_of(episodes.list(request.query, request.gone));
  return reply_of(episodes.episode(path.substr(kEpisodes.size() + 1)));
}

HttpReply Web::about() const {
  Value names = Value::array();
  for (const WebSources::Journal& journal : sources_.journals) names.push(journal.name);
  const bool has_none = sources_.journals.empty();
  return {.body = Value::map({{"version", HONE_VERSION_STRING},
                              {"live", static_cast<bool>(sources_.server)},
                              {"journal", has_none ? Value() : names.as_array().front()},
                              {"journals", std::move(names)},
                              {"no_episodes", has_none ? sources_.no_episodes : ""},
                              {"outcomes", outcomes_value()}})};
}

HttpReply Web::live(const HttpRequest& request) const {
  if (!sources_.server) return http_error(404, "this is a journal without a server");
  if (!live_readers_.try_acquire()) return last_live();
  const Held held(live_readers_);
  const auto reply = live_.get({}, request.gone, [this] { return ask_live(); });
  return reply ? HttpReply{.body = *reply} : no_answer(reply.error());
}

/// Health and metrics in one reply.
Result<Value> Web::ask_live() const {
  HONE_ASSIGN(Value health, sources_.server("health", Value::map()));
  HONE_ASSIGN(const Value metrics, sources_.server("metrics", Value::map()));
  const Value* counters = metrics.find("metrics");
  Value reply = Value::map({{"health", std::move(health)},
                            {"metrics", counters != nullptr ? *counters : Value::map()},
                            {"at", wall_s()}});
  MutexLock lock(last_live_mutex_);
  last_live_ = Live{reply, monotonic_s()};
  return reply;
}

HttpReply Web::last_live() const {
  MutexLock lock(last_live_mutex_);
  if (last_live_ && monotonic_s() - last_live_->at_s <= kLiveOldS)
    return {.body = last_live_->reply};
  return busy("too many requests wait for the server");
}

HttpReply Web::metrics() const {
  const auto reply =
      sources_.server("metrics", Value::map({{"format", "prometheus"}, {"old_names", false}}));
  if (!reply) return no_answer(reply.error());
  HttpReply text;
  text.text = text_or_empty(member_or_nil(*reply, "text"));
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
  const std::string status = text_or_empty(member_or_nil(*reply, "status"));
  ready.status = status == "serving" ? 200 : 503;
  ready.body.set("status", status);
  if (const Value* problems = reply->find("problems")) ready.body.set("problems", *problems);
  return ready;
}

}  // namespace hone
