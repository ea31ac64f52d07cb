// hone: parses the command line and runs one command.
#include "cli/command.hpp"
#include "cli/terminal.hpp"

// No thread, socket or device exists here: a command starts the launcher before it makes any
// (cli/host.hpp).
int main(int argc, char** argv) {
  hone::Terminal terminal;
  return hone::run_command_line(hone::make_commands(), argc, argv, terminal);
}
