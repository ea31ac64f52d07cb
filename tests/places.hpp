// Where the sources and the build are that the tests belong to.
#pragma once

#include <filesystem>

namespace hone::test {

/// The repository's folder.
const std::filesystem::path& source_dir();
/// The build's.
const std::filesystem::path& build_dir();

}  // namespace hone::test
