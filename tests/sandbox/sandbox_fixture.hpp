// Runs jail_probe in the jails of each isolation level.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "places.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

inline std::string probe_program() { return test::build_dir() / "tests/jail_probe"; }

inline SpawnRequest probe_request(Jail jail, const std::string& act,
                                  const std::string& detail = {}) {
  SpawnRequest request;
  request.jail = jail;
  request.label = act;
  request.program = probe_program();
  request.arguments = {act, detail};
  request.limits.memory_bytes = 128 << 20;
  request.limits.processes = 16;
  return request;
}

/// A level, the freezer that decides whether jails have a cgroup v2 ("auto") or do without one ("ptrace"), and
/// whether what they run is a program or the launcher's own image.
struct Setting {
  IsolationLevel level;
  const char* freezer;
  bool image = false;
};
inline constexpr Setting kSettings[] = {
    {IsolationLevel::kPrivate, "auto"},       {IsolationLevel::kSeparated, "auto"},
    {IsolationLevel::kFiltered, "auto"},      {IsolationLevel::kPrivate, "ptrace"},
    {IsolationLevel::kSeparated, "ptrace"},   {IsolationLevel::kFiltered, "ptrace"},
    {IsolationLevel::kPrivate, "auto", true}, {IsolationLevel::kFiltered, "ptrace", true}};

/// Whether the list has the same setting with "auto".
inline bool is_ptrace_of_auto(const Setting& setting) {
  return std::string(setting.freezer) == "ptrace" && !setting.image;
}

inline std::string setting_name(const Setting& setting) {
  const bool without = std::string(setting.freezer) == "ptrace";
  return std::string(isolation_name(setting.level)) + (without ? "_without_cgroup" : "") +
         (setting.image ? "_image" : "");
}
inline void PrintTo(const Setting& setting, std::ostream* to) { *to << setting_name(setting); }

/// One launcher per setting for the whole program; skips a level that the machine does not allow.
class EachLevel : public testing::TestWithParam<Setting> {
 protected:
  static constexpr double kPatience = 90;

  void SetUp() override {
    static std::map<std::string, std::unique_ptr<Launcher>> launchers;
    std::unique_ptr<Launcher>& launcher = launchers[setting_name(GetParam())];
    if (launcher == nullptr) {
      LauncherOptions options;
      options.minimum = IsolationLevel::kNone;
      options.maximum = GetParam().level;
      options.freezer = GetParam().freezer;
      if (GetParam().image) {
        options.image = {test::build_dir() / "tests/jail_image",
                         test::build_dir() / "libexec/hone-launcher.so"};
      }
      auto started = Launcher::start(options);
      ASSERT_TRUE(started) << started.error().message;
      launcher = std::move(*started);
    }
    launcher_ = launcher.get();
    if (launcher_->level() != GetParam().level) {
      GTEST_SKIP() << "this machine allows at most " << isolation_name(launcher_->level());
    }
    if (is_ptrace_of_auto(GetParam()) && launcher_->capabilities().freezer() == "ptrace")
      GTEST_SKIP() << "the setting 'auto' has no control group either, so it tests the same";
  }

  ProcessExit run(const SpawnRequest& request) {
    auto process = launcher_->spawn(request);
    if (!process) {
      ADD_FAILURE() << process.error().message;
      return {};
    }
    auto exit = (*process)->wait(kPatience);
    if (!exit) {
      ADD_FAILURE() << exit.error().message;
      return {};
    }
    return *exit;
  }
  ProcessExit candidate(const std::string& act, const std::string& detail = {}) {
    return run(probe_request(Jail::kCandidate, act, detail));
  }
  ProcessExit builder(const std::string& act, const std::string& detail = {}) {
    return run(probe_request(Jail::kBuilder, act, detail));
  }

  Launcher* launcher_ = nullptr;
};

inline std::string name_of(const testing::TestParamInfo<Setting>& info) {
  return setting_name(info.param);
}

}  // namespace hone
