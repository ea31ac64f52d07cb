// A folder with the source and the device's headers, and one run of g++ in it.
#include "compile.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include "device_texts.hpp"

namespace hone_emulated {
namespace {

namespace fs = std::filesystem;

/// The folder of one run; gone with it.
class Folder {
 public:
  Folder() {
    char name[] = "hone-emulated-XXXXXX";
    if (mkdtemp(name) != nullptr) path_ = fs::absolute(name);
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const fs::path& path() const { return path_; }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

bool write_file(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return !error && static_cast<bool>(file);
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string compiler() {
  for (const char* path : {"/usr/bin/g++", "/usr/bin/c++", "/usr/local/bin/g++"}) {
    if (access(path, X_OK) == 0) return path;
  }
  return {};
}

/// Runs it with stdout and stderr in `words`; -1 where it cannot be started.
int run(const std::vector<std::string>& command, const Folder& folder, const fs::path& words) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, words.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::string temporary = "TMPDIR=" + folder.path().string();
  std::string path = "PATH=/usr/local/bin:/usr/bin:/bin";
  std::string language = "LC_ALL=C";
  char* environment[] = {temporary.data(), path.data(), language.data(), nullptr};
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -1;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// The words with the folder's name taken out of them.
std::string without(std::string words, const std::string& folder) {
  for (std::size_t at = words.find(folder); at != std::string::npos; at = words.find(folder, at))
    words.erase(at, folder.size());
  return words;
}

std::vector<std::string> command_line(const std::string& program, const Job& job,
                                      const Folder& folder) {
  std::vector<std::string> command = {program, "-x", "c++"};
  // As a device has it: no exceptions, no headers of the host, a fault where an address is not aligned.
  for (const char* flag : {"-O1",
                           "-fPIC",
                           "-shared",
                           "-pipe",
                           "-w",
                           "-nostdinc",
                           "-nostdinc++",
                           "-fno-exceptions",
                           "-fno-rtti",
                           "-fno-gnu-unique",
                           "-fno-threadsafe-statics",
                           "-fno-builtin-printf",
                           "-fno-builtin-malloc",
                           "-fno-builtin-free",
                           "-fvisibility=hidden",
                           "-ffunction-sections",
                           "-fno-math-errno",
                           "-fno-strict-aliasing",
                           "-fsanitize=alignment",
                           "-fsanitize-undefined-trap-on-error",
                           "-fdiagnostics-color=never",
                           "-fno-diagnostics-show-caret",
                           "-fmax-errors=100"}) {
    command.emplace_back(flag);
  }
  // Before folders of a real toolkit: its headers mean another compiler.
  command.push_back("-I" + (folder / "device").string());
  command.push_back("-I" + (folder / "include").string());
  command.insert(command.end(), job.flags.begin(), job.flags.end());
  command.insert(command.end(),
                 {(folder / "kernel.cpp").string(), "-o", (folder / "kernel.so").string(),
                  "-nostartfiles", "-nodefaultlibs", "-Wl,-z,defs", "-Wl,-z,now", "-Wl,-Bsymbolic",
                  "-Wl,--gc-sections", "-lm", "-lc", "-lgcc"});
  return command;
}

}  // namespace

Compiled compile(const Job& job) {
  Compiled result;
  const std::string program = compiler();
  const Folder folder;
  if (program.empty() || folder.path().empty()) {
    result.words = program.empty() ? "no g++ on this machine"
                                   : std::string("no folder to work in: ") + std::strerror(errno);
    return result;
  }
  bool written = write_file(folder / "kernel.cpp", job.source);
  for (const DeviceText& text : kDeviceTexts)
    written = written && write_file(folder / "device" / text.name, text.text);
  for (const auto& [name, text] : job.headers)
    written = written && write_file(folder / "include" / name, text);
  if (!written) {
    result.words = std::string("write the source: ") + std::strerror(errno);
    return result;
  }
  const int status = run(command_line(program, job, folder), folder, folder / "words");
  if (status == -1) {
    result.words = "cannot start " + program;
    return result;
  }
  result.started = true;
  result.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  result.words = without(read_file(folder / "words"), folder.path().string() + "/");
  if (result.ok) result.library = read_file(folder / "kernel.so");
  return result;
}

}  // namespace hone_emulated
