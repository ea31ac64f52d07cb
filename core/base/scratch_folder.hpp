// A temporary folder.
#pragma once

#include <filesystem>
#include <utility>

#include "base/result.hpp"

namespace hone {

/// Removed with its contents at the end of the owner's life.
class ScratchFolder {
 public:
  ScratchFolder() = default;  ///< none
  ~ScratchFolder();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&& other) noexcept;

  /// Creates a folder that only this user can access, in `in` or in the system's temporary folder.
  static Result<ScratchFolder> make(const std::filesystem::path& in = {});

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace hone
