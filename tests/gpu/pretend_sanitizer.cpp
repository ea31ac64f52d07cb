// Stands in for compute-sanitizer where there is no device: runs the command at its end, and writes a report in the same format.
//
//   pretend_sanitizer --tool NAME … --log-file REPORT … PROGRAM play BACKEND DEVICE
//
// The findings are the file NAME.report next to the program, if there is one, in which "{N}" stands for the address of buffer N
// of the last call, and "{N+BYTES}" for an address after it.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

namespace {

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The addresses of the last call's buffers, from the player's lines.
std::map<int, unsigned long long> addresses() {
  std::map<int, unsigned long long> found;
  std::istringstream lines(contents_of("events.txt"));
  for (std::string line; std::getline(lines, line);) {
    int number = 0;
    unsigned long long address = 0;
    if (line.rfind("hone-call", 0) == 0) found.clear();
    if (std::sscanf(line.c_str(), "hone-buffer %d 0x%llx", &number, &address) == 2)
      found[number] = address;
  }
  return found;
}

std::string with_addresses(std::string text) {
  const auto found = addresses();
  for (std::size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
    const std::size_t end = text.find('}', at);
    int number = 0;
    unsigned long long after = 0;
    std::sscanf(text.c_str() + at, "{%d+%llu", &number, &after);
    char address[32];
    const auto buffer = found.find(number);
    std::snprintf(address, sizeof address, "0x%llx",
                  (buffer == found.end() ? 0 : buffer->second) + after);
    text.replace(at, end - at + 1, address);
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  std::string tool, report;
  int command = argc;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string(argv[i]) == "--tool") tool = argv[i + 1];
    if (std::string(argv[i]) == "--log-file") report = argv[i + 1];
    if (std::string(argv[i + 1]) == "play") command = i;
  }
  pid_t pid = 0;
  if (command == argc ||
      posix_spawn(&pid, argv[command], nullptr, nullptr, argv + command, environ) != 0)
    return 64;
  int status = 0;
  waitpid(pid, &status, 0);
  const auto folder = std::filesystem::path(argv[0]).parent_path();
  const std::string errors = with_addresses(contents_of(folder / (tool + ".report")));
  std::ofstream(report, std::ios::app)
      << "========= COMPUTE-SANITIZER\n"
      << errors << "========= ERROR SUMMARY: " << (errors.empty() ? 0 : 1) << " errors\n";
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
