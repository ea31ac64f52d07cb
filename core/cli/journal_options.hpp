// Options of commands that read a journal: its file, and a filter of its episodes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "config/config.hpp"
#include "journal/reader.hpp"

namespace hone {

struct JournalOptionSet {
  std::string path;  ///< empty: journal.path of the configuration
  ConfigOptions config;
  /// `positional`: the file may be a positional argument, too.
  void declare(OptionSet& options, bool positional = false);
  /// The configuration, with journal.path set.
  Result<Config> load() const;
  /// The path of the journal, for a loaded configuration. invalid_argument: there is none.
  Result<std::string> path_in(const Config& loaded) const;
};

struct FilterOptionSet {
  std::string state, task, client, group;
  void declare(OptionSet& options);
  EpisodeFilter filter() const;
};

/// A unique name for each journal of a command that takes several: the file's name, or the path if two files have the same
/// name. If `paths` is empty, journal.path of the configuration is added. invalid_argument: there is no journal, there are
/// more than 8, or a path is given twice.
Result<std::vector<std::string>> name_journals(std::vector<std::string>& paths,
                                               const Config& config);

/// "2026-11-21 09:30:00" in UTC.
std::string date_text(double seconds_since_1970);

}  // namespace hone
