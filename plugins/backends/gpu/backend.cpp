// The table of a GPU backend: device code, built without a device and launched from host code of ours.
#include <string>

#include "build.hpp"
#include "counters.hpp"
#include "describe.hpp"
#include "device.hpp"
#include "hone/plugin.hpp"
#include "vendor.h"

namespace hone_gpu {
namespace {

using hone::plugin::guard;

int32_t describe(hone_bytes config, hone_sink* out, hone_error* error) {
  return guard(error, [&] {
    const hone::plugin::Value given = hone::plugin::from_msgpack(config);
    if (!given.is_map() && !given.is_nil()) {
      hone::plugin::invalid_argument("configuration: expected a map, found " +
                                     std::string(given.type_name()));
    }
    hone::plugin::write(out, description());
  });
}

int32_t probe(const hone_host* host, hone_sink* out, hone_error* error) {
  return guard(error, [&] { hone::plugin::write(out, probed(host)); });
}

int32_t build_request(const hone_host*, hone_bytes request, hone_sink* out, hone_error* error) {
  return guard(error,
               [&] { hone::plugin::write(out, build(hone::plugin::from_msgpack(request))); });
}

}  // namespace

constexpr hone_backend_factory kBackend = {
    sizeof(hone_backend_factory),
    describe,
    probe,
    build_request,
    open_device,
    close_device,
    facts,
    create_buffer,
    export_buffer,
    import_buffer,
    map_buffer,
    write_buffer,
    read_buffer,
    copy_buffer,
    read_rows,
    pin_memory,
    buffer_address,
    nullptr,  // guard_buffer: the device's pages are of 2 MiB, and too large to guard an array with
    release_buffer,
    prepare_load,
    load,
    unload,
    get_kernel,
    launch,
    wait,
    mark,
    between_marks,
    free_memory,
    use_python,
    kHasSanitizer ? create_exact_buffer : nullptr,
    kHasCounters ? open_counters : nullptr,
    kHasCounters ? begin_pass : nullptr,
    kHasCounters ? end_pass : nullptr,
    kHasCounters ? read_counters : nullptr,
    kHasCounters ? close_counters : nullptr,
    chosen_configurations,
};

}  // namespace hone_gpu

HONE_EXPORT_BACKEND(hone_gpu::kBackend, hone_gpu::kName, "1.0.0");
