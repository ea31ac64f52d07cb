// BackendDescription: the checked description that a backend plugin gives of itself.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "base/result.hpp"
#include "model/value.hpp"

namespace hone {

enum class ParameterType { kText, kInteger, kNumber, kFlag, kTexts };

template <>
struct EnumNames<ParameterType> {
  static constexpr std::string_view kKind = "type of a parameter";
  static constexpr std::string_view kNames[] = {"str", "int", "float", "bool", "[str]"};
  static_assert(are_complete(kNames, ParameterType::kTexts));
};

/// Values of a parameter that are paths. Builders may read these paths.
enum class PathKind { kNone, kFile, kFolder };

template <>
struct EnumNames<PathKind> {
  static constexpr std::string_view kKind = "kind of a path";
  static constexpr std::string_view kNames[] = {"", "file", "folder"};
  static_assert(are_complete(kNames, PathKind::kFolder));
};

/// One key of a backend's section of the configuration.
struct BackendParameter {
  std::string name;
  ParameterType type = ParameterType::kText;
  Value fallback;  ///< its default, of this type
  std::string doc;
  double low = 0, high = 0;          ///< range of numbers
  std::vector<std::string> choices;  ///< of texts; empty: any text
  PathKind path = PathKind::kNone;
};

/// The names of keys that hone itself reads in a backend's section. A backend's parameters have other names.
const std::vector<std::string>& shared_backend_keys();

/// A program or library of the vendor that a tool of hone needs.
struct DeviceTool {
  std::string
      parameter;  ///< key of the backend's section that can name another one; empty: not supported
  std::string path;  ///< absolute; empty: none was found
  std::string help;  ///< how to install it
};

/// A program that checks the memory accesses of device code.
struct DeviceSanitizer : DeviceTool {
  struct Run {
    std::string name;                    ///< "memcheck"
    std::vector<std::string> arguments;  ///< "{report}" stands for the report's path
  };
  std::vector<Run> runs;  ///< empty: the backend supports no sanitizer
};

/// A library that reads a device's hardware counters.
struct DeviceCounters : DeviceTool {
  std::vector<std::string> libraries;  ///< paths where it may be, in the order of preference
  std::vector<std::string> packages;   ///< the same in Python's site-packages
  std::vector<std::string> symbols;    ///< functions that it must have
};

/// Takes the path that the backend's `options` name, unless they say "auto". Returns whether they name one.
bool use_named_path(DeviceTool& tool, const Value& options);

/// hone_backend_factory::describe, in core/include/hone/backend.h, documents each member.
struct BackendDescription {
  std::string name;
  std::string summary, fingerprint, withholds;
  std::vector<std::string> languages;           ///< the first one is that of device code
  std::map<std::string, std::string> suffixes;  ///< by language: ".py"
  std::vector<BackendParameter> parameters;
  std::vector<std::string> device_nodes, driver_folders;
  std::vector<std::int64_t> device_numbers;  ///< of the devices that it lists
  std::string harness, known_answer;         ///< empty: the judge's own texts
  bool replays_plans = false;                ///< of modules (hone/recorded_plan.hpp)
  std::vector<std::string> reports;          ///< reports that a build can add
  DeviceSanitizer sanitizer;
  DeviceCounters counters;

  /// Whether submissions are code of a device with memory of its own.
  bool has_device_code() const { return withholds != "freeze"; }
};

/// `written`: the output of describe of the backend called `name`. Unknown members are ignored.
Result<BackendDescription> read_backend_description(const Value& written, std::string name);

}  // namespace hone
