// The names of the causes of errors, on the wire and in messages of plugin hosts.
#pragma once

#include "base/enum_names.hpp"
#include "base/result.hpp"

namespace hone {

template <>
struct EnumNames<ErrorCause> {
  static constexpr std::string_view kKind = "cause";
  static constexpr std::string_view kNames[] = {"",           "plugin_ended",   "task_ended_plugin",
                                                "unfit_task", "address_in_use", "damaged_journal"};
  static_assert(are_complete(kNames, ErrorCause::kDamagedJournal));
};

}  // namespace hone
