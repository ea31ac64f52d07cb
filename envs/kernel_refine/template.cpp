// Parses and fills templates.
#include "kernel_refine/template.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/nearest.hpp"

namespace hone::kernel_refine {
namespace {

constexpr std::size_t kBytesMax = 256u << 10;

}  // namespace

Result<Template> Template::parse(std::string_view name, std::string_view text,
                                 const std::vector<std::string>& known) {
  Template parsed;
  int number = 0;
  while (!text.empty()) {
    ++number;
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (number == 1 && line.substr(0, 4) == "<!--") continue;
    std::vector<Piece> pieces;
    for (std::size_t open = line.find("{{"); open != std::string_view::npos;
         open = line.find("{{")) {
      const std::string where = std::string(name) + ":" + std::to_string(number) + ": ";
      const std::size_t close = line.find("}}", open);
      if (close == std::string_view::npos) {
        return invalid_argument(where + "found '{{' without '}}' on its line");
      }
      const std::string word(line.substr(open + 2, close - open - 2));
      if (std::find(known.begin(), known.end(), word) == known.end()) {
        return invalid_argument(where + unknown_name("placeholder", word, known));
      }
      if (open > 0) pieces.push_back({std::string(line.substr(0, open)), false});
      pieces.push_back({word, true});
      line.remove_prefix(close + 2);
    }
    if (!line.empty()) pieces.push_back({std::string(line), false});
    parsed.lines_.push_back(std::move(pieces));
  }
  return parsed;
}

Result<Template> Template::load(const std::filesystem::path& path,
                                const std::vector<std::string>& known) {
  HONE_ASSIGN(const std::string text, read_text(path, kBytesMax));
  return parse(path.filename().string(), text, known);
}

std::string Template::fill(const Words& words) const {
  std::string filled;
  for (const std::vector<Piece>& pieces : lines_) {
    std::string line;
    bool literal = pieces.empty();
    for (const Piece& piece : pieces) {
      if (!piece.placeholder) {
        line += piece.text;
        literal = true;
      } else if (const auto word = words.find(piece.text); word != words.end()) {
        line += word->second;
      }
    }
    if (literal || !line.empty()) filled += line + "\n";
  }
  return filled;
}

}  // namespace hone::kernel_refine
