// hone: parses the command line and runs one command.
#include <cerrno>
#include <cstdio>

#include "base/descriptors.hpp"
#include "cli/command.hpp"
#include "terminal/terminal.hpp"

// No thread, socket or device exists yet: a command starts the launcher first (app/host.hpp).
int main(int argc, char** argv) {
  hone::raise_descriptor_limit();  // before a child process inherits it
  hone::Terminal terminal;
  const int status = hone::run_command_line(hone::make_commands(), argc, argv, terminal);
  // After a failed write (a full disk), the exit status must not claim success.
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  return terminal.fail(hone::unavailable("standard output could not be written"));
}
