// Options of the HTTP server, and trajectories with the prompts that the configuration's tasks restore.
#include "cli/web_pages.hpp"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "app/host.hpp"
#include "app/load_config.hpp"
#include "app/stop_signals.hpp"
#include "base/log.hpp"
#include "episode/trajectory.hpp"
#include "http/token.hpp"
#include "offline/prompt_parts.hpp"

namespace hone {
namespace {

constexpr std::size_t kWebThreads =
    kLiveReaders + kJournalReaders + kFigureReaders + 8;  // 8 for probes and files

/// Tasks and environments of a configuration, which are loaded once. One thread at a time.
class PromptSource {
 public:
  PromptSource(std::string file, std::vector<std::string> sets)
      : file_(std::move(file)), sets_(std::move(sets)) {}

  /// The trajectory; "prompt_note" says why it lacks its first prompt.
  Result<Value> trajectory(const StoredEpisode& stored) {
    if (!loaded_) {
      loaded_ = load();
      if (!*loaded_) log_warning("web", "prompts are not shown: " + loaded_->error().message);
    }
    if (!*loaded_) return without_prompt(stored, loaded_->error());
    const auto environment = environment_of(stored, parts_.environments);
    if (!environment) return without_prompt(stored, environment.error());
    const auto setting = setting_of(stored.record, **environment, *parts_.catalog);
    if (!setting) return without_prompt(stored, setting.error());
    return trajectory_of(stored, **environment, parts_.catalog.get());
  }

 private:
  Result<Value> without_prompt(const StoredEpisode& stored, const Error& why) const {
    HONE_ASSIGN(Value trajectory, trajectory_without_prompt(stored));
    std::string note = why.message;
    if (file_.empty() && why.code == Code::kNotFound)
      note += "; to show prompts, give a configuration that has the task: -c FILE";
    trajectory.set("prompt_note", std::move(note));
    return trajectory;
  }

  Status load() {
    HONE_ASSIGN(const LoadedConfig loaded, load_config(file_, sets_));
    HONE_ASSIGN(parts_, PromptParts::open(loaded.config));
    return {};
  }

  const std::string file_;
  const std::vector<std::string> sets_;
  std::optional<Status> loaded_;
  PromptParts parts_;
};

}  // namespace

Result<HttpOptions> web_http_options(const std::string& listen, const std::string& token_file,
                                     const std::string& option, const std::string& who) {
  auto place = parse_place(listen.find(':') == std::string::npos ? "127.0.0.1:" + listen : listen);
  if (!place) return place.error().in(option);
  HttpOptions http;
  http.host = place->host;
  http.port = place->port;
  http.threads = kWebThreads;
  http.who = who;
  if (!token_file.empty()) {
    HONE_ASSIGN(http.token, read_token(token_file));
  } else if (!is_loopback(place->host)) {
    return invalid_argument(option + ": found " + place->host +
                            ", which is not a loopback address; expected --token-file FILE" +
                            (who == "web" ? " or web.token_file" : ""));
  }
  return http;
}

std::unique_ptr<EpisodePages> make_episode_pages(const std::string& path, std::string config_file,
                                                 std::vector<std::string> config_sets) {
  auto prompts = std::make_shared<PromptSource>(std::move(config_file), std::move(config_sets));
  return std::make_unique<EpisodePages>(
      std::filesystem::absolute(path).string(),
      [prompts](const StoredEpisode& stored) { return prompts->trajectory(stored); });
}

Status serve_web(const HttpOptions& http, WebSources sources,
                 const std::function<void(const std::string& url)>& announce,
                 const std::function<void()>& wait) {
  const std::vector<WebSources::Journal> journals = sources.journals;
  const Web web(std::move(sources));
  HONE_ASSIGN(const auto door,
              HttpServer::start(Web::options(http), [&web](const HttpRequest& request) {
                return web.handle(request);
              }));
  announce(http_url(http.host, door->port()));
  wait();
  for (const WebSources::Journal& journal : journals) journal.episodes->stop();
  door->stop();
  return {};
}

std::string shown_url(const std::string& url) {
  for (const std::string any : {"http://0.0.0.0:", "http://[::]:"}) {
    char name[256] = "";
    if (url.starts_with(any) && gethostname(name, sizeof name - 1) == 0)
      return "http://" + std::string(name) + url.substr(any.size() - 1);
  }
  return url;
}

void wait_for_stop() {
  while (stop_asked(60'000) == 0) {
  }
}

}  // namespace hone
