// Requests of the host to a judge. Each struct names its fields once, for the writer, the strict reader and the tests.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "judge_protocol/findings.hpp"
#include "judge_protocol/form.hpp"
#include "judge_protocol/no_fields.hpp"
#include "judge_protocol/reference_error.hpp"
#include "judge_protocol/settings.hpp"
#include "model/plan.hpp"
#include "model/task.hpp"

namespace hone {

/// The dataset's own code: a reference gives the expected outputs, a baseline is timed.
enum class TrustedRole { kReference, kBaseline };

template <>
struct EnumNames<TrustedRole> {
  static constexpr std::string_view kKind = "role";
  static constexpr std::string_view kNames[] = {"reference", "baseline"};
  static_assert(are_complete(kNames, TrustedRole::kBaseline));
};

/// The plans of one artifact. Form::kEntry is always there.
using FormPlans = std::map<Form, Plan>;

/// Asks for the facts of the device that the judge has opened. → FactsReply
struct OpenRequest : NoFields {
  static constexpr std::string_view kName = "open";
};

/// Hands over the judge's own device code, built for this device. Descriptors: harness, known answer. → FactsReply
struct EquipRequest : NoFields {
  static constexpr std::string_view kName = "equip";
};

/// Loads a reference or a baseline, which stays until it is dropped. Descriptors: see `from`. → InstalledReply, or
/// JudgedReply if the code failed.
struct InstallRequest {
  static constexpr std::string_view kName = "install";
  TrustedRole role = TrustedRole::kReference;
  std::string key;        ///< the new entry
  std::string reference;  ///< key of the reference that a baseline is timed with
  /// Key of an entry whose process serves the new one, in its place; empty: none. With one, the only descriptor is the
  /// artifact; without one, they are a process's (messages.hpp).
  std::string from;
  std::int64_t pid = 0;
  bool module = false;  ///< a Python module
  Task task;            ///< without sources
  MeasureSettings settings;
  std::int64_t seed = 0;
  FormPlans plans;
  std::optional<Calibration> known_times = {};     ///< of this baseline, from an earlier judge
  std::optional<ReferenceError> known_error = {};  ///< of this reference

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit("role", self.role);
    visit("key", self.key);
    visit("reference", self.reference);
    visit("from", self.from);
    visit("pid", self.pid);
    visit("module", self.module);
    visit("task", self.task);
    visit("settings", self.settings);
    visit("seed", self.seed);
    visit("plans", self.plans);
    visit("known_times", self.known_times);
    visit("known_error", self.known_error);
  }
};

/// Judges one submission. Descriptors: a process's, or with `kept` the artifact alone. → calls of the judge (calls.hpp),
/// then JudgedReply
struct JudgeRequest {
  static constexpr std::string_view kName = "judge";
  std::string reference, baseline;  ///< keys of installed entries
  std::int64_t pid = 0;
  bool module = false;
  std::int64_t runner = 0;  ///< the host's number of the submission's process
  bool kept = false;  ///< the judge has kept the process of that number from an earlier submission
  Task task;          ///< without sources
  MeasureSettings settings;
  std::int64_t seed = 0;
  FormPlans plans;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit("reference", self.reference);
    visit("baseline", self.baseline);
    visit("pid", self.pid);
    visit("module", self.module);
    visit("runner", self.runner);
    visit("kept", self.kept);
    visit("task", self.task);
    visit("settings", self.settings);
    visit("seed", self.seed);
    visit("plans", self.plans);
  }
};

/// Tries answers that take no work against the task's tolerance (judge/admit.hpp). → AdmittedReply
struct AdmitRequest {
  static constexpr std::string_view kName = "admit";
  std::string reference;
  Task task;
  std::int64_t seed = 0;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit("reference", self.reference);
    visit("task", self.task);
    visit("seed", self.seed);
  }
};

/// Drops an installed entry, if there is one. No reply.
struct DropRequest {
  static constexpr std::string_view kName = "drop";
  std::string key;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit("key", self.key);
  }
};

/// Lets a kept process go, if there is one. No reply.
struct ForgetRequest {
  static constexpr std::string_view kName = "forget";
  std::int64_t runner = 0;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit("runner", self.runner);
  }
};

/// Gives memory back that is kept for later use. No reply.
struct TrimRequest : NoFields {
  static constexpr std::string_view kName = "trim";
};

using HostRequest = std::variant<OpenRequest, EquipRequest, InstallRequest, JudgeRequest,
                                 AdmitRequest, DropRequest, ForgetRequest, TrimRequest>;

}  // namespace hone
