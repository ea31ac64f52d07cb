// Suggests the nearest name, or lists the names that a journal has.
#include "offline/journal_lookup.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/nearest.hpp"
#include "base/utf8.hpp"
#include "episode/episode.hpp"
#include "terminal/terminal.hpp"

namespace hone {
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

std::string how_to_write_a_journal(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored)
             ? ""
             : "to write a journal: hone serve --set journal.path=FILE";
}

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

}  // namespace hone
