// What `hone web` and `hone view` have in common: the HTTP server's options, and the pages of a journal.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "http/http_server.hpp"
#include "web/web.hpp"

namespace hone {

/// `listen`: PORT on loopback, or HOST:PORT, the value of `option`. invalid_argument: not on loopback, and without a file of
/// a token.
Result<HttpOptions> web_http_options(const std::string& listen, const std::string& token_file,
                                     const std::string& option, const std::string& who);
/// Pages of the journal at `path`. The configuration's tasks restore the prompts. It and its plugins are loaded when the
/// first episode is shown; if that fails, episodes are shown without their first prompt and with the reason.
std::unique_ptr<EpisodePages> make_episode_pages(const std::string& path, std::string config_file,
                                                 std::vector<std::string> config_sets);

/// Serves the page until `wait` returns, then ends requests that read the journal. `announce` gets the address, such as
/// "http://127.0.0.1:5919" or "http://[::1]:80". Errors as of HttpServer::start.
Status serve_web(const HttpOptions& http, WebSources sources,
                 const std::function<void(const std::string& url)>& announce,
                 const std::function<void()>& wait);
/// `url` for people: an address of all interfaces is replaced by this machine's name.
std::string shown_url(const std::string& url);
/// Waits for a signal to stop.
void wait_for_stop();

}  // namespace hone
