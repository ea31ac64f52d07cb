// Tools that examine a submission without scoring it, and what they find.
#pragma once

#include <optional>
#include <string_view>

#include "base/enum_names.hpp"
#include "model/value.hpp"
#include "model/verdict.hpp"

namespace hone {

/// docs/tools.md explains each one. tests/repo/lists_test.py checks the lists of their names.
enum class Tool {
  kCheck,        ///< builds the submission and checks it on the shown shapes, without timing
  kProfile,      ///< judges it, and says where its time goes
  kSanitize,     ///< runs it under the sanitizers of the processor or the device
  kDisassemble,  ///< the machine code of its innermost loops, or PTX
  kCompile,      ///< builds it: messages of the compiler, loops, registers
  kHardware,     ///< the device that judges it
};

template <>
struct EnumNames<Tool> {
  static constexpr std::string_view kKind = "tool";
  static constexpr std::string_view kNames[] = {"check",       "profile", "sanitize",
                                                "disassemble", "compile", "hardware"};
  static_assert(are_complete(kNames, Tool::kHardware));
};

struct Examination {
  std::optional<Verdict>
      verdict;                 ///< of check and profile, and of a submission that does not build
  Value facts = Value::map();  ///< what the tool found: docs/tools.md has the members
};

}  // namespace hone
