// hone reads no hardware counters of AMD's devices: rocprofiler is not supported.
#include "counters.hpp"
#include "hone/plugin/failure.hpp"

namespace hone_gpu {
namespace {

std::int32_t refuse(hone_error* error) {
  return hone::plugin::guard(
      error, [] { hone::plugin::fail(HONE_UNIMPLEMENTED, "counters: the backend hip has none"); });
}

}  // namespace

std::int32_t open_counters(hone_device*, const char*, std::uint32_t, hone_counters**,
                           hone_error* error) {
  return refuse(error);
}
std::int32_t begin_pass(hone_counters*, hone_error* error) { return refuse(error); }
std::int32_t end_pass(hone_counters*, std::uint32_t*, hone_error* error) { return refuse(error); }
std::int32_t read_counters(hone_counters*, std::uint32_t, hone_launch_counters*,
                           hone_error* error) {
  return refuse(error);
}
void close_counters(hone_counters*) {}

}  // namespace hone_gpu
