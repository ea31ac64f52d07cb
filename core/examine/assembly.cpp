// Theory of operation. A loop is a jump to an earlier label of the same function. The text between them is its body; a
// body without another loop is an innermost one. Compilers lay loops out like this, and text that is not laid out so has
// fewer blocks, which is harmless.
#include "examine/assembly.hpp"

#include <algorithm>
#include <map>

#include "examine/text_lines.hpp"

namespace hone {
namespace {

using examine::for_each_line;
using examine::trimmed;

constexpr std::size_t kInstructionsMax = 200'000;

struct Instruction {
  std::string_view text;
  std::int64_t line = 0;
};

/// A jump backwards: instructions [begin, end].
struct Loop {
  std::size_t begin = 0, end = 0;
};

struct Function {
  std::string_view name;
  std::vector<Instruction> code;
  std::map<std::string_view, std::size_t> labels;  ///< first instruction after each
  std::vector<Loop> loops;
};

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$' || c == '@';
}

/// The name at the start of the text.
std::string_view name_at(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_name_character(text[length])) ++length;
  return text.substr(0, length);
}

std::string_view last_quoted(std::string_view text) {
  const std::size_t end = text.rfind('"');
  if (end == std::string_view::npos || end == 0) return {};
  const std::size_t begin = text.rfind('"', end - 1);
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin + 1, end - begin - 1);
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// The numbers that .file directives give to the source. They stand at the end of PTX.
std::vector<std::int64_t> files_of(std::string_view assembly, std::string_view source_name) {
  std::vector<std::int64_t> files;
  for_each_line(assembly, [&](std::string_view line) {
    std::string_view rest = trimmed(line);
    if (!rest.starts_with(".file")) return;
    rest = trimmed(rest.substr(5));
    const std::int64_t number = examine::take_number(rest);
    if (number >= 0 && file_name(last_quoted(rest)) == source_name) files.push_back(number);
  });
  return files;
}

/// The label that a jump goes to; empty if the instruction is no jump.
std::string_view jump_target(std::string_view instruction) {
  std::string_view rest = instruction;
  if (rest.starts_with("@")) rest = trimmed(rest.substr(std::min(rest.find(' '), rest.size())));
  const std::string_view word = name_at(rest);
  if (!word.starts_with("j") && !word.starts_with("bra")) return {};
  return name_at(trimmed(rest.substr(word.size())));
}

class Reader {
 public:
  explicit Reader(std::vector<std::int64_t> files) : files_(std::move(files)) {}

  void read(std::string_view line) {
    line = trimmed(line.substr(0, line.find("//")));
    if (line.empty() || line.starts_with("#") || full_) return;
    if (line.starts_with(".loc")) return read_line(line.substr(4));
    if (const std::size_t entry = line.find(".entry "); entry != std::string_view::npos)
      return begin_function(name_at(trimmed(line.substr(entry + 7))));
    const std::string_view name = name_at(line);
    if (!name.empty() && line.substr(name.size()).starts_with(":")) return read_label(name);
    if (line.starts_with(".") || functions_.empty()) return;
    constexpr std::string_view kPtxBraces = "{}()";
    if (kPtxBraces.find(line.front()) != std::string_view::npos) return;
    read_instruction(line);
  }

  std::vector<Function>& functions() { return functions_; }

 private:
  void read_line(std::string_view rest) {
    rest = trimmed(rest);
    const std::int64_t file = examine::take_number(rest);
    rest = trimmed(rest);
    const std::int64_t line = examine::take_number(rest);
    const bool is_ours = std::find(files_.begin(), files_.end(), file) != files_.end();
    if (is_ours && line > 0) line_ = line;
  }
  void read_label(std::string_view name) {
    const bool is_local = name.starts_with(".L") || name.starts_with("$L");
    if (!is_local) return begin_function(name);
    if (!functions_.empty()) functions_.back().labels[name] = functions_.back().code.size();
  }
  void begin_function(std::string_view name) {
    functions_.push_back({name, {}, {}, {}});
    line_ = 0;
    returned_ = 0;
  }
  void read_instruction(std::string_view text) {
    Function& function = functions_.back();
    function.code.push_back({text, line_});
    full_ = ++count_ >= kInstructionsMax;
    const std::string_view target = jump_target(text);
    const auto label = function.labels.find(target);
    // The rare part of a function stands behind its end, and jumps back into it: that is no loop.
    if (!target.empty() && label != function.labels.end() && label->second >= returned_)
      function.loops.push_back({label->second, function.code.size() - 1});
    if (name_at(text).starts_with("ret")) returned_ = function.code.size();
  }

  const std::vector<std::int64_t> files_;  ///< numbers of the source
  std::vector<Function> functions_;
  std::int64_t line_ = 0;
  std::size_t returned_ = 0;  ///< instructions up to the function's last return so far
  std::size_t count_ = 0;
  bool full_ = false;
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Counts an instruction of a processor.
void count_host(std::string_view word, CodeBlock& block) {
  if (word.starts_with("call")) ++block.calls;
  if (contains(word, "gather")) ++block.gathers;
  if (contains(word, "div")) ++block.divisions;
  if (word.starts_with("v")) word.remove_prefix(1);
  constexpr std::string_view kArithmetic[] = {"add",  "sub",   "mul",   "div",    "max",   "min",
                                              "sqrt", "fmadd", "fmsub", "fnmadd", "fnmsub"};
  for (const std::string_view one : kArithmetic) {
    if (!word.starts_with(one)) continue;
    if (word.ends_with("ps") || word.ends_with("pd")) ++block.vector;
    if (word.ends_with("ss") || word.ends_with("sd")) ++block.scalar;
    return;
  }
  if (word.starts_with("padd") || word.starts_with("pmul") || word.starts_with("psub") ||
      word.starts_with("pmadd"))
    ++block.vector;
}

/// Counts an instruction of PTX.
void count_device(std::string_view word, CodeBlock& block) {
  if (contains(word, ".global")) {
    ++block.global;
    if (contains(word, ".v2") || contains(word, ".v4") || contains(word, ".v8"))
      ++block.global_wide;
  }
  if (contains(word, ".shared")) ++block.shared;
  if (word.starts_with("ld.local") || word.starts_with("st.local")) ++block.local;
  if (word.starts_with("bar.") || word.starts_with("barrier.")) ++block.barriers;
  if (word.starts_with("div.") || word.starts_with("rem.")) ++block.divisions;
  if (word.starts_with("call")) ++block.calls;
}

CodeBlock block_of(const Function& function, std::size_t begin, std::size_t end,
                   std::size_t bytes_max) {
  CodeBlock block;
  block.function = std::string(function.name.substr(0, 200));
  std::int64_t line = 0;
  for (std::size_t i = begin; i <= end; ++i) {
    const Instruction& instruction = function.code[i];
    ++block.instructions;
    std::string_view word = instruction.text;
    if (word.starts_with("@")) word = trimmed(word.substr(std::min(word.find(' '), word.size())));
    word = name_at(word);
    word.ends_with(";") || contains(word, ".") ? count_device(word, block)
                                               : count_host(word, block);
    if (instruction.line > 0) {
      block.line_first =
          block.line_first == 0 ? instruction.line : std::min(block.line_first, instruction.line);
      block.line_last = std::max(block.line_last, instruction.line);
    }
    if (block.text.size() + instruction.text.size() + 32 > bytes_max) continue;
    block.text += std::string(instruction.text);
    std::replace(block.text.begin(), block.text.end(), '\t', ' ');
    if (instruction.line > 0 && instruction.line != line)
      block.text += "  ; line " + std::to_string(instruction.line);
    line = instruction.line;
    block.text += '\n';
  }
  return block;
}

bool encloses(const Loop& outer, const Loop& inner) {
  return outer.begin <= inner.begin && inner.end <= outer.end &&
         (outer.begin != inner.begin || outer.end != inner.end);
}

/// The innermost loops of a function, with the number of loops around each; if there is none, the whole function.
void add_blocks(const Function& function, std::size_t bytes_max, std::size_t& scanned,
                std::vector<CodeBlock>& blocks) {
  constexpr std::size_t kLoopsMax = 500;  // bounds the comparison of each loop with each other
  constexpr std::size_t kScannedMax = 1'000'000;  // instructions; loops of hostile text may overlap
  constexpr std::size_t kStraightMax = 400;
  if (function.code.empty()) return;
  if (function.loops.empty()) {
    const std::size_t last = std::min(function.code.size(), kStraightMax) - 1;
    blocks.push_back(block_of(function, 0, last, bytes_max));
    return;
  }
  const std::size_t count = std::min(function.loops.size(), kLoopsMax);
  for (std::size_t i = 0; i < count; ++i) {
    const Loop& loop = function.loops[i];
    bool is_innermost = true;
    std::int64_t depth = 0;
    for (std::size_t k = 0; k < count; ++k) {
      is_innermost = is_innermost && !encloses(loop, function.loops[k]);
      depth += encloses(function.loops[k], loop) ? 1 : 0;
    }
    scanned += loop.end - loop.begin + 1;
    if (!is_innermost || scanned > kScannedMax) continue;
    CodeBlock block = block_of(function, loop.begin, loop.end, bytes_max);
    block.is_loop = true;
    block.depth = depth;
    blocks.push_back(std::move(block));
  }
}

}  // namespace

std::vector<CodeBlock> code_blocks(std::string_view assembly, std::string_view source_name,
                                   std::size_t count_max, std::size_t bytes_max) {
  Reader reader(files_of(assembly, source_name));
  for_each_line(assembly, [&](std::string_view line) { reader.read(line); });
  std::vector<CodeBlock> blocks;
  std::size_t scanned = 0;
  for (const Function& function : reader.functions())
    add_blocks(function, bytes_max, scanned, blocks);
  const auto rank = [](const CodeBlock& block) {
    return std::tuple(block.is_loop, block.vector > 0, block.depth, block.instructions);
  };
  std::stable_sort(blocks.begin(), blocks.end(),
                   [&](const CodeBlock& a, const CodeBlock& b) { return rank(a) > rank(b); });
  if (blocks.size() > count_max) blocks.resize(count_max);
  return blocks;
}

Value code_block_to_value(const CodeBlock& block) {
  Value value =
      Value::map({{"function", block.function},
                  {"is_loop", block.is_loop},
                  {"lines", block.line_first > 0 ? Value::array({block.line_first, block.line_last})
                                                 : Value()},
                  {"instructions", block.instructions}});
  const std::pair<const char*, std::int64_t> counts[] = {
      {"vector", block.vector},           {"scalar", block.scalar}, {"gathers", block.gathers},
      {"divisions", block.divisions},     {"calls", block.calls},   {"global", block.global},
      {"global_wide", block.global_wide}, {"shared", block.shared}, {"local", block.local},
      {"barriers", block.barriers}};
  for (const auto& [name, count] : counts) {
    if (count > 0) value.set(name, count);
  }
  value.set("text", block.text);
  return value;
}

}  // namespace hone
