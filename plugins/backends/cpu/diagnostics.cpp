// Phrases of gcc, clang and collect2.
#include "diagnostics.hpp"

namespace hone_cpu {
namespace {

struct Phrase {
  std::string_view words;
  const char* failure;
};

// The first one that is found counts. SIGXCPU is signal 24.
constexpr Phrase kPhrases[] = {{"CPU time limit exceeded", "timed_out"},
                               {"terminated with signal 24", "timed_out"},
                               {"Killed signal", "killed"},
                               {"terminated with signal 9", "killed"},
                               {"out of memory", "out_of_memory"},
                               {"virtual memory exhausted", "out_of_memory"}};

}  // namespace

std::string failure_in(std::string_view words) {
  for (const Phrase& phrase : kPhrases) {
    if (words.find(phrase.words) != std::string_view::npos) return phrase.failure;
  }
  return "";
}

}  // namespace hone_cpu
