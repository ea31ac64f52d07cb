// Copies a template and replaces the template's name by the plugin's.
#include "conformance/scaffold.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/files.hpp"
#include "base/nearest.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

/// A template's source, and the names in it that are replaced.
struct Template {
  std::string_view kind, source, plugin_name, type_name;
};
constexpr Template kTemplates[] = {
    {"reward", "reward.cpp", "my_reward", "MyReward"},
    {"reward-c", "reward_minimal.c", "my_reward_minimal", "MyRewardMinimal"},
    {"dataset", "dataset.cpp", "my_dataset", "MyDataset"},
    {"backend", "backend.cpp", "my_backend", "MyBackend"},
};

constexpr Template kPythonTemplates[] = {
    {"reward", "reward.py", "my_reward", "MyReward"},
    {"dataset", "dataset.py", "my_dataset", "MyDataset"},
    {"environment", "environment.py", "my_environment", "MyEnvironment"},
};

template <std::size_t N>
std::vector<std::string> kinds_of(const Template (&templates)[N]) {
  std::vector<std::string> list;
  for (const Template& one : templates) list.emplace_back(one.kind);
  return list;
}

template <std::size_t N>
Result<Template> choose(const Template (&templates)[N], std::string_view kind) {
  for (const Template& one : templates) {
    if (one.kind == kind) return one;
  }
  return invalid_argument(unknown_name("kind of plugin", kind, kinds_of(templates)));
}

Result<fs::path> find_share(const fs::path& share_root) {
  const fs::path share = (share_root.empty() ? install_root() : share_root) / "share";
  std::error_code error;
  if (fs::is_directory(share / "template", error)) return share;
  return failed_precondition("no templates: expected them in " + (share / "template").string());
}

Status check_name(std::string_view name) {
  const bool valid = !name.empty() && name.size() <= 48 && name[0] >= 'a' && name[0] <= 'z' &&
                     std::all_of(name.begin(), name.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
                     });
  if (valid) return {};
  return invalid_argument("name: expected [a-z][a-z0-9_]* of at most 48 characters, found '" +
                          std::string(name.substr(0, 128)) + "'");
}

/// "my_first" → "MyFirst"
std::string camel_case(std::string_view name) {
  std::string result;
  bool upper = true;
  for (const char c : name) {
    if (c != '_')
      result += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_';
  }
  return result;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

Status copy_file(const fs::path& from, const fs::path& to, const Template& chosen,
                 std::string_view name) {
  HONE_ASSIGN(std::string text, read_file(from));
  text = replaced(std::move(text), chosen.plugin_name, name);
  return write_file(to, replaced(std::move(text), chosen.type_name, camel_case(name)));
}

/// Copies a kind's further files, such as a configuration and tasks. Most kinds have none.
Status copy_further_files(const fs::path& from, const fs::path& to, const Template& chosen,
                          std::string_view name) {
  std::error_code error;
  if (!fs::is_directory(from, error)) return {};
  for (fs::recursive_directory_iterator at(from, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code failed;
    if (!at->is_regular_file(failed)) continue;
    const fs::path target = to / at->path().lexically_relative(from);
    fs::create_directories(target.parent_path(), failed);
    if (failed) return system_error("create " + target.parent_path().string(), failed.value());
    HONE_TRY(copy_file(at->path(), target, chosen, name));
  }
  if (error) return system_error("read " + from.string(), error.value());
  return {};
}

Status make_target(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_empty(folder, error)) {
    return failed_precondition(folder.string() +
                               ": the folder is not empty; choose a new or empty folder");
  }
  fs::create_directories(folder / "include", error);
  if (error) return system_error("create " + folder.string(), error.value());
  return {};
}

}  // namespace

const std::vector<std::string>& template_kinds() {
  static const std::vector<std::string> kinds = kinds_of(kTemplates);
  return kinds;
}

const std::vector<std::string>& python_template_kinds() {
  static const std::vector<std::string> kinds = kinds_of(kPythonTemplates);
  return kinds;
}

Result<fs::path> write_python_template(std::string_view kind, std::string_view name,
                                       const fs::path& folder, const fs::path& share_root) {
  HONE_ASSIGN(const Template chosen, choose(kPythonTemplates, kind));
  HONE_TRY(check_name(name));
  HONE_ASSIGN(const fs::path share, find_share(share_root));
  const fs::path target = folder / (std::string(name) + ".py");
  std::error_code error;
  if (fs::exists(target, error)) {
    return failed_precondition(target.string() +
                               ": the file exists; choose another name or folder");
  }
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) return system_error("create " + folder.string(), error.value());
  HONE_TRY(copy_file(share / "template" / chosen.source, target, chosen, name));
  return target;
}

Status write_plugin_template(std::string_view kind, std::string_view name,
                             const fs::path& target_folder, const fs::path& share_root) {
  HONE_ASSIGN(const Template chosen, choose(kTemplates, kind));
  HONE_TRY(check_name(name));
  HONE_ASSIGN(const fs::path share, find_share(share_root));
  std::error_code error;
  HONE_TRY(make_target(target_folder));
  HONE_TRY(copy_file(share / "template" / "CMakeLists.txt", target_folder / "CMakeLists.txt",
                     chosen, name));
  HONE_TRY(
      copy_file(share / "template" / chosen.source, target_folder / chosen.source, chosen, name));
  HONE_TRY(copy_further_files(share / "template" / chosen.kind, target_folder, chosen, name));
  fs::copy(share / "include" / "hone", target_folder / "include" / "hone",
           fs::copy_options::recursive, error);
  if (error) return system_error("copy headers to " + target_folder.string(), error.value());
  return {};
}

}  // namespace hone
