// Host, what health says: why steps cannot be done.
#include <filesystem>

#include "base/files.hpp"
#include "cli/host.hpp"

namespace hone {

std::vector<std::string> Host::problems() const {
  constexpr std::uint64_t kBytesMin = 4 << 20;  // a build, or a journal's log between two foldings
  std::vector<std::string> found;
  const auto look_at_space = [&](const std::string& what, const std::filesystem::path& folder) {
    const auto free = free_bytes(folder);
    if (free && *free >= kBytesMin) return;
    found.push_back(what + ": " +
                    (free ? folder.string() + " has less than 4 MiB free" : free.error().message));
  };
  if (journal_) {
    if (const std::string problem = journal_->problem(); !problem.empty())
      found.push_back("journal: " + problem);
    look_at_space("journal", std::filesystem::absolute(config_.journal.path).parent_path());
  }
  // A private root has memory of its own for builds.
  std::error_code ignored;
  const std::filesystem::path scratch = config_.isolation.workdir.empty()
                                            ? std::filesystem::temp_directory_path(ignored)
                                            : std::filesystem::path(config_.isolation.workdir);
  if (launcher_->level() < IsolationLevel::kPrivate) look_at_space("isolation.workdir", scratch);
  return found;
}

}  // namespace hone
