// Follows the links of a virtual environment.
#include "evaluate/interpreter.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace hone {

namespace fs = std::filesystem;

namespace {

/// The folders that an interpreter imports from: its environment, the links to it, and the folder of the
/// linked program. /usr is omitted, because jails have it.
std::vector<std::string> interpreter_folders(fs::path program) {
  constexpr int kLinksMax = 16;
  std::vector<std::string> folders;
  const auto add = [&](const fs::path& path) {
    const std::string text = path.lexically_normal().string();
    if (text != "/" && text != "/usr" &&
        std::find(folders.begin(), folders.end(), text) == folders.end())
      folders.push_back(text);
  };
  std::error_code error;
  add(program.parent_path().parent_path());
  std::vector<fs::path> links;  // the links themselves, without the other files of their folders
  for (int i = 0; i < kLinksMax && fs::is_symlink(program, error); ++i) {
    const fs::path target = fs::read_symlink(program, error);
    program = target.is_absolute() ? target : program.parent_path() / target;
    links.push_back(program);
  }
  // Folders come first: a jail with a folder does not need files in it.
  add(program.parent_path().parent_path());
  for (const fs::path& link : links) add(link);
  return folders;
}

}  // namespace

Status expect_interpreter(const EvaluatorOptions& options) {
  if (options.toolchains.count("python") != 0) return {};
  return failed_precondition("the task is a Python module, and no interpreter is configured: set " +
                             options.backend +
                             ".python to one with torch; scripts/setup --python makes one");
}

void run_interpreter(const EvaluatorOptions& options, const char* script, Zygotes::Use use,
                     const std::vector<std::string>& arguments, SpawnRequest& spawn) {
  const fs::path root = options.libexec.parent_path();
  const std::string candidate = (options.libexec / "hone-candidate.so").string();
  spawn.program =
      options.toolchains.at("python").compiler;  // the interpreter runs artifacts that it has built
  spawn.readable.insert(spawn.readable.end(), options.python_readable.begin(),
                        options.python_readable.end());
  if (options.device_code)
    spawn.readable.push_back((root / "lib").string());  // libraries of a bundle
  if (use == Zygotes::Use::kRecording)
    spawn.readable.push_back((options.libexec / "record").string());
  spawn.arguments = {"-I", "-B", (root / "share/module" / script).string(),
                     Zygotes::place_of(options, use), candidate};
  spawn.arguments.insert(spawn.arguments.end(), arguments.begin(), arguments.end());
  spawn.arguments.insert(spawn.arguments.end(), spawn.readable.begin(), spawn.readable.end());
  spawn.arguments.push_back(
      (root / "share/module/trimmed").string());  // headers for the submission's compilers
  spawn.readable.push_back((root / "share/module").string());
  spawn.readable.push_back(candidate);
}

std::string not_roots_own(const std::vector<std::string>& paths) {
  std::vector<std::string> all = paths;
  std::error_code error;
  for (const std::string& path : paths) {
    for (const auto& entry : fs::directory_iterator(fs::path(path) / "lib", error)) {
      const fs::path packages = entry.path() / "site-packages";
      if (fs::is_directory(packages, error)) all.push_back(packages.string());
    }
  }
  for (const std::string& path : all) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) continue;
    const bool groups = (info.st_mode & S_IWGRP) != 0 && info.st_gid != 0;
    if (info.st_uid != 0 || groups || (info.st_mode & S_IWOTH) != 0) return path;
  }
  return {};
}

Status use_interpreter(const std::string& key, const std::string& path, EvaluatorOptions& options) {
  if (path.empty() || path[0] != '/' || access(path.c_str(), X_OK) != 0) {
    return failed_precondition(key + ": found no program at '" + path +
                               "', expected the absolute path of an interpreter with torch; "
                               "scripts/setup --python makes one");
  }
  const std::string scripts = (options.libexec.parent_path() / "share/module").string();
  // A jail contains the real folder, but not the folders through which the configured path leads.
  const std::string program = fs::path(path).lexically_normal().string();
  options.toolchains["python"] = {
      program, {"-I", "-S", scripts + "/builder/build_module.py"}, Value::map()};
  options.python_readable = interpreter_folders(program);
  options.readable.insert(options.readable.end(), options.python_readable.begin(),
                          options.python_readable.end());
  options.readable.push_back(scripts);
  return {};
}

}  // namespace hone
