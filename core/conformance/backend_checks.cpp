// Checks of backends: the table and describe(). They open no device.
#include "conformance/checks.hpp"
#include "plugin/backend.hpp"
#include "plugin/call.hpp"
#include "sandbox/device_files.hpp"

namespace hone {
namespace {

Result<std::unique_ptr<Backend>> load(const CheckSubject& subject) {
  HONE_ASSIGN(const PluginLibrary library, PluginLibrary::load(subject.path));
  return Backend::open(library, std::make_shared<HostServices>(library.name(), subject.host));
}

Result<CheckResult> table(const CheckSubject& subject) {
  HONE_TRY(load(subject));
  return passed();
}

Result<CheckResult> describe(const CheckSubject& subject) {
  HONE_ASSIGN(const auto backend, load(subject));
  HONE_ASSIGN(const Value first, backend->describe(subject.config));
  HONE_ASSIGN(const Value second, backend->describe(subject.config));
  if (first == second) return passed();
  return internal_error("describe: expected the same twice, found " + to_json(first) + " and " +
                        to_json(second));
}

Result<CheckResult> device_files(const CheckSubject& subject) {
  HONE_ASSIGN(const auto backend, load(subject));
  HONE_ASSIGN(const BackendDescription description, backend->description());
  HONE_TRY(check_device_files({description.device_nodes, description.driver_folders}));
  return passed();
}

Result<CheckResult> garbage_config(const CheckSubject& subject) {
  HONE_ASSIGN(const auto backend, load(subject));
  for (const std::string& garbage : garbage_configs()) {
    const auto written = call_for_bytes("describe", [&](hone_sink* out, hone_error* error) {
      return backend->factory()->describe(borrow(garbage), out, error);
    });
    // A draft of the ABI requires no "parameters", so a backend without configuration passes.
    if (written) return CheckResult{CheckOutcome::kWarning, "accepted an invalid configuration"};
  }
  return passed();
}

Result<CheckResult> release_null(const CheckSubject& subject) {
  HONE_ASSIGN(const auto backend, load(subject));
  backend->factory()->release_buffer(nullptr);
  backend->factory()->close_device(nullptr);
  return passed();
}

}  // namespace

const std::vector<Check>& backend_checks() {
  static const std::vector<Check> checks{
      {"backend.table", "has the function table of the host's ABI version", table},
      {"backend.describe", "describes itself, with correct types and repeatably", describe},
      {"backend.device_files", "names device nodes and driver folders that hone allows",
       device_files},
      {"backend.garbage_config", "survives an invalid configuration", garbage_config},
      {"backend.release_null", "accepts null handles in release and close", release_null},
  };
  return checks;
}

}  // namespace hone
