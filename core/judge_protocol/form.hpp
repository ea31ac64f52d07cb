// Form: what a plan of an artifact computes.
#pragma once

#include "base/enum_names.hpp"

namespace hone {

/// The plan of an artifact that a round runs. A submission and a baseline have only kEntry; a reference has all.
enum class Form {
  kEntry,   ///< computes the answers, in the task's types
  kExact,   ///< computes the answers in double precision; float outputs are doubles
  kInputs,  ///< makes the task's inputs
  kVaried,  ///< makes inputs that a submission cannot foresee
  kOwn,     ///< computes the answers as kEntry does, but float outputs are doubles
  kStrict,  ///< computes the answers as kEntry does, but without TF32
  kError,   ///< reports the error of kEntry's answers, compared with kExact's (Order::kObserved)
  kShortcuts  ///< each call reports the error of answers of another kind that take less work than kEntry's
};

template <>
struct EnumNames<Form> {
  static constexpr std::string_view kKind = "form";
  static constexpr std::string_view kNames[] = {"entry", "exact",  "inputs", "varied",
                                                "own",   "strict", "error",  "shortcuts"};
  static_assert(are_complete(kNames, Form::kShortcuts));
};

}  // namespace hone
