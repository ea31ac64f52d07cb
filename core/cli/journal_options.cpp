// Options of the commands that read a journal.
#include "cli/journal_options.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/nearest.hpp"
#include "base/utf8.hpp"
#include "episode/episode.hpp"

namespace hone {
namespace {

constexpr std::size_t kJournalsMax = 8;

Error no_journal() {
  return invalid_argument(
      "no journal given; name its file (hone view FILE, hone report FILE, hone episodes FILE, "
      "other commands --journal FILE), or set journal.path in the configuration");
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code missing;
  return std::filesystem::equivalent(one, other, missing) && !missing;
}

}  // namespace

void JournalOptionSet::declare(OptionSet& options, bool positional) {
  if (positional) {
    options.text({.name = "JOURNAL", .doc = "the same as --journal FILE", .value = "FILE"}, path);
  }
  options.text({.name = "--journal",
                .doc = "file of the journal (default: journal.path of the configuration)",
                .value = "FILE"},
               path);
  config.declare(options);
}

Result<Config> JournalOptionSet::load() const {
  HONE_ASSIGN(LoadedConfig loaded, load_config(config.file, config.sets));
  HONE_ASSIGN(loaded.config.journal.path, path_in(loaded.config));
  return std::move(loaded.config);
}

Result<std::string> JournalOptionSet::path_in(const Config& loaded) const {
  if (!path.empty()) return std::filesystem::absolute(path).string();
  if (!loaded.journal.path.empty()) return loaded.journal.path;
  return no_journal();
}

Result<std::vector<std::string>> name_journals(std::vector<std::string>& paths,
                                               const Config& config) {
  if (paths.empty() && !config.journal.path.empty()) paths.push_back(config.journal.path);
  if (paths.empty()) return no_journal();
  if (paths.size() > kJournalsMax) {
    return invalid_argument("found " + std::to_string(paths.size()) +
                            " journals, expected at most " + std::to_string(kJournalsMax));
  }
  const auto file_name = [](const std::string& path) {
    return std::filesystem::path(path).filename().string();
  };
  std::vector<std::string> names;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string& path = paths[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (paths[j] == path)
        return invalid_argument("found the journal " + path + " twice; name each file once");
      if (is_same_file(paths[j], path)) {
        return invalid_argument("the journals " + paths[j] + " and " + path +
                                " are the same file; name each file once");
      }
    }
    const auto same = std::count_if(paths.begin(), paths.end(), [&](const std::string& other) {
      return file_name(other) == file_name(path);
    });
    names.push_back(same == 1 ? file_name(path) : path);
  }
  return names;
}

void FilterOptionSet::declare(OptionSet& options) {
  options.text({.name = "--state",
                .doc = "only episodes with this state; reaped: closed because its lease ran out",
                .value = "STATE",
                .choices = {"open", "ended", "closed", "reaped"}},
               state);
  options.text(
      {.name = "--task", .doc = "only episodes of this task (DATASET/ID)", .value = "TASK"}, task);
  options.text({.name = "--client", .doc = "only episodes of this client"}, client);
  options.text({.name = "--group", .doc = "only episodes of this group"}, group);
}

EpisodeFilter FilterOptionSet::filter() const {
  EpisodeFilter filter;
  for (const RecordState one :
       {RecordState::kOpen, RecordState::kEnded, RecordState::kClosed, RecordState::kReaped}) {
    if (state == record_state_name(one)) filter.state = one;
  }
  filter.task = task;
  filter.client = client;
  filter.group = group;
  return filter;
}

namespace {

constexpr std::size_t kNamesShown = 10;

/// not_found where `given` is none of `known`.
Status expect_known(std::string_view kind, const std::string& given,
                    std::vector<std::string> known) {
  if (given.empty() || std::find(known.begin(), known.end(), given) != known.end()) return {};
  std::string text = "the journal has no episode of " + std::string(kind) + " '" +
                     printable(given.substr(0, 128)) + "'";
  const auto whole = std::find_if(known.begin(), known.end(), [&given](const std::string& name) {
    return name.ends_with("/" + given);  // a task without its dataset
  });
  const std::string near = whole != known.end() ? *whole : nearest(given, known);
  if (!near.empty()) return not_found(text + "; did you mean '" + near + "'?");
  if (known.empty()) return not_found(text + "; no episode in it has one");
  const std::size_t more = known.size() - std::min(known.size(), kNamesShown);
  known.resize(known.size() - more);
  text += "; it has: " + joined(known);
  return not_found(more == 0 ? text : text + " and " + std::to_string(more) + " more");
}

}  // namespace

Status expect_names(const JournalReader& reader, const EpisodeFilter& filter) {
  using Name = JournalReader::Name;
  for (const auto& [which, kind, given] : {std::tuple(Name::kTask, "task", filter.task),
                                           std::tuple(Name::kClient, "client", filter.client),
                                           std::tuple(Name::kGroup, "group", filter.group),
                                           std::tuple(Name::kReward, "reward", filter.reward)}) {
    if (given.empty()) continue;
    HONE_ASSIGN(std::vector<std::string> known, reader.names(which));
    HONE_TRY(expect_known(kind, given, std::move(known)));
  }
  return {};
}

Status explain_no_match(const JournalReader& reader, const EpisodeFilter& filter) {
  HONE_TRY(expect_names(reader, filter));
  const bool any =
      filter.state || !filter.task.empty() || !filter.client.empty() || !filter.group.empty();
  log_warning("journal", any ? "no episode matches all of --state, --task, --client and --group"
                             : "the journal holds no episode yet");
  return {};
}

Result<StoredEpisode> find_episode(const JournalReader& reader, const std::string& name) {
  const std::uint64_t id = episode_number(name);
  if (id == 0) {
    return invalid_argument(
        "found '" + name +
        "', expected an episode's name: 16 hexadecimal digits, and not all of them 0");
  }
  HONE_ASSIGN(std::optional<StoredEpisode> stored, reader.episode(id));
  if (!stored) return not_found("the journal has no episode " + name);
  return std::move(*stored);
}

std::string date_text(double seconds) { return utc_text(seconds, "%Y-%m-%d %H:%M:%S"); }

}  // namespace hone
