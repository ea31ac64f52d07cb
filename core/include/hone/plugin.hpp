// Everything a plugin needs in C++20, header-only: include this, write a class, export it with one
// line.
//
//   #include "hone/plugin.hpp"
//   using namespace hone::plugin;
//
//   class Simple {
//    public:
//     static RewardDescription describe() {
//       return {.summary = "1 for correct", .source = "", .low = 0, .high = 1, .parameters = {}};
//     }
//     explicit Simple(const Config&) {}
//     RewardReport score(const Episode& episode) const {
//       return score_turns(episode, ReturnRule{}, [](const Turn& turn) {
//         return TurnScore{turn.correct() ? 1.0 : 0.0, {}};
//       });
//     }
//   };
//   HONE_EXPORT_REWARD(Simple, "simple", "1.0.0");
//
// The parts: plugin/value.hpp (open-ended data), plugin/msgpack.hpp (its bytes), plugin/failure.hpp
// (errors as exceptions that never cross the ABI), plugin/reader.hpp (strict maps),
// plugin/parameters.hpp (configuration), plugin/host.hpp (the host's services), plugin/reward.hpp
// and plugin/dataset.hpp (the tables). A backend fills its table of plain C functions by hand, each
// around guard(), and exports it; plugin/compiler_run.hpp, which it includes itself, runs a compiler.
#pragma once

#include <cstring>

#include "hone/backend.h"
#include "hone/plugin/dataset.hpp"
#include "hone/plugin/expression.hpp"
#include "hone/plugin/failure.hpp"
#include "hone/plugin/host.hpp"
#include "hone/plugin/msgpack.hpp"
#include "hone/plugin/parameters.hpp"
#include "hone/plugin/reader.hpp"
#include "hone/plugin/reward.hpp"
#include "hone/plugin/value.hpp"

namespace hone::plugin {

template <const hone_backend_factory& table>
const void* get_backend_factory(const char* id) {
  return id != nullptr && std::strcmp(id, HONE_BACKEND_FACTORY_ID) == 0 ? &table : nullptr;
}

}  // namespace hone::plugin

/// Exports an entry whose factories `get_factory_function` hands out; for a plugin that offers
/// several kinds.
#define HONE_EXPORT_PLUGIN(plugin_name, plugin_version, get_factory_function) \
  extern "C" {                                                                \
  const hone_plugin hone_plugin_entry = {                                     \
      sizeof(hone_plugin), HONE_ABI_MAJOR, HONE_ABI_MINOR,                    \
      plugin_name,         plugin_version, get_factory_function};             \
  }                                                                           \
  static_assert(true)

/// HONE_EXPORT_REWARD(MyReward, "my_reward", "1.0.0"); at namespace scope, once in a library.
#define HONE_EXPORT_REWARD(Type, plugin_name, plugin_version) \
  HONE_EXPORT_PLUGIN(plugin_name, plugin_version, ::hone::plugin::RewardTable<Type>::get_factory)

#define HONE_EXPORT_DATASET(Type, plugin_name, plugin_version) \
  HONE_EXPORT_PLUGIN(plugin_name, plugin_version, ::hone::plugin::DatasetTable<Type>::get_factory)

/// `table` is a constant `hone_backend_factory` with static storage.
#define HONE_EXPORT_BACKEND(table, plugin_name, plugin_version) \
  HONE_EXPORT_PLUGIN(plugin_name, plugin_version, ::hone::plugin::get_backend_factory<table>)
