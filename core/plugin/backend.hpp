// Backend: a backend plugin for the host and the builders. Judges and candidates use its table directly.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/enum_names.hpp"
#include "base/result.hpp"
#include "hone/backend.h"
#include "model/backend_description.hpp"
#include "model/value.hpp"
#include "plugin/host_services.hpp"
#include "plugin/plugin_library.hpp"

namespace hone {

/// A backend's checked table. It holds no device. [any thread for describe; one at a time for
/// build]
///
///   HONE_ASSIGN(auto backend, Backend::open(library, services));
///   HONE_ASSIGN(const Value facts, backend->describe(Value::map()));
class Backend {
 public:
  static Result<std::unique_ptr<Backend>> open(const PluginLibrary& library,
                                               std::shared_ptr<HostServices> services);
  /// For builders, judges and candidates: the library at `path`, with host services of its own.
  static Result<std::unique_ptr<Backend>> load(const std::filesystem::path& path);

  const std::string& name() const { return name_; }
  const hone_backend_factory* factory() const { return &factory_; }
  /// The host argument of the table's functions.
  const hone_host* host() const { return services_->table(); }

  /// The output of hone_backend_factory::describe, checked.
  Result<Value> describe(const Value& config) const;
  /// The same with an empty configuration, as a struct.
  Result<BackendDescription> description() const;
  /// {"driver", "compiler", "devices"}, checked. It opens devices: call it only in a child process.
  Result<Value> probe() const;
  /// The output of hone_backend_factory::facts for an opened device, checked.
  Result<Value> facts(hone_device* device) const;
  /// {"ok", "artifact", "untrusted_host_code", "diagnostics", "failure"}, checked. Runs compilers:
  /// only in a builder.
  Result<Value> build(const Value& request) const;

 private:
  Backend(std::string name, const hone_backend_factory& factory,
          std::shared_ptr<HostServices> services)
      : name_(std::move(name)), factory_(factory), services_(std::move(services)) {}

  const std::string name_;
  const hone_backend_factory& factory_;
  const std::shared_ptr<HostServices> services_;
};

/// Why a build failed, as hone_backend_factory::build puts it.
enum class BuildFailure { kNone, kRefused, kTimedOut, kOutOfMemory, kKilled };

template <>
struct EnumNames<BuildFailure> {
  static constexpr std::string_view kKind = "build failure";
  static constexpr std::string_view kNames[] = {"", "refused", "timed_out", "out_of_memory",
                                                "killed"};
  static_assert(are_complete(kNames, BuildFailure::kKilled));
};

/// The table of a library. Drafts require exactly the host's size, and every required function.
Result<const hone_backend_factory*> backend_factory(const PluginLibrary& library);

}  // namespace hone
