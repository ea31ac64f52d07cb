// Starts a Host, or only its episodes over a given evaluator, and a Server in front.
#include "app/local_server.hpp"

#include "app/host.hpp"
#include "base/log.hpp"
#include "journal/journal.hpp"
#include "server/server.hpp"

namespace hone {

/// In the order in which they are made.
struct LocalServer::Parts {
  std::unique_ptr<Host> host;
  std::unique_ptr<const Registry> registry;  // without a host
  std::unique_ptr<Journal> journal;          // without a host
  std::unique_ptr<EpisodeService> episodes;  // without a host
  std::unique_ptr<Server> server;
};

LocalServer::LocalServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
LocalServer::~LocalServer() = default;

Result<std::unique_ptr<LocalServer>> LocalServer::start(const LoadedConfig& loaded, const Say& say,
                                                        Evaluator* evaluator) {
  const Config& config = loaded.config;
  auto parts = std::make_unique<Parts>();
  EpisodeService* service = nullptr;
  if (evaluator == nullptr) {
    const auto profiles = config.environment.tools.find(Tool::kProfile);
    const bool offers_profiles = profiles != config.environment.tools.end() && profiles->second > 0;
    HONE_ASSIGN(parts->host, Host::start(loaded, say,
                                         offers_profiles ? CountersAhead::kFromStart
                                                         : CountersAhead::kAfterFirst));
    service = &parts->host->episodes();
  } else {
    parts->registry = open_registry(config);
    HONE_ASSIGN(auto catalog, open_catalog(config, *parts->registry));
    HONE_ASSIGN(parts->journal, open_journal(config));
    HONE_ASSIGN(parts->episodes, make_episodes(config, *parts->registry, std::move(catalog),
                                               *evaluator, "none", parts->journal.get()));
    service = parts->episodes.get();
  }
  ServerOptions options = server_options(config);
  if (parts->host) options.problems = [host = parts->host.get()] { return host->problems(); };
  HONE_ASSIGN(parts->server, Server::start(std::move(options), *service));
  return std::unique_ptr<LocalServer>(new LocalServer(std::move(parts)));
}

const std::string& LocalServer::endpoint() const { return parts_->server->endpoint(); }
const std::string& LocalServer::control_endpoint() const {
  return parts_->server->control_endpoint();
}
std::string LocalServer::server_key() const { return parts_->server->server_key(); }
std::string LocalServer::description() const {
  return parts_->host ? parts_->host->description() : "no evaluator";
}
void LocalServer::reload_keys() { parts_->server->reload_keys(); }
bool LocalServer::shut_down(double timeout_s) {
  const bool clean = parts_->server->shut_down(timeout_s);
  Journal* const journal = parts_->host ? parts_->host->journal() : parts_->journal.get();
  if (journal == nullptr) return clean;
  const Status synced = journal->sync_and_wait();
  if (!synced) log_error("journal", synced.error().in("sync at the end").message);
  return clean && synced.ok();
}
bool LocalServer::alive() const { return !parts_->host || parts_->host->launcher().alive(); }

LoadedConfig on_free_ports(LoadedConfig loaded) {
  loaded.config.server.endpoint = "tcp://127.0.0.1:0";
  loaded.config.server.control = "tcp://127.0.0.1:0";
  loaded.config.server.keys.clear();  // its client is in this process
  return loaded;
}

}  // namespace hone
