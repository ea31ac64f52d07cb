// The file of clients that may connect, which people edit.
#include <set>

#include "fuzz/fuzz.hpp"
#include "server/allow_list.hpp"
#include "wire/key_file.hpp"

namespace hone::fuzz {
namespace {

bool equal(const AllowedClient& a, const AllowedClient& b) {
  return a.name == b.name && a.public_key == b.public_key && a.role == b.role &&
         a.held_out == b.held_out && a.quotas.episodes == b.quotas.episodes &&
         a.quotas.steps == b.quotas.steps && a.quotas.bytes == b.quotas.bytes &&
         a.created == b.created;
}

}  // namespace

void one(std::string_view text) {
  const auto clients = parse_clients(text, "clients.yaml");
  if (!clients) return check_error(clients.error(), "clients.yaml");
  std::set<std::string> names, keys;
  for (const AllowedClient& client : *clients) {
    check(check_client_name(client.name).ok(), "a client's name is one");
    check(wire::is_key(client.public_key), "a client's key is one");
    check(names.insert(client.name).second, "no two clients have one name");
    check(keys.insert(client.public_key).second, "no two clients have one key");
  }
  const auto again = parse_clients(clients_text(*clients), "written");
  check(again.ok(), again ? "" : "what was written can be read: " + again.error().message);
  check(std::equal(clients->begin(), clients->end(), again->begin(), again->end(), equal),
        "the list is read as it was written");
}

}  // namespace hone::fuzz
