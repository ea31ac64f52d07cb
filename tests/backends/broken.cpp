// A backend with one mistake, which HONE_BROKEN names, over the library HONE_BROKEN_OVER. With it, broken_test.py
// shows that each test case can fail.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hone/plugin.hpp"

namespace {

using hone::plugin::Value;

/// What is known of a kernel, and of a launch that is put off.
struct Known {
  std::string entry;
  std::vector<std::uint32_t> kinds;
};
struct PutOff {
  hone_kernel* kernel;
  hone_buffer* buffer;
  hone_launch launch;
  std::vector<std::uint64_t> values;
};

hone_backend_factory inner;
std::map<hone_kernel*, Known> kernels;
std::map<hone_buffer*, std::uint64_t> sizes;
std::vector<PutOff> put_off;
hone_buffer* first_buffer = nullptr;
hone_artifact* last_artifact = nullptr;
bool closed = false;  // some device
int calls = 0;

bool broken(const char* how) {
  const char* named = std::getenv("HONE_BROKEN");
  return named != nullptr && std::strcmp(named, how) == 0;
}

int32_t taken(std::string& to, const std::function<int32_t(hone_sink*)>& call) {
  hone_sink sink{sizeof sink, &to, [](void* self, const void* data, std::size_t size) {
                   static_cast<std::string*>(self)->append(static_cast<const char*>(data), size);
                   return std::int32_t{HONE_OK};
                 }};
  return call(&sink);
}

/// Runs a call that writes a map, and lets `spoil` change it.
template <typename Call, typename Spoil>
int32_t spoilt(hone_sink* out, Call&& call, Spoil&& spoil) {
  std::string bytes;
  const int32_t code = taken(bytes, call);
  if (code != HONE_OK) return code;
  Value map = hone::plugin::from_msgpack(std::string_view(bytes));
  spoil(map);
  hone::plugin::write(out, map);
  return HONE_OK;
}

int32_t describe(hone_bytes config, hone_sink* out, hone_error* error) {
  return spoilt(
      out, [&](hone_sink* sink) { return inner.describe(config, sink, error); },
      [](Value& map) {
        if (broken("describe_wavers")) map.set("fingerprint", std::to_string(++calls));
      });
}

int32_t probe(const hone_host* host, hone_sink* out, hone_error* error) {
  return spoilt(
      out, [&](hone_sink* sink) { return inner.probe(host, sink, error); },
      [](Value& map) {
        if (broken("probes_nothing")) map.set("devices", Value::array());
      });
}

int32_t facts(hone_device* device, hone_sink* out, hone_error* error) {
  return spoilt(
      out, [&](hone_sink* sink) { return inner.facts(device, sink, error); },
      [](Value& map) {
        if (broken("facts_waver")) map.set("memory_bytes", (std::int64_t{1} << 30) + ++calls);
        if (broken("another_architecture")) map.set("architecture", "vax");
      });
}

Value spoilt_request(Value request) {
  if (broken("builds_any_entry")) request.set("entries", Value::array());
  if (broken("reports_on_other_code") && request.at("options").find("report") != nullptr) {
    Value options = request.at("options");
    options.set("flags", Value::array({"-O0"}));
    request.set("options", std::move(options));
  }
  if (broken("has_no_headers")) {
    Value source = request.at("sources").as_array().at(0);
    std::string text = source.at("text").as_string();
    const std::size_t at = text.find("<cstdint>");
    if (at != std::string::npos) text.replace(at, 9, "<no_such>");
    source.set("text", text);
    request.set("sources", Value::array({source}));
  }
  return request;
}

int32_t build(const hone_host* host, hone_bytes request, hone_sink* out, hone_error* error) {
  const Value asked = spoilt_request(hone::plugin::from_msgpack(request));
  std::string bytes;
  hone::plugin::Packer(bytes).pack(asked);
  const hone_bytes given{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
  const int32_t code = spoilt(
      out, [&](hone_sink* sink) { return inner.build(host, given, sink, error); },
      [](Value& map) {
        if (broken("calls_host_code_its_own")) map.set("untrusted_host_code", false);
        if (broken("says_nothing")) map.set("diagnostics", "");
        if (broken("toolchain_wavers")) map.set("toolchain", std::to_string(++calls));
        if (broken("never_times_out") && map.at("failure").as_string() == "timed_out")
          map.set("failure", "refused");
        if (broken("remarks_are_diagnostics") && map.find("report") != nullptr) {
          Value report = map.at("report");
          report.set("remarks", map.at("diagnostics"));
          map.set("report", std::move(report));
        }
        if (broken("reads_failures_from_warnings") &&
            map.at("diagnostics").as_string().find("out of memory") != std::string::npos)
          map.set("ok", false).set("failure", "out_of_memory");
        if (broken("makes_no_artifact")) map.set("artifact", Value::bytes(""));
      });
  if (code == HONE_OK || !broken("errors_are_results")) return code;
  hone::plugin::write(out, Value::map({{"ok", false},
                                       {"failure", "refused"},
                                       {"diagnostics", ""},
                                       {"untrusted_host_code", false},
                                       {"artifact", Value::bytes("")}}));
  return HONE_OK;
}

int32_t open_device(const hone_host* host, uint32_t index, hone_device** out, hone_error* error) {
  return inner.open_device(host, broken("opens_another_device") ? 0 : index, out, error);
}

void close_device(hone_device* device) {
  if (device == nullptr && broken("minds_null")) std::abort();
  closed = true;
  inner.close_device(device);
}

int32_t create_buffer(hone_device* device, uint64_t bytes, hone_buffer** out, hone_error* error) {
  int32_t code = inner.create_buffer(device, bytes, out, error);
  if (code != HONE_OK && broken("makes_any_buffer")) {
    bytes = 4096;
    code = inner.create_buffer(device, bytes, out, error);
  }
  if (code != HONE_OK) return code;
  sizes[*out] = bytes;
  if (first_buffer == nullptr) first_buffer = *out;
  const char dirt = 1;
  if (broken("gives_dirty_memory")) inner.write_buffer(*out, bytes - 1, &dirt, 1, error);
  return code;
}

int32_t export_buffer(hone_buffer* buffer, int32_t* fd, hone_error* error) {
  if (!broken("lets_resize")) return inner.export_buffer(buffer, fd, error);
  *fd = memfd_create("resizable", MFD_CLOEXEC);
  return ftruncate(*fd, static_cast<off_t>(sizes[buffer])) == 0 ? HONE_OK : HONE_UNAVAILABLE;
}

int32_t import_buffer(hone_device* device, int32_t fd, uint64_t bytes, hone_buffer** out,
                      hone_error* error) {
  if (broken("imports_a_copy")) return create_buffer(device, bytes, out, error);
  int32_t code = inner.import_buffer(device, fd, bytes, out, error);
  const bool larger = fd >= 0 && lseek(fd, 0, SEEK_END) > 0;
  if (code != HONE_OK && broken(larger ? "imports_too_much" : "imports_anything"))
    code = create_buffer(device, bytes, out, error);
  if (code == HONE_OK) sizes[*out] = bytes;
  return code;
}

void* map_buffer(hone_buffer* buffer) {
  static std::map<hone_buffer*, std::vector<char>> others;
  if (!broken("maps_another_memory")) return inner.map_buffer(buffer);
  others[buffer].resize(sizes[buffer]);
  return others[buffer].data();
}

int32_t write_buffer(hone_buffer* buffer, uint64_t at, const void* data, uint64_t size,
                     hone_error* error) {
  if (size == 0 && broken("minds_no_bytes")) return HONE_INTERNAL;
  if (size > 1 && broken("loses_the_last_byte")) --size;
  const int32_t code = inner.write_buffer(buffer, at, data, size, error);
  return broken("refuses_nothing") ? HONE_OK : code;
}

int32_t read_buffer(hone_buffer* buffer, uint64_t at, void* data, uint64_t size,
                    hone_error* error) {
  const int32_t code = inner.read_buffer(buffer, at, data, size, error);
  return closed && broken("closes_for_all") ? std::int32_t{HONE_UNAVAILABLE} : code;
}

int32_t copy_buffer(hone_buffer* to, uint64_t to_at, hone_buffer* from, uint64_t from_at,
                    uint64_t size, hone_error* error) {
  if (broken("copies_nothing")) return HONE_OK;
  const int32_t code = inner.copy_buffer(to, to_at, from, from_at, size, error);
  return to == from && broken("copies_onto_itself") ? HONE_OK : code;
}

int32_t read_rows(hone_buffer* buffer, uint64_t at, uint64_t pitch, uint64_t width, uint64_t rows,
                  void* data, hone_error* error) {
  return inner.read_rows(buffer, at, broken("reads_rows_without_gaps") ? width : pitch, width, rows,
                         data, error);
}

uint64_t buffer_address(hone_buffer* buffer) {
  return inner.buffer_address(broken("has_one_address") ? first_buffer : buffer);
}

int32_t create_exact_buffer(hone_device* device, uint64_t bytes, hone_buffer** out,
                            hone_error* error) {
  if (broken("shares_exact_buffers")) return inner.create_buffer(device, bytes, out, error);
  return inner.create_exact_buffer(device, bytes, out, error);
}

int32_t guard_buffer(hone_buffer* buffer, uint64_t at, uint64_t bytes, int32_t on,
                     hone_error* error) {
  const bool inside = at < sizes[buffer];
  return broken("guards_nothing") && inside ? HONE_OK
                                            : inner.guard_buffer(buffer, at, bytes, on, error);
}

void release_buffer(hone_buffer* buffer) {
  if (buffer != nullptr && broken("clears_what_it_releases")) {
    const std::vector<char> zeros(sizes[buffer]);
    hone_error error{};
    error.struct_size = sizeof error;
    inner.write_buffer(buffer, 0, zeros.data(), zeros.size(), &error);
  }
  inner.release_buffer(buffer);
}

int32_t load(hone_device* device, int32_t fd, hone_artifact** out, hone_error* error) {
  const int32_t code = inner.load(device, fd, out, error);
  if (code == HONE_OK) last_artifact = *out;
  if (code == HONE_OK || !broken("loads_anything")) return code;
  *out = nullptr;
  return HONE_OK;
}

int32_t get_kernel(hone_artifact* artifact, const char* entry, const uint32_t* kinds,
                   uint32_t count, hone_kernel** out, hone_error* error) {
  hone_artifact* from = broken("knows_the_last_artifact") ? last_artifact : artifact;
  const int32_t code = inner.get_kernel(from, entry, kinds, count, out, error);
  if (code == HONE_NOT_FOUND && broken("finds_any_entry")) return HONE_OK;
  if (code == HONE_OK) kernels[*out] = {entry, {kinds, kinds + count}};
  return code;
}

/// What a launch gives, otherwise than it was asked.
void spoil(const Known& known, std::vector<std::uint64_t>& values) {
  for (std::size_t i = 0; i < std::min(known.kinds.size(), values.size()); ++i) {
    if (known.kinds[i] != HONE_ARGUMENT_I64) continue;
    if (broken("narrows_numbers")) values[i] &= 0xffffffff;
    if (broken("loses_an_element")) --values[i];
  }
  if (values.size() == HONE_ARGUMENTS_MAX && broken("gives_fifteen_arguments")) values.back() = 0;
}

/// A file that a fault of one process leaves to the others.
const char* mark_of_faults() {
  const char* file = std::getenv("HONE_BROKEN_MARK");
  return file != nullptr ? file : "";
}

int32_t launch(hone_kernel* kernel, hone_buffer* buffer, const hone_launch* given,
               hone_error* error) {
  std::vector<std::uint64_t> values(given->values, given->values + given->count);
  spoil(kernels[kernel], values);
  hone_launch launch = *given;
  launch.values = values.data();
  if (broken("works_over_the_first_buffer")) buffer = first_buffer;
  if (broken("runs_nothing")) return HONE_OK;
  if (broken("spreads_faults")) {
    const bool faulty = kernels[kernel].entry == "f";
    if (faulty) close(open(mark_of_faults(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    if (!faulty && access(mark_of_faults(), F_OK) == 0) return HONE_UNAVAILABLE;
  }
  if (broken("launches_late")) {
    put_off.push_back({kernel, buffer, launch, values});
    return HONE_OK;
  }
  const int32_t code = inner.launch(kernel, buffer, &launch, error);
  return code != HONE_OK && (broken("starts_anything") || broken("counts_no_arguments"))
             ? std::int32_t{HONE_OK}
             : code;
}

int32_t wait(hone_device* device, hone_error* error) {
  if (broken("launches_late")) {
    for (PutOff& one : put_off) {
      one.launch.values = one.values.data();
      inner.launch(one.kernel, one.buffer, &one.launch, error);
    }
    put_off.clear();
  }
  const int32_t code = inner.wait(device, error);
  return broken("forgives") ? std::int32_t{HONE_OK} : code;
}

int32_t between_marks(hone_device* device, double* seconds, hone_error* error) {
  const int32_t code = inner.between_marks(device, seconds, error);
  if (broken("runs_backwards")) *seconds = -1;
  return code;
}

int32_t free_memory(hone_device* device, uint64_t* bytes, hone_error* error) {
  const int32_t code = inner.free_memory(device, bytes, error);
  if (broken("forgets_memory")) *bytes = std::uint64_t{1} << 40;
  return code;
}

/// The table of the other library, with ours over it.
const hone_backend_factory* table() {
  static hone_backend_factory ours;
  const char* over = std::getenv("HONE_BROKEN_OVER");
  void* library = over != nullptr ? dlopen(over, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr) return nullptr;
  const auto* entry = static_cast<const hone_plugin*>(dlsym(library, "hone_plugin_entry"));
  inner = *static_cast<const hone_backend_factory*>(entry->get_factory(HONE_BACKEND_FACTORY_ID));
  ours = inner;
  ours.describe = describe;
  ours.probe = probe;
  ours.facts = facts;
  ours.build = build;
  ours.open_device = open_device;
  ours.close_device = close_device;
  ours.create_buffer = create_buffer;
  ours.export_buffer = export_buffer;
  ours.import_buffer = import_buffer;
  ours.map_buffer = map_buffer;
  ours.write_buffer = write_buffer;
  ours.read_buffer = read_buffer;
  ours.copy_buffer = copy_buffer;
  ours.read_rows = read_rows;
  ours.buffer_address = buffer_address;
  if (inner.guard_buffer != nullptr) ours.guard_buffer = guard_buffer;
  if (inner.create_exact_buffer != nullptr) ours.create_exact_buffer = create_exact_buffer;
  ours.release_buffer = release_buffer;
  ours.load = load;
  ours.get_kernel = get_kernel;
  ours.launch = launch;
  ours.wait = wait;
  if (inner.between_marks != nullptr) ours.between_marks = between_marks;
  if (inner.free_memory != nullptr) ours.free_memory = free_memory;
  return &ours;
}

const void* factory(const char* id) {
  static const hone_backend_factory* const made = table();
  return std::strcmp(id, HONE_BACKEND_FACTORY_ID) == 0 ? made : nullptr;
}

}  // namespace

HONE_EXPORT_PLUGIN("broken", "1.0.0", factory);
