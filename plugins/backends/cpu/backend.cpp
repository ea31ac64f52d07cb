// The cpu backend: C and C++ submissions as shared libraries, called on the cores of this machine.
#include <sched.h>
#include <unistd.h>

#include <string>

#include "build.hpp"
#include "device.hpp"
#include "hone/plugin.hpp"

namespace hone_cpu {
namespace {

using hone::plugin::Value;

int32_t describe(hone_bytes, hone_sink* out, hone_error* error) {
  return hone::plugin::guard(error, [&] {
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const std::string name = processor_name();
    hone::plugin::write(
        out,
        Value::map(
            {{"summary", "C, C++ and Python modules on this machine's processor"},
             {"devices",
              Value::array({Value::map(
                  {{"index", 0}, {"name", name}, {"cores", static_cast<std::int64_t>(cores)}})})},
             {"languages", Value::array({"c++", "c", "python"})},
             {"suffixes", Value::map({{"c++", ".cpp"}, {"c", ".c"}, {"python", ".py"}})},
             {"withholds", "freeze"},
             {"reports", Value::array({"code", "sanitizer"})},
             {"fingerprint", name + ", " + std::to_string(cores) + " cores"}}));
  });
}

/// What is opened is this machine's processor: no driver, and nothing that could fail.
int32_t probe(const hone_host* host, hone_sink* out, hone_error* error) {
  hone_device* device = nullptr;
  if (const int32_t code = open_device(host, 0, &device, error); code != HONE_OK) return code;
  return hone::plugin::guard(error, [&] {
    const Value of_device = device_facts(*device);
    close_device(device);
    hone::plugin::write(
        out,
        Value::map({{"driver", ""}, {"compiler", ""}, {"devices", Value::array({of_device})}}));
  });
}

int32_t build_request(const hone_host*, hone_bytes request, hone_sink* out, hone_error* error) {
  return hone::plugin::guard(
      error, [&] { hone::plugin::write(out, build(hone::plugin::from_msgpack(request))); });
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
    guard_buffer,
    release_buffer,
    prepare_load,
    load,
    unload,
    get_kernel,
    launch,
    wait,
    nullptr,  // mark
    nullptr,  // between_marks
    nullptr,  // free_memory
    use_python,
    nullptr,  // create_exact_buffer
    nullptr,  // open_counters, and the functions below: the processor has no such counters
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,  // chosen_configurations: it runs no recorded plans
};

}  // namespace hone_cpu

HONE_EXPORT_BACKEND(hone_cpu::kBackend, "cpu", "1.0.0");
