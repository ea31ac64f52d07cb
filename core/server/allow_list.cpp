// Reads and writes the file of the allow-list, and detects changes.
#include "server/allow_list.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/files.hpp"
#include "base/log.hpp"
#include "config/yaml.hpp"
#include "model/fields.hpp"
#include "wire/key_file.hpp"

namespace hone {
namespace {

constexpr std::size_t kNameMax = 64;
constexpr std::int64_t kCountMax = 1'000'000'000, kBytesMax = 1LL << 50;
constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

constexpr const char* kHead =
    "# Clients that may connect. `hone keys new NAME` adds a client, `hone keys revoke NAME` "
    "removes "
    "it.\n"
    "# A running server reloads this file after each change. All keys are public keys.\n";

std::size_t count_or_default(Fields& f, std::string_view key, std::int64_t max) {
  return static_cast<std::size_t>(f.integer_or(key, 0, 0, max));
}

AllowedClient read_client(Fields& f) {
  AllowedClient client;
  client.name = f.text("name", kNameMax);
  if (const Status named = check_client_name(client.name); !named) {
    f.mistake("name", named.error().message);
  }
  client.public_key = f.text("public", 256);
  if (!wire::is_key(client.public_key)) f.mistake("public", "expected 40 characters of Z85");
  client.role = f.choice_or("role", "trainer", role_names()) == "monitor" ? ClientRole::kMonitor
                                                                          : ClientRole::kTrainer;
  client.held_out = f.flag_or("held_out", false);
  client.quotas.episodes = count_or_default(f, "episodes", kCountMax);
  client.quotas.steps = count_or_default(f, "evaluations", kCountMax);
  client.quotas.bytes = count_or_default(f, "bytes", kBytesMax);
  client.created = f.text_or("created", "", 64);
  return client;
}

Value to_value(const AllowedClient& client) {
  Value value = Value::map({{"name", client.name},
                            {"public", client.public_key},
                            {"role", role_name(client.role)},
                            {"held_out", client.held_out}});
  if (client.quotas.episodes != 0) value.set("episodes", client.quotas.episodes);
  if (client.quotas.steps != 0) value.set("evaluations", client.quotas.steps);
  if (client.quotas.bytes != 0) value.set("bytes", client.quotas.bytes);
  if (!client.created.empty()) value.set("created", client.created);
  return value;
}

}  // namespace

std::string_view role_name(ClientRole role) {
  return role == ClientRole::kMonitor ? "monitor" : "trainer";
}
std::vector<std::string> role_names() { return {"trainer", "monitor"}; }

Status check_client_name(const std::string& name) {
  const bool good = !name.empty() && name.size() <= kNameMax && name.front() != '.' &&
                    name.front() != '-' &&
                    name.find_first_not_of(kNameCharacters) == std::string::npos;
  if (good) return {};
  return invalid_argument(
      "a client's name: expected 1 to 64 letters, digits, '.', '_' and '-', "
      "the first a letter, digit or '_'");
}

Result<AllowedClients> parse_clients(std::string_view text, std::string_view name) {
  HONE_ASSIGN(const YamlDocument document, parse_yaml(text, name));
  const Value none = Value::map();
  Fields f(document.value.is_nil() ? none : document.value, std::string(name),
           [&](std::string_view pointer) {
             for (std::string_view at = pointer;; at = at.substr(0, at.rfind('/'))) {
               if (const auto line = document.lines.find(at); line != document.lines.end()) {
                 return std::string(name) + ":" + std::to_string(line->second);
               }
               if (at.empty()) return std::string(name);
             }
           });
  AllowedClients clients;
  std::set<std::string> seen;
  if (const Value* listed = f.array_or_null("clients")) {
    for (std::size_t i = 0; i < listed->as_array().size(); ++i) {
      const std::string at = "clients/" + std::to_string(i);
      Fields one = f.inside(at, listed->as_array()[i]);
      AllowedClient client = read_client(one);
      if (!seen.insert("name " + client.name).second) {
        one.mistake("name", "a second client '" + client.name + "'");
      }
      if (!seen.insert("key " + client.public_key).second) {
        one.mistake("public", "another client has the same key");
      }
      f.adopt(one.finish());
      clients.push_back(std::move(client));
    }
  }
  HONE_TRY(f.finish());
  return clients;
}

std::string clients_text(const AllowedClients& clients) {
  std::string text = kHead;
  text += clients.empty() ? "clients: []\n" : "clients:\n";
  for (const AllowedClient& client : clients) text += "  - " + to_json(to_value(client)) + "\n";
  return text;
}

Result<AllowedClients> read_clients(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && (info.st_mode & 022u) != 0) {
    return failed_precondition("allow-list " + path.string() +
                               ": other users may write this file; run chmod go-w");
  }
  HONE_ASSIGN(const std::string text, read_text(path, YamlLimits().bytes_max));
  return parse_clients(text, path.string());
}

Result<std::shared_ptr<AllowList>> AllowList::open(std::filesystem::path path) {
  std::shared_ptr<AllowList> list(new AllowList(std::move(path)));
  std::string found = file_version(list->path_);
  HONE_ASSIGN(AllowedClients clients, read_clients(list->path_));
  MutexLock lock(list->mutex_);
  list->read_ = std::move(found);
  list->take(std::move(clients));
  return list;
}

void AllowList::take(AllowedClients clients) {
  clients_.clear();
  for (AllowedClient& client : clients) {
    auto shared = std::make_shared<const AllowedClient>(std::move(client));
    clients_.emplace(shared->public_key, shared);
  }
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

void AllowList::refresh() {
  MutexLock lock(mutex_);
  if (file_version(path_) != read_) read();
}

void AllowList::reload() {
  MutexLock lock(mutex_);
  read();
}

void AllowList::read() {
  read_ =
      file_version(path_);  // before the file is read: a replacement in between causes another read
  auto clients = read_clients(path_);
  if (!clients) {
    log_error("server", clients.error().message + "; the previous list stays in effect");
    return;
  }
  take(std::move(*clients));
  log_info("server", "allow-list " + path_.string() +
                         " reloaded: " + std::to_string(clients_.size()) + " clients");
}

std::shared_ptr<const AllowedClient> AllowList::find(const std::string& public_key) const {
  MutexLock lock(mutex_);
  const auto found = clients_.find(public_key);
  return found == clients_.end() ? nullptr : found->second;
}

std::size_t AllowList::size() const {
  MutexLock lock(mutex_);
  return clients_.size();
}

}  // namespace hone
