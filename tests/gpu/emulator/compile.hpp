// Runs the processor's compiler over a rewritten source.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hone_emulated {

struct Job {
  std::string name;    ///< as diagnostics call the source
  std::string source;  ///< rewritten, with the table of kernels behind it
  std::vector<std::pair<std::string, std::string>> headers;  ///< name in #include, rewritten text
  std::vector<std::string> flags;
};

struct Compiled {
  bool started = false;  ///< false: `words` says why there is no compiler
  bool ok = false;
  std::string words;
  std::string library;
};

/// Works in a folder of its own below the working folder, and removes it.
Compiled compile(const Job& job);

}  // namespace hone_emulated
