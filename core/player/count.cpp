#include "player/count.hpp"

#include <cstdlib>
#include <utility>

#include "base/clock.hpp"
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

/// Milliseconds of each part of a request, for the host's log.
class Stages {
 public:
  /// Ends a part.
  void add(const char* name) {
    const double now_s = monotonic_s();
    ms_.set(name, (now_s - since_s_) * 1e3);
    since_s_ = now_s;
  }
  Value& value() { return ms_; }

 private:
  Value ms_ = Value::map();
  double since_s_ = monotonic_s();
};

/// In each pass, empties the cache and makes the launches of the call. Rationale: begin_pass leaves data in the cache
/// that the first kernel would have to write back (docs/adr/0049), so the sweep runs after it.
Status make_passes(CallPlayer& player, CacheSweep& sweep, hone_counters* counters,
                   const Value& call, Stages& stages) {
  const hone_backend_factory& table = player.table();
  hone_error error = empty_error();
  for (int pass = 0; pass < kPassesMax; ++pass) {
    HONE_TRY(player.restore(call));
    HONE_TRY(checked(table.begin_pass(counters, &error), error, "begin a pass"));
    if (pass == 0) stages.add("begin");
    HONE_TRY(sweep.run());
    HONE_TRY(player.launch(call));
    std::uint32_t is_last = 0;
    HONE_TRY(checked(table.end_pass(counters, &is_last, &error), error, "end a pass"));
    if (is_last == 0) continue;
    stages.add("passes");
    stages.value().set("pass_count", pass + 1);
    return {};
  }
  return unavailable("the counters need more than " + std::to_string(kPassesMax) + " passes");
}

Result<Value> read_all(CallPlayer& player, hone_counters* counters, std::size_t launches) {
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

/// Opens the sweep before the host learns that the submission begins. Rationale: this uses the device, so it fails if the device
/// was lost while the process waited, and the host then starts another one.
Status begin(CacheSweep& sweep, const Value& request) {
  HONE_TRY(sweep.open(request.find("harness")->as_bytes(),
                      static_cast<std::uint64_t>(request.find("sweep_bytes")->as_int())));
  return begin_for_host() ? Status() : unavailable("the host has closed the connection");
}

/// The answer. `open_ms`: the time to open the device and the library (ms).
Result<Value> counted(CallPlayer& player, hone_counters* counters, const Value& request,
                      double open_ms) {
  Stages stages;
  CacheSweep sweep(player);
  HONE_TRY(begin(sweep, request));
  stages.add("sweep");
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
  stages.add("load");
  HONE_TRY(player.make_buffers(call));
  stages.add("buffers");
  HONE_TRY(make_passes(player, sweep, counters, call, stages));
  HONE_ASSIGN(Value list, read_all(player, counters, launches));
  stages.add("read");
  stages.value().set("open", open_ms);
  return Value::map({{"launches", std::move(list)}, {"stage_ms", stages.value()}});
}

Result<hone_counters*> open_counters(const CallPlayer& player, const PlayerArguments& given) {
  hone_counters* counters = nullptr;
  hone_error error = empty_error();
  HONE_TRY(checked(player.table().open_counters(player.device(), given.tool.c_str(),
                                                kSweeps + kLaunchesMax, &counters, &error),
                   error, "hardware counters"));
  return counters;
}

/// Before the request, so that nothing of the submission is in this process while the device and CUPTI are opened.
Result<hone_counters*> open_all(CallPlayer& player, const PlayerArguments& given) {
  HONE_TRY(player.open(given.library, static_cast<std::uint32_t>(std::atoi(given.device.c_str()))));
  if (player.table().open_counters == nullptr)
    return failed_precondition("the backend reads no hardware counters");
  return open_counters(player, given);
}

Value answer_of(const Result<Value>& counted) {
  return counted ? *counted : Value::map({{"problem", counted.error().message}});
}

/// Whether a further request follows. Rationale: a submission can leave something in the memory of this process, for example a
/// full heap of the device, so the process serves one submission. A test build shows what happens otherwise.
bool has_more([[maybe_unused]] const Value& request) {
#if defined(HONE_TEST_BUILD)
  const Value* again = request.find("again");
  return again != nullptr && *again == Value(true);
#else
  return false;
#endif
}

}  // namespace

int count(const PlayerArguments& given) {
  const auto files = device_files(given.library);
  if (!files) return fail_with(files.error());
  if (Status sealed = seal_module(given.readable, working_folder(), *files); !sealed)
    return fail_with(sealed.error());
  CallPlayer player;
  const double begun_s = monotonic_s();
  Result<hone_counters*> counters = open_all(player, given);
  if (!counters) return answer_host(answer_of(counters.error()));
  const double open_ms = (monotonic_s() - begun_s) * 1e3;
  if (!greet_host()) return 0;
  for (;;) {
    const auto request = request_from_host();
    if (!request) return 0;  // the host has closed the connection
    const int status = answer_host(answer_of(counted(player, *counters, *request, open_ms)));
    if (status != 0 || !has_more(*request)) return status;
    player.table().close_counters(*counters);
    counters = open_counters(player, given);
    if (!counters) return fail_with(counters.error());
    if (!greet_host()) return 0;
  }
}

}  // namespace hone
