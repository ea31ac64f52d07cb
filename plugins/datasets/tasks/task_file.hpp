// One task's folder: task.yaml, checked member by member, with the sources that it names inlined.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "hone/plugin/host.hpp"
#include "hone/plugin/value.hpp"

namespace hone::tasks {

/// The whole file; a Failure that begins with `place` when it cannot be read or is above 1 MiB.
std::string read_text(const std::filesystem::path& path, const std::string& place);

/// Whether a text may be an id: 1 to 64 of a-z, 0-9, '_' and '-', beginning with a letter or a
/// digit.
bool is_id(std::string_view text);

/// The map of docs/tasks.md for the task in `folder`: `id` is the folder's name unless the file
/// gives one, `split` is there, and each backend's reference and baseline are {"name", "text"}. A
/// mistake is a Failure "folder/task.yaml:line: key: expected …, found …".
plugin::Value read_task(const plugin::Host& host, const std::filesystem::path& folder);

}  // namespace hone::tasks
