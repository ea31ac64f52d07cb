// mkdtemp, and its end.
#include "base/scratch_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>

namespace hone {

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

ScratchFolder& ScratchFolder::operator=(ScratchFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

Result<ScratchFolder> ScratchFolder::make(const std::filesystem::path& in) {
  std::error_code trouble;
  const auto where = in.empty() ? std::filesystem::temp_directory_path(trouble) : in;
  if (trouble) return unavailable("no folder for temporary files: " + trouble.message());
  std::string pattern = (where / "hone-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return system_error("make " + pattern, errno);
  return ScratchFolder(pattern);
}

}  // namespace hone
