// Calls a backend's describe and build functions.
#include "plugin/backend.hpp"

#include "model/fields.hpp"
#include "plugin/call.hpp"
#include "plugin/factory.hpp"

namespace hone {
namespace {

Status check_facts(const Value& written) {
  constexpr std::int64_t kAny = std::int64_t{1} << 62;
  Fields f(written, "output");
  f.integer("index", 0, 1 << 16);
  f.text("name");
  f.text("architecture");
  f.text("driver");
  for (const char* key : {"memory_bytes", "cache_bytes", "multiprocessors"})
    f.integer(key, 0, kAny);
  for (const char* key : {"bytes_per_second_max", "dram_bytes_per_second"}) f.number(key, 0, 1e300);
  if (const Value* flops = f.map_or_null("flops_per_second_max")) {
    Fields rates = f.inside("flops_per_second_max", *flops);
    for (const char* precision : {"f32", "f64"}) rates.number_or(precision, 0, 0, 1e300);
    f.adopt(rates.finish_loosely());
  }
  f.flag("host_memory_reachable");
  f.map("limits");
  f.array("throttled");
  return f.finish_loosely();
}

/// Here a device may have an error instead of the required members; facts() checks these.
Status check_probe(const Value& written) {
  Fields f(written, "output");
  f.text("driver");
  f.text("compiler");
  const Value* devices = f.array("devices");
  for (std::size_t i = 0; devices != nullptr && i < devices->as_array().size(); ++i) {
    const Value& device = devices->as_array()[i];
    if (device.find("error") == nullptr) {
      f.adopt(check_facts(device));
      continue;
    }
    Fields closed = f.inside("devices", *devices).inside(std::to_string(i), device);
    closed.integer("index", 0, 1 << 16);
    closed.text("name");
    closed.text("error");
    f.adopt(closed.finish_loosely());
  }
  return f.finish_loosely();
}

Status check_build(const Value& written) {
  Fields f(written, "output");
  f.flag("ok");
  if (const Value* artifact = f.value("artifact"); artifact != nullptr && !artifact->is_bytes()) {
    f.mistake("artifact", "expected bytes, found " + std::string(artifact->type_name()));
  }
  f.flag("untrusted_host_code");
  f.text("diagnostics", kSinkBytesMax);
  if (const auto failure = parse_enum<BuildFailure>(f.text("failure")); !failure)
    f.mistake("failure", failure.error().message);
  return f.finish_loosely();
}

}  // namespace

Result<const hone_backend_factory*> backend_factory(const PluginLibrary& library) {
  HONE_ASSIGN(const hone_backend_factory* table,
              checked_factory<hone_backend_factory>(library, HONE_BACKEND_FACTORY_ID));
  if (table->struct_size != sizeof(hone_backend_factory)) {
    return invalid_argument(library.file() + ": " + HONE_BACKEND_FACTORY_ID + " of " +
                            std::to_string(table->struct_size) + " bytes, expected exactly " +
                            std::to_string(sizeof(hone_backend_factory)) + " of a draft");
  }
  // Functions that are not listed may be null.
  HONE_TRY(check_functions(library, {{"describe", table->describe != nullptr},
                                     {"probe", table->probe != nullptr},
                                     {"build", table->build != nullptr},
                                     {"open_device", table->open_device != nullptr},
                                     {"close_device", table->close_device != nullptr},
                                     {"facts", table->facts != nullptr},
                                     {"create_buffer", table->create_buffer != nullptr},
                                     {"export_buffer", table->export_buffer != nullptr},
                                     {"import_buffer", table->import_buffer != nullptr},
                                     {"map_buffer", table->map_buffer != nullptr},
                                     {"write_buffer", table->write_buffer != nullptr},
                                     {"read_buffer", table->read_buffer != nullptr},
                                     {"copy_buffer", table->copy_buffer != nullptr},
                                     {"read_rows", table->read_rows != nullptr},
                                     {"pin_memory", table->pin_memory != nullptr},
                                     {"buffer_address", table->buffer_address != nullptr},
                                     {"release_buffer", table->release_buffer != nullptr},
                                     {"prepare_load", table->prepare_load != nullptr},
                                     {"load", table->load != nullptr},
                                     {"unload", table->unload != nullptr},
                                     {"get_kernel", table->get_kernel != nullptr},
                                     {"launch", table->launch != nullptr},
                                     {"wait", table->wait != nullptr}}));
  return table;
}

Result<std::unique_ptr<Backend>> Backend::open(const PluginLibrary& library,
                                               std::shared_ptr<HostServices> services) {
  HONE_ASSIGN(const hone_backend_factory* table, backend_factory(library));
  return std::unique_ptr<Backend>(new Backend(library.name(), *table, std::move(services)));
}

Result<std::unique_ptr<Backend>> Backend::load(const std::filesystem::path& path) {
  HONE_ASSIGN(const PluginLibrary library, PluginLibrary::load(path));
  return open(library, std::make_shared<HostServices>(library.name(), HostOptions{}));
}

Result<Value> Backend::describe(const Value& config) const {
  const std::string who = name_ + ": describe";
  const std::string bytes = to_msgpack(config);
  HONE_ASSIGN(Value written, call_for_value(who, [&](hone_sink* out, hone_error* error) {
                return factory_.describe(borrow(bytes), out, error);
              }));
  const auto read = read_backend_description(written, name_);
  if (!read) return internal_error(who + ": " + read.error().message);
  return written;
}

Result<BackendDescription> Backend::description() const {
  HONE_ASSIGN(const Value written, describe(Value::map()));
  return read_backend_description(written, name_);
}

Result<Value> Backend::probe() const {
  const std::string who = name_ + ": probe";
  HONE_ASSIGN(Value written, call_for_value(who, [&](hone_sink* out, hone_error* error) {
                return factory_.probe(host(), out, error);
              }));
  if (const Status checked = check_probe(written); !checked)
    return internal_error(who + ": " + checked.error().message);
  return written;
}

Result<Value> Backend::facts(hone_device* device) const {
  const std::string who = name_ + ": facts";
  HONE_ASSIGN(Value written, call_for_value(who, [&](hone_sink* out, hone_error* error) {
                return factory_.facts(device, out, error);
              }));
  if (const Status checked = check_facts(written); !checked)
    return internal_error(who + ": " + checked.error().message);
  return written;
}

Result<Value> Backend::build(const Value& request) const {
  const std::string who = name_ + ": build";
  const std::string bytes = to_msgpack(request);
  HONE_ASSIGN(Value written, call_for_value(who, [&](hone_sink* out, hone_error* error) {
                return factory_.build(host(), borrow(bytes), out, error);
              }));
  if (const Status checked = check_build(written); !checked) {
    return internal_error(who + ": " + checked.error().message);
  }
  return written;
}

}  // namespace hone
