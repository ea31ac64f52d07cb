// Calls of a judge to its host while a request is worked on, and the host's answers.
#pragma once

#include <string_view>
#include <variant>

#include "base/enum_names.hpp"
#include "judge_protocol/no_fields.hpp"

namespace hone {

/// A stage of one evaluation. `kPrepare`: the reference and the baseline are installed, which the host knows itself.
enum class JudgeStage { kPrepare, kLoad, kCheck, kMeasure };

template <>
struct EnumNames<JudgeStage> {
  static constexpr std::string_view kKind = "stage";
  static constexpr std::string_view kNames[] = {"prepare", "load", "check", "measure"};
  static_assert(are_complete(kNames, JudgeStage::kMeasure));
};

/// A stage begins. No answer.
struct StageCall {
  static constexpr std::string_view kName = "stage";
  JudgeStage stage = JudgeStage::kLoad;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit("stage", self.stage);
  }
};

/// The judge needs the device exclusively. → QuietAnswer, once it has it
struct QuietCall : NoFields {
  static constexpr std::string_view kName = "quiet";
};

/// The judge shares the device again. → ShareAnswer, once no other judge measures
struct ShareCall : NoFields {
  static constexpr std::string_view kName = "share";
};

/// The judge is between two pieces of work: others may measure now. → YieldAnswer, when it may continue
struct YieldCall : NoFields {
  static constexpr std::string_view kName = "yield";
};

/// The judge has seen enough of the submission and wants its process to end. → EndedAnswer
struct EndCall : NoFields {
  static constexpr std::string_view kName = "end";
};

using JudgeCall = std::variant<StageCall, QuietCall, ShareCall, YieldCall, EndCall>;

struct QuietAnswer {
  static constexpr std::string_view kName = "quiet";
  bool others = false;  ///< other judges have something on the device

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit("others", self.others);
  }
};

struct ShareAnswer : NoFields {
  static constexpr std::string_view kName = "share";
};

struct YieldAnswer : NoFields {
  static constexpr std::string_view kName = "yield";
};

/// Nothing of the submission is left.
struct EndedAnswer : NoFields {
  static constexpr std::string_view kName = "ended";
};

using HostAnswer = std::variant<QuietAnswer, ShareAnswer, YieldAnswer, EndedAnswer>;

}  // namespace hone
