// Form: the use that a plan of an artifact has.
#pragma once

#include "base/enum_names.hpp"

namespace hone {

/// Which plan of an artifact a round runs.
enum class Form {
  kEntry,   ///< a submission's or a baseline's only one; a reference's plain one
  kExact,   ///< a reference's: float outputs are doubles
  kInputs,  ///< a reference's, where it fills the inputs of its task
  kVaried,  ///< the same, less foreseeable
  kOwn,     ///< a reference's: what the plain one gives, as doubles
  kStrict,  ///< a reference's: as the plain one, without TF32
  kError,   ///< a reference's: says how far the plain one is from the exact one (Order::kObserved)
  kShortcuts  ///< a reference's: says how far an answer that takes less work is, another one at each call
};

template <>
struct EnumNames<Form> {
  static constexpr std::string_view kKind = "form";
  static constexpr std::string_view kNames[] = {"entry", "exact",  "inputs", "varied",
                                                "own",   "strict", "error",  "shortcuts"};
  static_assert(are_complete(kNames, Form::kShortcuts));
};

}  // namespace hone
