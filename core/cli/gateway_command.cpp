// `hone gateway`: an HTTP server for clients of another system's evaluation server; hone evaluates.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "app/local_server.hpp"
#include "app/log_options.hpp"
#include "app/parts.hpp"
#include "app/stop_signals.hpp"
#include "base/scratch_folder.hpp"
#include "base/unique_fd.hpp"
#include "cli/command.hpp"
#include "gateway/tritonforge.hpp"
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

class GatewayCommand : public Command {
 public:
  std::string name() const override { return "gateway"; }
  std::string summary() const override {
    return "Serve clients of TritonForge's evaluation server over HTTP.";
  }
  std::vector<std::string> examples() const override {
    return {"hone gateway tritonforge --python build/python/bin/python   # starts a server",
            "hone gateway tritonforge -c modules.yaml --listen 127.0.0.1:0 --json",
            "hone gateway tritonforge --endpoint tcp://127.0.0.1:5917 --references FOLDER",
            "hone gateway tritonforge -c modules.yaml --listen 0.0.0.0:18188 --token-file token"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "KIND",
                  .doc = "protocol of the clients",
                  .choices = {"tritonforge"},
                  .required = true},
                 kind_);
    options.text({.name = "--listen",
                  .doc = "HOST:PORT to listen on; port 0: any (default: 127.0.0.1:18188)",
                  .value = "PLACE"},
                 listen_);
    options.text({.name = "--token-file",
                  .doc = "file with the clients' token; required unless on loopback",
                  .value = "FILE"},
                 token_file_);
    options.text({.name = "--endpoint",
                  .doc = "endpoint of a running server (default: start one)",
                  .value = "ENDPOINT"},
                 endpoint_);
    options.text({.name = "--key", .doc = "client key for that server", .value = "FILE"}, key_);
    options.text({.name = "--references",
                  .doc = "folder for the references that clients send; they run as trusted code",
                  .value = "DIR"},
                 references_);
    options.text({.name = "--python",
                  .doc = "Python with torch; sets plugins.python and cpu.python",
                  .value = "FILE"},
                 python_);
    options.integer({.name = "--timeout",
                     .doc = "time limit of one evaluation (s, default: 600)",
                     .value = "N"},
                    seconds_, 1, 86400);
    options.integer({.name = "--evaluations",
                     .doc = "evaluations in flight; beyond it clients get 429 (default: 256)",
                     .value = "N"},
                    evaluations_, 1, 4096);
    config_.declare(options);
    options.flag({.name = "--json", .doc = "print the address as a JSON object"}, json_);
  }

  int run(Terminal& terminal) override {
    if (const Status good = read_options(); !good) return terminal.fail(good.error());
    if (const Status free = try_place(); !free)
      return terminal.fail(free.error(),
                           "if another gateway is running, choose another address with --listen");
    if (const Status caught = catch_stop_signals(); !caught) return terminal.fail(caught.error());
    std::unique_ptr<LocalServer> server;
    ScratchFolder scratch;
    if (endpoint_.empty()) {
      auto loaded = load();
      if (!loaded) return config_.fail(terminal, loaded.error());
      set_up_log(loaded->config.log);
      if (const Status there = place_references(*loaded, scratch); !there)
        return terminal.fail(there.error());
      if (loaded->config.cpu.python.empty())
        return terminal.fail(
            failed_precondition("no interpreter runs modules: cpu.python is not set"),
            "scripts/setup --python makes one; then --python build/python/bin/python");
      auto started = LocalServer::start(on_free_ports(*loaded),
                                        [](std::string_view what) { log_info("hone", what); });
      if (!started) return terminal.fail(started.error(), next_step(started.error()));
      server = std::move(*started);
    }
    return serve(terminal, server.get());
  }

 private:
  Status read_options() {
    auto place = parse_place(listen_);
    if (!place) return place.error().in("--listen");
    place_ = *place;
    if (!token_file_.empty()) {
      HONE_ASSIGN(token_, read_token(token_file_));
    } else if (!is_loopback(place_.host)) {
      return invalid_argument("--listen: found " + place_.host +
                              ", which is not a loopback address, expected --token-file with it: "
                              "any client of the gateway can run code");
    }
    if (!references_.empty()) {
      const auto folder = References::open(references_);
      if (!folder) return folder.error().in("--references");
    }
    if (endpoint_.empty()) return {};
    if (references_.empty()) {
      return invalid_argument(
          "--endpoint: expected --references too, the folder that the server's "
          "dataset of references reads");
    }
    if (!config_.file.empty() || !config_.sets.empty() || !python_.empty())
      return invalid_argument(
          "--endpoint: cannot be combined with a configuration, which is for the gateway's own "
          "server");
    return {};
  }

  /// Whether the port is free, before anything starts that takes time.
  Status try_place() const {
    if (place_.port == 0) return {};
    HttpOptions http;
    http.host = place_.host;
    http.port = place_.port;
    http.threads = 1;
    const auto door = HttpServer::start(
        http, [](const HttpRequest&) { return http_error(503, "the gateway is starting"); });
    return door ? Status() : Status(door.error());
  }

  Result<LoadedConfig> load() const {
    std::vector<std::string> sets = config_.sets;
    if (!python_.empty()) {
      const std::string path = to_json(std::filesystem::absolute(python_).string());
      sets.push_back("plugins.python=" + path);
      sets.push_back("cpu.python=" + path);
    }
    return load_config(config_.file, sets);
  }

  /// The dataset of references, and nothing else, is what this server adds to its configuration.
  Status place_references(LoadedConfig& loaded, ScratchFolder& scratch) {
    if (references_.empty()) {
      sweep_folders();
      HONE_ASSIGN(scratch, ScratchFolder::make());
      HONE_ASSIGN(lock_, lock_folder(scratch.path()));
      references_ = (scratch.path() / "references").string();
      if (mkdir(references_.c_str(), 0700) != 0) return system_error(references_, errno);
    }
    references_ = std::filesystem::absolute(references_).string();
    auto& datasets = loaded.config.datasets;
    std::erase_if(datasets, [](const DatasetConfig& one) { return one.name == kDataset; });
    datasets.push_back({kDataset, "references", Value::map({{"path", references_}}), true});
    return {};
  }

  int serve(Terminal& terminal, LocalServer* server) {
    auto references = References::open(references_);
    if (!references) return terminal.fail(references.error().in("--references"));
    ClientOptions options;
    options.name = "hone-gateway/1";
    options.request_timeout_s = static_cast<double>(seconds_);
    options.key_file = key_;
    auto client = Client::connect(server != nullptr ? server->endpoint() : endpoint_, options);
    if (!client) return terminal.fail(client.error());
    const auto evaluations = static_cast<std::size_t>(evaluations_);
    TritonForgeGateway gateway(**client, **references,
                               {kDataset, static_cast<double>(seconds_), evaluations});
    if (const Status good = gateway.check(); !good) return terminal.fail(good.error());
    HttpOptions http;
    http.host = place_.host;
    http.port = place_.port;
    http.token = token_;
    http.threads = evaluations + kQuickThreads;
    auto door = HttpServer::start(
        http, [&gateway](const HttpRequest& request) { return gateway.handle(request); });
    if (!door)
      return terminal.fail(door.error(),
                           "if another gateway is running, choose another address with --listen");
    announce(terminal, (*door)->port());
    int status = kExitOk;
    while (stop_asked(1000) == 0) {
      if (server == nullptr || server->alive()) continue;
      status = terminal.fail(unavailable("the launcher process ended, so nothing can be evaluated"),
                             "start it again; its log says what happened");
      break;
    }
    gateway.stop();
    (*door)->stop();
    if (server != nullptr) server->shut_down(1);
    return status;
  }

  void announce(Terminal& terminal, int port) const {
    const std::string host =
        place_.host.find(':') == std::string::npos ? place_.host : "[" + place_.host + "]";
    const std::string url = "http://" + host + ":" + std::to_string(port);
    if (json_)
      return terminal.json(Value::map({{"url", url}, {"kind", kind_}, {"token", !token_.empty()}}));
    terminal.line("hone serves TritonForge's clients on " + url +
                  (token_.empty() ? "" : ", with a token"));
  }

  ConfigOptions config_;
  std::string kind_, listen_ = "127.0.0.1:18188", token_file_, endpoint_, key_, references_,
                     python_;
  std::string token_;
  UniqueFd lock_;
  HttpPlace place_;
  std::int64_t seconds_ = 600, evaluations_ = 256;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_gateway_command() { return std::make_unique<GatewayCommand>(); }

}  // namespace hone
