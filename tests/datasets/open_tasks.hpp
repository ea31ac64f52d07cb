// Opens a folder of tasks with the real plugin and the host's services.
#pragma once

#include <filesystem>
#include <memory>

#include "base/result.hpp"
#include "plugin/dataset.hpp"

namespace hone {

/// The folder as hone ships it.
std::filesystem::path shipped_tasks();

Result<std::unique_ptr<Dataset>> open_tasks(const std::filesystem::path& folder);

}  // namespace hone
