// Replies of a judge to the host's requests.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "judge_protocol/findings.hpp"
#include "judge_protocol/judgement.hpp"
#include "judge_protocol/reference_error.hpp"
#include "model/value.hpp"

namespace hone {

struct FactsReply {
  static constexpr std::string_view kName = "facts";
  Value facts = Value::map();  ///< the backend's own words (docs/backends.md)

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit("facts", self.facts);
  }
};

struct InstalledReply {
  static constexpr std::string_view kName = "installed";
  std::string note;  ///< of the code that was loaded; empty: none
  bool note_warns = false;
  std::optional<Calibration> times = {};  ///< of a baseline
  std::optional<ReferenceError> error =
      {};  ///< of a reference, if the task's tolerance follows from it

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit("note", self.note);
    visit("note_warns", self.note_warns);
    visit("times", self.times);
    visit("error", self.error);
  }
};

/// Also the reply to any request that could not be done: a judgement with Ending::kFault, or of trusted code that failed.
struct JudgedReply {
  static constexpr std::string_view kName = "judged";
  Judgement judgement;
  bool kept = false;  ///< the process may serve another submission

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit("judgement", self.judgement);
    visit("kept", self.kept);
  }
};

struct AdmittedReply {
  static constexpr std::string_view kName = "admitted";
  Value report = Value::map();  ///< as `hone tasks admit` prints it (judge/admit.hpp)

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit("report", self.report);
  }
};

using JudgeReply = std::variant<FactsReply, InstalledReply, JudgedReply, AdmittedReply>;

}  // namespace hone
