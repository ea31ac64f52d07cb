// Starts the parts of a gateway in order, and stops them.
#include "gateway/gateway_server.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "http/token.hpp"

namespace hone {
namespace {

constexpr std::size_t kQuickThreads = 16;  // HTTP threads for requests that do not evaluate
const std::string kDataset = "references";
constexpr char kLock[] = "gateway.lock";

/// Locks a gateway's scratch folder for the life of the process. The lock file gets its final name only when it is locked, so that sweep_folders() of another gateway never sees it unlocked.
Result<UniqueFd> lock_folder(const std::filesystem::path& folder) {
  const std::filesystem::path early = folder / "new.lock";
  UniqueFd file(open(early.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  if (!file || flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    return system_error(early.string(), errno);
  std::error_code trouble;
  std::filesystem::rename(early, folder / kLock, trouble);
  if (trouble) return unavailable(early.string() + ": " + trouble.message());
  return file;
}

/// Removes scratch folders of killed gateways of this user.
void sweep_folders() {
  std::error_code trouble;
  const auto where = std::filesystem::temp_directory_path(trouble);
  if (trouble) return;
  for (std::filesystem::directory_iterator it(where, trouble), end; !trouble && it != end;
       it.increment(trouble)) {
    struct stat about {};
    const std::filesystem::path& folder = it->path();
    if (!folder.filename().string().starts_with("hone-") || lstat(folder.c_str(), &about) != 0 ||
        !S_ISDIR(about.st_mode) || about.st_uid != geteuid())
      continue;
    const UniqueFd lock(open((folder / kLock).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!lock || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) continue;
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
}

}  // namespace

Result<std::unique_ptr<GatewayServer>> GatewayServer::open(GatewayOptions options) {
  std::unique_ptr<GatewayServer> made(new GatewayServer(std::move(options)));
  const GatewayOptions& given = made->options_;
  auto place = parse_place(given.listen);
  if (!place) return place.error().in("--listen");
  made->place_ = *place;
  if (!given.token_file.empty()) {
    HONE_ASSIGN(made->token_, read_token(given.token_file));
  } else if (!is_loopback(place->host)) {
    return invalid_argument("--listen: found " + place->host +
                            ", which is not a loopback address, expected --token-file with it: "
                            "any client of the gateway can run code");
  }
  if (!given.references.empty()) {
    const auto folder = References::open(given.references);
    if (!folder) return folder.error().in("--references");
  } else if (!given.endpoint.empty()) {
    return invalid_argument(
        "--endpoint: expected --references too, the folder that the server's "
        "dataset of references reads");
  }
  return made;
}

HttpOptions GatewayServer::http_options() const {
  HttpOptions http;
  http.host = place_.host;
  http.port = place_.port;
  return http;
}

Status GatewayServer::try_address() const {
  if (place_.port == 0) return {};
  HttpOptions http = http_options();
  http.threads = 1;
  const auto door = HttpServer::start(
      http, [](const HttpRequest&) { return http_error(503, "the gateway is starting"); });
  return door ? Status() : Status(door.error());
}

Status GatewayServer::place_references(Config& config) {
  std::string& folder = options_.references;
  if (folder.empty()) {
    sweep_folders();
    HONE_ASSIGN(scratch_, ScratchFolder::make());
    HONE_ASSIGN(lock_, lock_folder(scratch_.path()));
    folder = (scratch_.path() / "references").string();
    if (mkdir(folder.c_str(), 0700) != 0) return system_error(folder, errno);
  }
  folder = std::filesystem::absolute(folder).string();
  std::erase_if(config.datasets, [](const DatasetConfig& one) { return one.name == kDataset; });
  config.datasets.push_back({kDataset, "references", Value::map({{"path", folder}}), true});
  return {};
}

Status GatewayServer::connect(const std::string& endpoint) {
  auto references = References::open(options_.references);
  if (!references) return references.error().in("--references");
  references_ = std::move(*references);
  const auto seconds = static_cast<double>(options_.seconds);
  ClientOptions client;
  client.name = "hone-gateway/1";
  client.request_timeout_s = seconds;
  client.key_file = options_.key;
  HONE_ASSIGN(client_, Client::connect(endpoint, client));
  gateway_ = std::make_unique<TritonForgeGateway>(
      *client_, *references_,
      TritonForgeGateway::Options{kDataset, seconds,
                                  static_cast<std::size_t>(options_.evaluations)});
  return gateway_->check();
}

Result<std::string> GatewayServer::listen() {
  HttpOptions http = http_options();
  http.token = token_;
  http.threads = static_cast<std::size_t>(options_.evaluations) + kQuickThreads;
  HONE_ASSIGN(door_, HttpServer::start(http, [this](const HttpRequest& request) {
                return gateway_->handle(request);
              }));
  return http_url(place_.host, door_->port());
}

void GatewayServer::stop() {
  gateway_->stop();
  door_->stop();
}

}  // namespace hone
