#include "player/count.hpp"

#include <cstdlib>
#include <utility>

#include "base/files.hpp"
#include "model/launch_counters.hpp"
#include "player/cache_sweep.hpp"
#include "player/calls.hpp"
#include "plugin/call.hpp"
#include "sandbox/seal.hpp"

namespace hone {
namespace {

constexpr std::uint32_t kLaunchesMax = 64;  // of a call
constexpr std::uint32_t kSweeps = 1;        // launches of a pass before those of the call
constexpr int kPassesMax = 64;              // hone's set of counters needs fewer than ten

/// In each pass, empties the cache and makes the launches of the call. Rationale: begin_pass leaves data in the cache
/// that the first kernel would have to write back (docs/adr/0049), so the sweep runs after it.
Status make_passes(CallPlayer& player, CacheSweep& sweep, hone_counters* counters,
                   const Value& call) {
  const hone_backend_factory& table = player.table();
  hone_error error = empty_error();
  for (int pass = 0; pass < kPassesMax; ++pass) {
    HONE_TRY(player.restore(call));
    HONE_TRY(checked(table.begin_pass(counters, &error), error, "begin a pass"));
    HONE_TRY(sweep.run());
    HONE_TRY(player.launch(call));
    std::uint32_t is_last = 0;
    HONE_TRY(checked(table.end_pass(counters, &is_last, &error), error, "end a pass"));
    if (is_last != 0) return {};
  }
  return unavailable("the counters need more than " + std::to_string(kPassesMax) + " passes");
}

Result<Value> counted(CallPlayer& player, hone_counters* counters, const Value& request) {
  const Value::Array& calls = list_in(request, "calls");
  if (calls.empty()) return invalid_argument("the request has no call");
  const Value& call = calls.front();
  const std::size_t launches = list_in(call, "launches").size();
  if (launches > kLaunchesMax) {
    return failed_precondition("found " + std::to_string(launches) +
                               " launches in a call, expected at most " +
                               std::to_string(kLaunchesMax));
  }
  HONE_TRY(write_file(kArtifactFile, request.find("artifact")->as_bytes()));
  HONE_TRY(player.load(request));
  HONE_TRY(player.make_buffers(call));
  CacheSweep sweep(player);
  HONE_TRY(sweep.open(request.find("harness")->as_bytes(),
                      static_cast<std::uint64_t>(request.find("sweep_bytes")->as_int())));
  HONE_TRY(make_passes(player, sweep, counters, call));
  Value list = Value::array();
  for (std::uint32_t i = 0; i < launches; ++i) {
    hone_launch_counters found{};
    found.struct_size = sizeof found;
    hone_error error = empty_error();
    HONE_TRY(checked(player.table().read_counters(counters, kSweeps + i, &found, &error), error,
                     "read counters"));
    list.push(launch_counters_to_value(found));
  }
  return list;
}

/// Before the request, so that nothing of the submission is in this process while CUPTI starts.
Result<hone_counters*> open_all(CallPlayer& player, const PlayerArguments& given) {
  HONE_TRY(player.open(given.library, static_cast<std::uint32_t>(std::atoi(given.device.c_str()))));
  if (player.table().open_counters == nullptr)
    return failed_precondition("the backend reads no hardware counters");
  hone_counters* counters = nullptr;
  hone_error error = empty_error();
  HONE_TRY(checked(player.table().open_counters(player.device(), given.tool.c_str(),
                                                kSweeps + kLaunchesMax, &counters, &error),
                   error, "hardware counters"));
  return counters;
}

}  // namespace

int count(const PlayerArguments& given) {
  const auto files = device_files(given.library);
  if (!files) return fail_with(files.error());
  if (Status sealed = seal_module(given.readable, working_folder(), *files); !sealed)
    return fail_with(sealed.error());
  CallPlayer player;
  const Result<hone_counters*> counters = open_all(player, given);
  const auto request = request_from_host();
  if (!request) return 0;  // the host has closed the connection
  const auto launches = counters ? counted(player, *counters, *request) : counters.error();
  return answer_host(launches ? Value::map({{"launches", *launches}})
                              : Value::map({{"problem", launches.error().message}}));
}

}  // namespace hone
