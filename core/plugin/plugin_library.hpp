// PluginLibrary: a plugin's shared library. It is checked before the first call, and never unloaded.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "hone/abi.h"

namespace hone {

/// A loaded library whose entry keeps the ABI's rules. A plain value; libraries are never unloaded
/// (a plugin may leave threads and thread-local state behind), so that copies stay good. [any
/// thread]
///
///   HONE_ASSIGN(const PluginLibrary library, PluginLibrary::load("plugins/rewards/kevin.so"));
///   HONE_ASSIGN(const void* table, library.factory(HONE_REWARD_FACTORY_ID));
class PluginLibrary {
 public:
  /// Loads a library with all its symbols bound, then checks, before any call: the entry's size,
  /// ABI (the same major, a minor not newer than the host's), name and version. invalid_argument or
  /// not_found "file.so: …".
  static Result<PluginLibrary> load(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::string file() const { return path_.filename().string(); }
  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }

  /// The factory with this id, or not_found "file.so: offers no hone.reward/1".
  Result<const void*> factory(std::string_view id) const;
  /// The ids among the host's that the library offers.
  std::vector<std::string> factories() const;

 private:
  PluginLibrary() = default;

  std::filesystem::path path_;
  std::string name_, version_;
  const hone_plugin* entry_ = nullptr;
};

/// The ids that this host knows.
const std::vector<std::string>& known_factories();

/// Only the dynamic linker's part of load(), for conformance checks.
Result<void*> load_library(const std::filesystem::path& path);

}  // namespace hone
