// Template: text with {{placeholders}}, read from the environment's folder and checked when it is
// read.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace hone::kernel_refine {

using Words = std::map<std::string, std::string, std::less<>>;

/// A line whose placeholders all turn out empty, and that holds nothing else, is left out. A first
/// line that is a comment (<!-- … -->) is for who edits the file and is dropped.
///
///   HONE_ASSIGN(Template t, Template::parse("wrong.md", "{{count}} differ\n", {"count"}));
///   t.fill({{"count", "3"}});   // "3 differ\n"
class Template {
 public:
  /// An unknown placeholder, or one that is not closed, is invalid_argument "name:line: …".
  static Result<Template> parse(std::string_view name, std::string_view text,
                                const std::vector<std::string>& known);
  static Result<Template> load(const std::filesystem::path& path,
                               const std::vector<std::string>& known);

  std::string fill(const Words& words) const;

 private:
  struct Piece {
    std::string text;  ///< literal text, or the placeholder's name
    bool placeholder = false;
  };
  std::vector<std::vector<Piece>> lines_;
};

}  // namespace hone::kernel_refine
