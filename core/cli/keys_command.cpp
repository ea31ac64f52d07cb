// `hone keys`: manages the keys of clients and server, and the allow-list.
#include <filesystem>

#include "cli/command.hpp"
#include "server/keys.hpp"

namespace hone {
namespace {

constexpr std::int64_t kCountMax = 1'000'000'000, kBytesMax = 1LL << 50;

std::string quota_text(std::size_t quota) { return quota == 0 ? "default" : std::to_string(quota); }

Value to_value(const AllowedClient& client) {
  const auto quota = [](std::size_t n) { return n == 0 ? Value() : Value(n); };
  return Value::map({{"name", client.name},
                     {"public", client.public_key},
                     {"role", role_name(client.role)},
                     {"held_out", client.held_out},
                     {"episodes", quota(client.quotas.episodes)},
                     {"evaluations", quota(client.quotas.steps)},
                     {"bytes", quota(client.quotas.bytes)},
                     {"created", client.created}});
}

class KeysCommand : public Command {
 public:
  std::string name() const override { return "keys"; }
  std::string summary() const override {
    return "Create, list and revoke client keys, for servers beyond loopback.";
  }
  std::vector<std::string> examples() const override {
    return {"hone keys new trainer                  # trainer.key; entry in keys/clients.yaml",
            "hone keys new exam --held-out --episodes 64 --evaluations 8",
            "hone keys new grafana --role monitor   # read-only access",
            "hone keys list",
            "hone keys revoke trainer               # takes effect on a running server",
            "hone keys new --server                 # else made at the first `hone serve`"};
  }
  void declare(OptionSet& options) override {
    options.text(
        {.name = "WHAT", .doc = "action", .choices = {"new", "list", "revoke"}, .required = true},
        what_);
    options.text({.name = "NAME", .doc = "name of the client", .value = "NAME"}, name_);
    options.text({.name = "--role",
                  .doc = "new: trainer (all verbs) or monitor (only verbs that change nothing) "
                         "(default: trainer)",
                  .choices = role_names()},
                 role_);
    options.flag({.name = "--held-out", .doc = "new: allow tasks of the split held_out"},
                 held_out_);
    options.integer({.name = "--episodes", .doc = "new: limit of open episodes", .value = "N"},
                    episodes_, 1, kCountMax);
    options.integer({.name = "--evaluations", .doc = "new: limit of steps in flight", .value = "N"},
                    evaluations_, 1, kCountMax);
    options.integer(
        {.name = "--bytes", .doc = "new: limit of memory for stored turns (bytes)", .value = "N"},
        bytes_, 1, kBytesMax);
    options.flag({.name = "--server", .doc = "new: create the server's own key pair"}, server_);
    options.text({.name = "--keys", .doc = "folder of keys (default: keys)", .value = "DIR"},
                 folder_);
    options.text({.name = "--out",
                  .doc = "with new: key file of the client (default: NAME.key)",
                  .value = "FILE"},
                 out_);
    options.flag({.name = "--json", .doc = "print JSON"}, json_);
  }

  int run(Terminal& terminal) override {
    const KeyFolder folder{folder_};
    if (what_ == "list") return list(terminal, folder);
    if (what_ == "new" && server_) return new_server(terminal, folder);
    if (name_.empty()) {
      return terminal.fail(
          invalid_argument("the client's name is missing: hone keys " + what_ + " NAME"),
          "see: hone keys --help");
    }
    return what_ == "new" ? new_client(terminal, folder) : revoke(terminal, folder);
  }

 private:
  int new_server(Terminal& terminal, const KeyFolder& folder) const {
    const auto pair = make_server_key(folder);
    if (!pair)
      return terminal.fail(
          pair.error(),
          "each client's key file contains the server's key: a new key makes all of them invalid");
    if (json_) {
      terminal.json(Value::map({{"public", pair->public_key},
                                {"key_file", folder.server_key().string()},
                                {"public_file", folder.server_public().string()}}));
      return kExitOk;
    }
    terminal.line(folder.server_key().string() + ": the server's key pair; keep it secret");
    terminal.line(folder.server_public().string() + ": the server's public key, " +
                  pair->public_key);
    return kExitOk;
  }

  int new_client(Terminal& terminal, const KeyFolder& folder) const {
    AllowedClient client;
    client.name = name_;
    client.role = role_ == "monitor" ? ClientRole::kMonitor : ClientRole::kTrainer;
    client.held_out = held_out_;
    client.quotas = {static_cast<std::size_t>(episodes_), static_cast<std::size_t>(evaluations_),
                     static_cast<std::size_t>(bytes_)};
    const std::string file = out_.empty() ? name_ + ".key" : out_;
    const auto added = add_client(folder, std::move(client), file);
    if (!added) return terminal.fail(added.error(), "list the clients: hone keys list");
    if (json_) {
      terminal.json(to_value(*added).set("key_file", file));
      return kExitOk;
    }
    terminal.line(file + ": the key of client '" + name_ + "', role " +
                  std::string(role_name(added->role)) + (held_out_ ? ", with held-out tasks" : "") +
                  "; give it only to that client (mode 0600)");
    terminal.line(folder.clients().string() + ": the allow-list; a running server reloads it");
    terminal.line("serve:   hone serve --keys " + folder_ +
                  " --endpoint 'tcp://*:5917' --control 'tcp://*:5918'");
    terminal.line("connect: hone.connect(\"tcp://HOST:5917\", key=\"" + file + "\")");
    return kExitOk;
  }

  int list(Terminal& terminal, const KeyFolder& folder) const {
    const auto clients = read_clients(folder.clients());
    if (!clients) return terminal.fail(clients.error(), "create the first key: hone keys new NAME");
    if (json_) {
      Value listed = Value::array();
      for (const AllowedClient& client : *clients) listed.push(to_value(client));
      terminal.json(listed, 2);
      return kExitOk;
    }
    std::vector<Row> rows;
    for (const AllowedClient& client : *clients) {
      rows.push_back({{client.name, Colour::kBold},
                      {std::string(role_name(client.role))},
                      {client.held_out ? "yes" : "no"},
                      {quota_text(client.quotas.episodes), Colour::kPlain, true},
                      {quota_text(client.quotas.steps), Colour::kPlain, true},
                      {quota_text(client.quotas.bytes), Colour::kPlain, true},
                      {client.public_key, Colour::kDim},
                      {client.created, Colour::kDim}});
    }
    terminal.table(
        {"client", "role", "held out", "episodes", "evaluations", "bytes", "public key", "created"},
        rows);
    return kExitOk;
  }

  int revoke(Terminal& terminal, const KeyFolder& folder) const {
    if (const Status revoked = revoke_client(folder, name_); !revoked) {
      return terminal.fail(revoked.error(), "list the clients: hone keys list --keys " + folder_);
    }
    if (json_) {
      terminal.json(Value::map({{"revoked", name_}}));
    } else {
      terminal.line("'" + name_ +
                    "' can no longer connect; a running server rejects its next "
                    "message. You may delete its key file.");
    }
    return kExitOk;
  }

  std::string what_, name_, role_ = "trainer", folder_ = "keys", out_;
  std::int64_t episodes_ = 0, evaluations_ = 0, bytes_ = 0;
  bool held_out_ = false, server_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_keys_command() { return std::make_unique<KeysCommand>(); }

}  // namespace hone
