// A folder for what is only needed for a while.
#pragma once

#include <filesystem>
#include <utility>

#include "base/result.hpp"

namespace hone {

/// Goes with all that is in it when its owner does.
class ScratchFolder {
 public:
  ScratchFolder() = default;  ///< none
  ~ScratchFolder();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&& other) noexcept;

  /// A new one, for this user alone, in `in`, or where the system has such folders.
  static Result<ScratchFolder> make(const std::filesystem::path& in = {});

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace hone
