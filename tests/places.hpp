// The folders of the sources and of the build.
#pragma once

#include <filesystem>

namespace hone::test {

/// The repository's folder.
const std::filesystem::path& source_dir();
/// The build's.
const std::filesystem::path& build_dir();

}  // namespace hone::test
