// The names of languages as models write them after a fence.
#include <algorithm>
#include <array>

#include "kernel_refine/answer/blocks.hpp"
#include "kernel_refine/answer/text.hpp"

namespace hone::kernel_refine {
namespace {

struct Spelling {
  std::string_view written, language;
};

constexpr Spelling kSpellings[] = {{"cpp", "c++"},
                                   {"c++", "c++"},
                                   {"cxx", "c++"},
                                   {"cc", "c++"},
                                   {"hpp", "c++"},
                                   {"hxx", "c++"},
                                   {"hh", "c++"},
                                   {"h++", "c++"},
                                   {"cplusplus", "c++"},
                                   {"c", "c"},
                                   {"h", "c"},
                                   {"ansic", "c"},
                                   {"cuda", "cuda"},
                                   {"cu", "cuda"},
                                   {"cuh", "cuda"},
                                   {"nvcc", "cuda"},
                                   {"cudac", "cuda"},
                                   {"cudacpp", "cuda"},
                                   {"hip", "hip"},
                                   {"rocm", "hip"},
                                   {"py", "python"},
                                   {"python", "python"},
                                   {"python2", "python"},
                                   {"python3", "python"},
                                   {"py3", "python"},
                                   {"triton", "python"},
                                   {"pytorch", "python"},
                                   {"torch", "python"},
                                   {"ipython", "python"},
                                   {"ipython3", "python"},
                                   {"pyi", "python"},
                                   {"tilelang", "python"},
                                   {"cupy", "python"},
                                   {"numba", "python"}};

/// If a tag names two languages, as in "cuda/c++", the first in this list wins.
constexpr std::string_view kPrecedence[] = {"python", "cuda", "hip", "c++", "c"};

/// "cpp17", "c++20", "gnu++17" and "c11" name the language with its year.
std::string_view without_year(std::string_view name) {
  while (!name.empty() && (is_digit(name.back()) || name.back() == '.')) name.remove_suffix(1);
  return name == "gnu++" ? "c++" : name == "std=c++" ? "c++" : name;
}

std::string_view known_language(std::string_view name) {
  for (const std::string_view one : {name, without_year(name)}) {
    for (const Spelling& spelling : kSpellings) {
      if (one == spelling.written) return spelling.language;
    }
  }
  return {};
}

}  // namespace

std::string language_of_tag(std::string_view tag) {
  const std::string name = to_lower(trim(tag));
  if (const std::string_view known = known_language(name); !known.empty())
    return std::string(known);
  std::array<bool, std::size(kPrecedence)> has{};
  bool any = false;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find_first_of("/-_.:, &()", at), name.size());
    const std::string_view part = known_language(std::string_view(name).substr(at, end - at));
    for (std::size_t i = 0; i < has.size(); ++i) {
      if (part != kPrecedence[i]) continue;
      has[i] = any = true;
    }
    at = end + 1;
  }
  if (!any) return name;
  return std::string(
      kPrecedence[static_cast<std::size_t>(std::find(has.begin(), has.end(), true) - has.begin())]);
}

const std::vector<std::string_view>& device_dialects() {
  static const std::vector<std::string_view> kDialects = {"cuda", "hip"};
  return kDialects;
}

Grammar grammar_of_tag(std::string_view tag, Grammar usual) {
  if (tag.empty()) return usual;
  const std::string language = language_of_tag(tag);
  if (language == "python") return Grammar::kPython;
  const bool is_c = language == "c" || language == "c++" || language == "cuda" || language == "hip";
  return is_c ? Grammar::kC : Grammar::kNone;
}

}  // namespace hone::kernel_refine
