// Options of the commands that read a journal.
#include "cli/journal_options.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"

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

std::string date_text(double seconds) { return utc_text(seconds, "%Y-%m-%d %H:%M:%S"); }

}  // namespace hone
