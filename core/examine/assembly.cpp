// Theory of operation. A loop is a jump to an earlier label of the same function. The text between them is its body; a
// body without another loop is an innermost one. Compilers lay loops out like this, and text that is not laid out so has
// fewer blocks, which is harmless.
//
// The text is hostile: with inline assembler, a submission can write any line. The work is O(n log n) in the length of the
// text, and bounded by kCodeWorkMax.
#include "examine/assembly.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/utf8.hpp"
#include "examine/text_lines.hpp"

namespace hone {
namespace {

using examine::for_each_line;
using examine::trimmed;

// A compiler gives the source one file number. Reading 2 MiB within these limits takes at most 0.3 s (-O2, 3 GHz).
constexpr std::size_t kFilesMax = 64, kFunctionsMax = 20'000, kInstructionsMax = 200'000;
constexpr std::size_t kFunctionNameMax = 100;

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
  std::vector<Loop> loops;
  bool is_kernel = false;  ///< a kernel in PTX
};

/// Counts the steps of work, and records what was left out because of a limit.
class Budget {
 public:
  explicit Budget(CodeListing& listing) : listing_(listing) {}

  /// Spends the steps. If too few are left, spends none, records `what` as left out and returns false.
  bool spend(std::size_t steps, const char* what) {
    if (steps > kCodeWorkMax - listing_.work) return leave_out(what);
    listing_.work += steps;
    return true;
  }
  /// Records `what` once. Returns false.
  bool leave_out(const std::string& what) {
    auto& all = listing_.left_out;
    if (std::find(all.begin(), all.end(), what) == all.end()) all.push_back(what);
    return false;
  }

 private:
  CodeListing& listing_;
};

bool is_name_character(char c) { return examine::is_symbol_character(c) || c == '@'; }

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

constexpr const char* kLinesLeft = "lines of code: the compiler's text is too long";

/// The numbers that .file directives give to the source. They stand at the end of PTX.
std::set<std::int64_t> files_of(std::string_view assembly, std::string_view source_name,
                                Budget& budget) {
  std::set<std::int64_t> files;
  for_each_line(assembly, [&](std::string_view line) {
    if (!budget.spend(1, kLinesLeft)) return;
    std::string_view rest = trimmed(line);
    if (!rest.starts_with(".file")) return;
    rest = trimmed(rest.substr(5));
    const std::int64_t number = examine::take_number(rest);
    if (number < 0 || file_name(last_quoted(rest)) != source_name) return;
    if (files.size() < kFilesMax || files.count(number) != 0) {
      files.insert(number);
    } else {
      budget.leave_out("line numbers: the source has more than " + std::to_string(kFilesMax) +
                       " file numbers");
    }
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
  Reader(std::set<std::int64_t> files, Budget& budget)
      : files_(std::move(files)), budget_(budget) {}

  void read(std::string_view line) {
    if (full_) return;
    full_ = !budget_.spend(1, kLinesLeft);
    line = trimmed(line.substr(0, line.find("//")));
    if (line.empty() || line.starts_with("#") || full_) return;
    if (line.starts_with(".loc")) return read_line(line.substr(4));
    if (const std::size_t entry = line.find(".entry "); entry != std::string_view::npos) {
      begin_function(name_at(trimmed(line.substr(entry + 7))));
      if (!full_) functions_.back().is_kernel = true;
      return;
    }
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
    if (files_.count(file) != 0 && line > 0) line_ = line;
  }
  void read_label(std::string_view name) {
    const bool is_local = name.starts_with(".L") || name.starts_with("$L");
    if (!is_local) return begin_function(name);
    if (!functions_.empty()) labels_[name] = functions_.back().code.size();
  }
  void begin_function(std::string_view name) {
    if (functions_.size() == kFunctionsMax) {
      budget_.leave_out("code after the first " + std::to_string(kFunctionsMax) + " functions");
      full_ = true;
      return;
    }
    functions_.push_back({name, {}, {}, false});
    labels_.clear();
    line_ = 0;
    returned_ = 0;
  }
  void read_instruction(std::string_view text) {
    Function& function = functions_.back();
    if (count_++ == kInstructionsMax) {
      budget_.leave_out("code after the first " + std::to_string(kInstructionsMax) +
                        " instructions");
      full_ = true;
      return;
    }
    function.code.push_back({text, line_});
    const std::string_view target = jump_target(text);
    const auto label = labels_.find(target);
    // The rare part of a function stands behind its end, and jumps back into it: that is no loop.
    if (!target.empty() && label != labels_.end() && label->second >= returned_)
      function.loops.push_back({label->second, function.code.size() - 1});
    if (name_at(text).starts_with("ret")) returned_ = function.code.size();
  }

  const std::set<std::int64_t> files_;  ///< numbers of the source
  Budget& budget_;
  std::vector<Function> functions_;
  std::map<std::string_view, std::size_t>
      labels_;  ///< of the last function: the first instruction after each
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
  if (word.starts_with("fma.")) ++block.multiply_adds;
}

/// A block without its text, and where its instructions are.
struct Found {
  const Function* function;
  Loop span;
  CodeBlock block;
};

Found counted(const Function& function, const Loop& span) {
  Found found{&function, span, {}};
  CodeBlock& block = found.block;
  for (std::size_t i = span.begin; i <= span.end; ++i) {
    const Instruction& instruction = function.code[i];
    ++block.instructions;
    std::string_view word = instruction.text;
    if (word.starts_with("@")) word = trimmed(word.substr(std::min(word.find(' '), word.size())));
    word = name_at(word);
    word.ends_with(";") || contains(word, ".") ? count_device(word, block)
                                               : count_host(word, block);
    if (instruction.line <= 0) continue;
    block.line_first =
        block.line_first == 0 ? instruction.line : std::min(block.line_first, instruction.line);
    block.line_last = std::max(block.line_last, instruction.line);
  }
  return found;
}

CodeBlock with_text(Found found, std::size_t bytes_max) {
  CodeBlock block = std::move(found.block);
  block.function = std::string(found.function->name.substr(0, kFunctionNameMax));
  std::int64_t line = 0;
  for (std::size_t i = found.span.begin; i <= found.span.end; ++i) {
    const Instruction& instruction = found.function->code[i];
    if (block.text.size() + instruction.text.size() + 32 > bytes_max) break;
    block.text += printable(instruction.text);
    if (instruction.line > 0 && instruction.line != line)
      block.text += "  ; line " + std::to_string(instruction.line);
    line = instruction.line;
    block.text += '\n';
  }
  return block;
}

/// The innermost loops of a function, with the number of loops that are open where each begins; if there is none, the start of
/// the function.
void add_blocks(Function& function, Budget& budget, std::vector<Found>& found) {
  constexpr std::size_t kStraightMax = 400;
  constexpr const char* kLoopsLeft = "loops: they overlap too often";
  if (function.code.empty()) return;
  std::vector<Loop>& loops = function.loops;
  if (loops.empty()) {
    const std::size_t count = std::min(function.code.size(), kStraightMax);
    if (budget.spend(count, kLoopsLeft)) found.push_back(counted(function, {0, count - 1}));
    return;
  }
  // An outer loop comes before its inner ones. No two loops have the same end, because it is their jump.
  std::sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  // A loop contains a later one if it ends after the earliest end of all later ones.
  std::vector<bool> is_innermost(loops.size());
  std::size_t first_end = std::numeric_limits<std::size_t>::max();
  for (std::size_t i = loops.size(); i-- > 0;) {
    is_innermost[i] = loops[i].end < first_end;
    first_end = std::min(first_end, loops[i].end);
  }
  std::set<std::size_t> open_ends;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const Loop& loop = loops[i];
    open_ends.erase(open_ends.begin(), open_ends.lower_bound(loop.begin));
    if (is_innermost[i] && budget.spend(loop.end - loop.begin + 1, kLoopsLeft)) {
      found.push_back(counted(function, loop));
      found.back().block.is_loop = true;
      found.back().block.depth = static_cast<std::int64_t>(open_ends.size());
    }
    open_ends.insert(loop.end);
  }
}

/// The instructions, each with the number of loops around it.
std::vector<DeviceInstruction> with_depths(const Function& function) {
  std::vector<std::int64_t> steps(function.code.size() + 1);
  for (const Loop& loop : function.loops) {
    ++steps[loop.begin];
    --steps[loop.end + 1];
  }
  std::vector<DeviceInstruction> code;
  std::int64_t depth = 0;
  for (std::size_t i = 0; i < function.code.size(); ++i) {
    depth += steps[i];
    code.push_back({function.code[i].text, function.code[i].line, depth});
  }
  return code;
}

void add_accesses(const Function& function, Budget& budget, std::vector<LaneAccess>& found) {
  constexpr const char* kAddressesLeft = "memory accesses: the kernels are too long";
  if (!function.is_kernel) return;
  if (function.code.size() > kLaneInstructionsMax) {
    budget.leave_out(kAddressesLeft);
  } else if (budget.spend(kLanePassesMax * function.code.size(), kAddressesLeft)) {
    for (LaneAccess& access : lane_accesses(function.name, with_depths(function)))
      found.push_back(std::move(access));
  }
}

}  // namespace

CodeListing code_blocks(std::string_view assembly, std::string_view source_name,
                        std::size_t count_max, std::size_t bytes_max) {
  CodeListing listing;
  Budget budget(listing);
  if (assembly.size() > kCodeTextMax) budget.leave_out(kLinesLeft);
  assembly = assembly.substr(0, kCodeTextMax);
  Reader reader(files_of(assembly, source_name, budget), budget);
  for_each_line(assembly, [&](std::string_view line) { reader.read(line); });
  std::vector<Found> found;
  for (Function& function : reader.functions()) {
    add_blocks(function, budget, found);
    add_accesses(function, budget, listing.accesses);
  }
  std::stable_sort(listing.accesses.begin(), listing.accesses.end(),
                   [](const LaneAccess& a, const LaneAccess& b) { return a.depth > b.depth; });
  if (listing.accesses.size() > kAccessesMax) listing.accesses.resize(kAccessesMax);
  const auto rank = [](const Found& one) {
    const CodeBlock& block = one.block;
    return std::tuple(block.is_loop, block.vector > 0, block.depth, block.instructions);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const Found& a, const Found& b) { return rank(a) > rank(b); });
  for (std::size_t i = 0; i < std::min(found.size(), count_max); ++i)
    listing.blocks.push_back(with_text(std::move(found[i]), bytes_max));
  return listing;
}

Value code_block_to_value(const CodeBlock& block) {
  Value value =
      Value::map({{"function", block.function},
                  {"is_loop", block.is_loop},
                  {"lines", block.line_first > 0 ? Value::array({block.line_first, block.line_last})
                                                 : Value()},
                  {"instructions", block.instructions}});
  const std::pair<const char*, std::int64_t> counts[] = {{"vector", block.vector},
                                                         {"scalar", block.scalar},
                                                         {"gathers", block.gathers},
                                                         {"divisions", block.divisions},
                                                         {"calls", block.calls},
                                                         {"global", block.global},
                                                         {"global_wide", block.global_wide},
                                                         {"shared", block.shared},
                                                         {"local", block.local},
                                                         {"barriers", block.barriers},
                                                         {"multiply_adds", block.multiply_adds}};
  for (const auto& [name, count] : counts) {
    if (count > 0) value.set(name, count);
  }
  value.set("text", block.text);
  return value;
}

}  // namespace hone
