// Web: the web page, and what monitoring reads of a running server over HTTP.
#pragma once

#include <functional>
#include <optional>
#include <semaphore>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "http/http_server.hpp"
#include "web/episode_pages.hpp"
#include "web/figure_cache.hpp"

namespace hone {

struct WebSources {
  /// Asks the running server. It should time out after a few seconds, which is how long a request takes when no server answers.
  /// Empty: there is no server, and so no metrics, health or live view.
  std::function<Result<Value>(const std::string& verb, const Value& body)> server;
  struct Journal {
    std::string name;  ///< unique; shown on the page and used in addresses
    EpisodePages* episodes;
  };
  std::vector<Journal> journals = {};
  std::string no_episodes = {};  ///< why there is no journal
};

/// Most requests for episodes and names that may read the journal at the same time; further ones get 503.
constexpr int kJournalReaders = 8;
/// Most requests for figures at the same time; further ones get 503. This limit is separate from kJournalReaders, because a
/// request for figures can wait for one that reads a whole journal.
constexpr int kFigureReaders = 8;

/// Most requests for the live view at the same time; further ones get the server's last reply (kLiveOldS), or 503.
constexpr int kLiveReaders = 16;
/// Time for which all browsers get the same reply of the server (s). Rationale: more browsers must not mean more requests to the
/// server.
constexpr double kLiveKeptS = 0.2;

/// Age up to which the last reply of the server is shown if too many requests for the live view wait (s). The reply has its time.
constexpr double kLiveOldS = 5;

/// [any thread] Requests for episodes read the journal anew. /api/tasks, /api/over_time and /api/live have caches (FigureCache).
///
/// Theory of operation. `/`, `/app.js`, `/style.css` and `/icon.svg` are files that are compiled in. The script reads `/api/…`
/// and builds the page from text nodes. All texts of a journal are hostile: submissions, compiler output, names. The headers
/// therefore also forbid scripts and styles from elsewhere, inline scripts, and HTML from strings.
///
///   Web web({.server = ask});
///   auto door = HttpServer::start(web.options({.port = 5919}), [&](const HttpRequest& r) { return web.handle(r); });
class Web {
 public:
  /// What `sources` points to must outlive this.
  explicit Web(WebSources sources) : sources_(std::move(sources)) {}

  /// The options, with the paths that need no token.
  static HttpOptions options(HttpOptions http);
  HttpReply handle(const HttpRequest& request) const;

 private:
  HttpReply metrics() const;
  HttpReply health() const;
  HttpReply readiness() const;
  /// /metrics, /healthz, /readyz; 404 for other paths.
  HttpReply monitored(std::string_view path) const;
  HttpReply about() const;
  HttpReply live(const HttpRequest& request) const;
  Result<Value> ask_live() const;
  /// Without asking the server.
  HttpReply last_live() const;
  HttpReply api(const HttpRequest& request) const;
  /// The paths that read a journal: the one that the parameter "journal" names, or the first.
  HttpReply of_episodes(const HttpRequest& request) const;

  const WebSources sources_;
  mutable FigureCache live_{kLiveKeptS, 0};
  mutable std::counting_semaphore<> live_readers_{kLiveReaders};
  struct Live {
    Value reply;
    double at_s = 0;  ///< monotonic
  };
  mutable Mutex last_live_mutex_;
  mutable std::optional<Live> last_live_ HONE_GUARDED_BY(last_live_mutex_);
  /// Requests that read the journal. With those for the live view, they leave threads for probes (cli/web_pages.cpp).
  mutable std::counting_semaphore<> readers_{kJournalReaders};
  mutable std::counting_semaphore<> figure_readers_{kFigureReaders};
};

}  // namespace hone
