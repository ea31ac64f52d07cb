// hone: parses the command line and runs one command.
#include <cerrno>
#include <cstdio>

#include "base/descriptors.hpp"
#include "cli/command.hpp"
#include "terminal/terminal.hpp"

// No thread, socket or device exists here: a command starts the launcher before it makes any
// (cli/host.hpp).
int main(int argc, char** argv) {
  hone::raise_descriptor_limit();  // before anything inherits it
  hone::Terminal terminal;
  const int status = hone::run_command_line(hone::make_commands(), argc, argv, terminal);
  // What was printed to a full disk was not printed: whoever reads it must not take it for whole.
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  return terminal.fail(hone::unavailable("standard output could not be written"));
}
