// `hone branch`: starts an episode with the first turns of a recorded one, in a journal or through its server.
#include <future>

#include "app/host.hpp"
#include "cli/journal_options.hpp"
#include "episode/episode.hpp"
#include "episode/scripted_evaluator.hpp"
#include "hone/client.hpp"
#include "offline/journal_lookup.hpp"

namespace hone {
namespace {

class BranchCommand : public Command {
 public:
  std::string name() const override { return "branch"; }
  std::string summary() const override {
    return "Start a new episode with the first turns of a recorded one.";
  }
  std::vector<std::string> examples() const override {
    return {"hone branch 3f0c9a6be1d24775 2 --journal run.db   # without a server",
            "hone branch 3f0c9a6be1d24775 2 --journal run.db --endpoint tcp://127.0.0.1:5917"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "EPISODE",
                  .doc = "episode to branch (16 hexadecimal digits)",
                  .value = "EPISODE",
                  .required = true},
                 episode_);
    options.integer(
        {.name = "TURN", .doc = "number of turns to copy", .value = "TURN", .required = true},
        turn_, 0, INT64_MAX);
    journal_.declare(options);
    options.text({.name = "--endpoint",
                  .doc = "server that has the journal open (default: none)",
                  .value = "ENDPOINT"},
                 endpoint_);
    options.text({.name = "--key", .doc = "client key for that server", .value = "FILE"}, key_);
    options.text({.name = "--group", .doc = "group of the new episode"}, group_);
    options.flag({.name = "--json", .doc = "print JSON"}, json_);
  }

  int run(Terminal& terminal) override {
    const auto config = journal_.load();
    if (!config) return terminal.fail(config.error());
    auto stored = find(config->journal.path);
    if (!stored) return terminal.fail(stored.error(), "list the episodes: hone episodes");
    const auto branch =
        endpoint_.empty() ? in_journal(*config, *stored) : at_server(stored->record);
    if (!branch) {
      return terminal.fail(
          branch.error(),
          endpoint_.empty() ? "if a server has the journal open, add --endpoint ENDPOINT" : "");
    }
    if (json_) {
      terminal.json(*branch, 2);
    } else {
      terminal.line("episode " + branch->find("episode")->as_string() + ", " +
                    std::to_string(turn_) + " turns done");
      terminal.line("token   " + branch->find("token")->as_string());
      terminal.line(
          "resume needs the episode and the token; the lease starts now, or when the server "
          "starts");
    }
    return kExitOk;
  }

 private:
  Result<StoredEpisode> find(const std::string& journal) const {
    HONE_ASSIGN(const auto reader, JournalReader::open(journal));
    return find_episode(*reader, episode_);
  }

  static Value members(const Value& reply) {
    Value kept = Value::map();
    for (const char* key : {"episode", "token", "turn"}) {
      const Value* found = reply.find(key);
      kept.set(key, found != nullptr ? *found : Value());
    }
    return kept;
  }

  Value request(const EpisodeRecord& record) const {
    Value body = Value::map(
        {{"episode", episode_name(record.id)}, {"token", to_hex(record.token)}, {"turn", turn_}});
    if (!group_.empty()) body.set("group", group_);
    return body;
  }

  /// Uses an episode service without server and evaluator.
  Result<Value> in_journal(const Config& config, const StoredEpisode& stored) const {
    HONE_ASSIGN(const auto journal, open_journal(config));
    const auto registry = open_registry(config);
    HONE_ASSIGN(auto catalog, open_catalog(config, *registry));
    ScriptedEvaluator nothing(
        [](const Submission&) { return unavailable("nothing is evaluated"); });
    HONE_ASSIGN(const auto episodes, make_episodes(config, *registry, std::move(catalog), nothing,
                                                   "none", journal.get()));
    const Caller caller{.connection = "hone branch", .client = stored.record.client};
    std::promise<Result<std::string>> answered;
    episodes->branch(caller, request(stored.record),
                     [&](Result<std::string> body) { answered.set_value(std::move(body)); });
    HONE_ASSIGN(const std::string body, answered.get_future().get());
    HONE_ASSIGN(const Value reply, from_msgpack(body));
    return members(reply);
  }

  Result<Value> at_server(const EpisodeRecord& record) const {
    ClientOptions options;
    options.name = record.client;
    options.key_file = key_;
    HONE_ASSIGN(const auto client, Client::connect(endpoint_, options));
    HONE_ASSIGN(const Value reply, client->call("branch", request(record)));
    return members(reply);
  }

  JournalOptionSet journal_;
  std::string episode_, endpoint_, key_, group_;
  std::int64_t turn_ = 0;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_branch_command() { return std::make_unique<BranchCommand>(); }

}  // namespace hone
