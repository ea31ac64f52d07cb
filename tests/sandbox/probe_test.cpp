// The probe of sandbox features, and the choice of an isolation level.
#include "sandbox/probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/level.hpp"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A machine that allows everything.
Capabilities everything() {
  Capabilities c;
  c.root = c.seccomp = c.user_namespace = c.mount_namespace = c.pid_namespace = true;
  c.network_namespace = c.slot_users = c.cgroup_freeze = c.cgroup_memory = true;
  c.pidfd = c.ptrace = c.ptrace_users = true;
  c.landlock_abi = 7;
  return c;
}

TEST(Probe, LevelNames_RoundTrip) {
  for (const char* name : {"none", "filtered", "separated", "private"}) {
    EXPECT_EQ(isolation_name(*parse_isolation(name)), name);
  }
  EXPECT_EQ(parse_isolation("much").error().message,
            "isolation level: found 'much', expected none, filtered, separated or private");
}

TEST(Probe, MissingFeature_HasANote) {
  const Capabilities found = probe_machine();
  EXPECT_FALSE(found.kernel.empty());
  const auto noted = [&](std::string_view what) {
    for (const std::string& note : found.notes) {
      if (note.starts_with(what)) return true;
    }
    return false;
  };
  EXPECT_NE(found.landlock_abi > 0, noted("landlock: missing"));
  EXPECT_NE(found.seccomp, noted("seccomp"));
  EXPECT_NE(found.mount_namespace, noted("private root"));
  EXPECT_NE(found.pid_namespace, noted("pid namespace"));
  EXPECT_NE(found.network_namespace, noted("network namespace"));
  EXPECT_NE(found.slot_users, noted("slot users"));
  EXPECT_NE(found.pidfd, noted("pidfd"));
  EXPECT_NE(found.ptrace, noted("ptrace"));
  EXPECT_NE(found.cgroup_freeze, noted("cgroup v2") || noted("cgroup.freeze"));
  EXPECT_NE(found.cgroup_memory, noted("cgroup memory"));
}

TEST(Level, Level_FollowsFromTheFeatures) {
  Capabilities c = everything();
  EXPECT_EQ(c.level(), IsolationLevel::kPrivate);
  c.landlock_abi = 0;
  EXPECT_EQ(c.level(), IsolationLevel::kPrivate) << "a private root needs no Landlock";
  c.mount_namespace = false;
  EXPECT_EQ(c.level(), IsolationLevel::kNone) << "nothing keeps files away";
  c.landlock_abi = 1;
  EXPECT_EQ(c.level(), IsolationLevel::kSeparated);
  c.slot_users = false;
  EXPECT_EQ(c.level(), IsolationLevel::kFiltered) << "a user namespace is only for the rootless";
  c.root = false;
  EXPECT_EQ(c.level(), IsolationLevel::kSeparated);
  c.seccomp = false;
  EXPECT_EQ(c.level(), IsolationLevel::kNone);
}

TEST(Level, Options_LowerTheLevel) {
  LauncherOptions options;
  for (const IsolationLevel level : {IsolationLevel::kPrivate, IsolationLevel::kSeparated,
                                     IsolationLevel::kFiltered, IsolationLevel::kNone}) {
    options.minimum = IsolationLevel::kNone;
    options.maximum = level;
    const Ready ready = decide(options, everything());
    EXPECT_EQ(ready.level, level);
    EXPECT_EQ(ready.refused, "");
  }
}

TEST(Level, BelowTheMinimum_IsRefusedWithTheNotes) {
  LauncherOptions options;
  options.minimum = IsolationLevel::kPrivate;
  Capabilities c = everything();
  c.mount_namespace = false;
  c.notes = {"private root: unshare: operation not permitted"};
  const Ready ready = decide(options, c);
  EXPECT_EQ(ready.refused_code, Code::kFailedPrecondition);
  EXPECT_EQ(ready.refused,
            "isolation level: found separated, expected at least private; private root: unshare: "
            "operation not permitted");
}

TEST(Level, WithoutPidfds_ServingIsRefused) {
  Capabilities c = everything();
  c.pidfd = false;
  c.notes = {"pidfd: pidfd_open: function not implemented"};
  EXPECT_EQ(decide({}, c).refused,
            "pidfd_open: missing in this kernel; it needs Linux 5.3, or a newer gVisor; pidfd: "
            "pidfd_open: "
            "function not implemented");
}

TEST(Level, Candidates_KeepTheirUserIfTheFreezerNeedsIt) {
  const LauncherOptions options;
  Capabilities c = everything();
  c.mount_namespace = c.cgroup_freeze = c.ptrace_users = false;  // root in a default container
  const Ready ready = decide(options, c);
  EXPECT_EQ(ready.level, IsolationLevel::kFiltered);
  EXPECT_EQ(ready.freezer, "ptrace");
  EXPECT_THAT(ready.no_slot_users_reason, HasSubstr("CAP_SYS_PTRACE"));
  EXPECT_EQ(ready.refused, "");
  EXPECT_FALSE(uses_slot_user(ready, options, Jail::kCandidate));
  EXPECT_TRUE(uses_slot_user(ready, options, Jail::kBuilder));
}

TEST(Level, BelowTheMinimumForWantOfACapability_IsRefusedWithItsName) {
  LauncherOptions options;
  options.minimum = IsolationLevel::kSeparated;
  Capabilities c = everything();
  c.mount_namespace = c.cgroup_freeze = c.ptrace_users = false;
  EXPECT_THAT(decide(options, c).refused,
              StartsWith("isolation level: found filtered, expected at least separated; candidates "
                         "do not get their own users"));
  EXPECT_THAT(decide(options, c).refused, HasSubstr("--cap-add SYS_PTRACE"));
  c.ptrace_users = true;
  EXPECT_EQ(decide(options, c).refused, "");
  EXPECT_EQ(decide(options, c).no_slot_users_reason, "");
}

TEST(Level, Freezer_IsChosenOrRefused) {
  LauncherOptions options;
  Capabilities c = everything();
  EXPECT_EQ(decide(options, c).freezer, "cgroup");
  c.cgroup_freeze = false;
  EXPECT_EQ(decide(options, c).freezer, "ptrace");
  options.freezer = "cgroup";
  EXPECT_THAT(decide(options, c).refused, StartsWith("freezer: no cgroup on this machine"));
  options.freezer = "auto";
  c.ptrace = false;
  EXPECT_THAT(decide(options, c).refused, HasSubstr("neither cgroup.freeze nor ptrace"));
  options.freezer = "hope";
  EXPECT_EQ(decide(options, c).refused, "freezer: found 'hope', expected auto, cgroup or ptrace");
}

}  // namespace
}  // namespace hone
