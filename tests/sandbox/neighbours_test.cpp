// Jails against each other, at every isolation level: two concurrent ones that know each other's process numbers,
// and two in the same slot one after the other.
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/files.hpp"
#include "sandbox/cgroup.hpp"
#include "sandbox_fixture.hpp"

namespace hone {
namespace {

using testing::AnyOf;
using testing::IsEmpty;

/// How an act ended: the errno's name it printed, the signal's name, or "done".
std::string outcome(const ProcessExit& exit) {
  if (exit.signal != 0) return signal_name(exit.signal);
  if (exit.exit_code == 0) return "done";
  if (exit.exit_code != 1) return "exit " + std::to_string(exit.exit_code) + " " + exit.output;
  return exit.output.substr(0, exit.output.find('\n'));
}

const auto kRefused = AnyOf("EPERM", "ENOSYS", "EACCES", "ENOENT", "ESRCH", "EROFS", "SIGSYS");

constexpr int kLooksMax = 100;

/// The control group that this process is in; empty where none was found before another test's group went away, which
/// ends the search.
std::string group_of(pid_t pid, const std::string& root) {
  std::error_code error;
  std::filesystem::recursive_directory_iterator next(root, error);
  for (; !error && next != std::filesystem::recursive_directory_iterator(); next.increment(error)) {
    std::error_code gone;
    if (!next->is_directory(gone)) continue;
    const std::string members = "\n" + read_kernel_file(next->path().string() + "/cgroup.procs");
    if (members.find("\n" + std::to_string(pid) + "\n") != std::string::npos)
      return next->path().string();
  }
  return {};
}

class Neighbours : public EachLevel {
 protected:
  std::unique_ptr<Process> neighbour(Jail jail) {
    const bool of_builder = jail == Jail::kBuilder;
    auto started = launcher_->spawn(probe_request(jail, of_builder ? "build:wait" : "seal:wait"));
    EXPECT_TRUE(started) << started.error().message;
    return started ? std::move(*started) : nullptr;
  }
};

const std::vector<std::string> kAgainstProcesses = {
    "clock-of",     "resolution-of", "affinity-of", "pin-other",  "schedule-other",
    "nice-other",   "limit-other",   "sigio",       "writev",     "readv",
    "queue-signal", "ptrace",        "kcmp",        "pidfd-open", "kill"};

TEST_P(Neighbours, OtherJail_CannotBeReached) {
  for (const Jail of_other : {Jail::kCandidate, Jail::kBuilder}) {
    const auto other = neighbour(of_other);
    ASSERT_NE(other, nullptr);
    const std::string pid = std::to_string(other->pid());
    for (const std::string& act : kAgainstProcesses) {
      EXPECT_THAT(outcome(candidate("seal:" + act, pid)), kRefused) << act;
      EXPECT_THAT(outcome(builder("build:" + act, pid)), kRefused) << act;
    }
    for (const char* file : {"mem", "environ", "maps", "status", "fd/0", "root/etc/passwd"}) {
      const std::string path = "/proc/" + pid + "/" + file;
      EXPECT_THAT(outcome(candidate("seal:read", path)), kRefused) << path;
      EXPECT_THAT(outcome(builder("build:read", path)), kRefused) << path;
    }
    EXPECT_EQ(other->wait(0).error().code, Code::kDeadlineExceeded) << "it was ended";
    cpu_set_t own, theirs;
    ASSERT_EQ(::sched_getaffinity(0, sizeof own, &own), 0);
    ASSERT_EQ(::sched_getaffinity(other->pid(), sizeof theirs, &theirs), 0);
    EXPECT_TRUE(CPU_EQUAL(&own, &theirs));
    EXPECT_LT(::getpriority(PRIO_PROCESS, static_cast<id_t>(other->pid())), 19);
  }
}

TEST_P(Neighbours, HostAndLauncher_CannotBeReached) {
  const std::string host = std::to_string(::getpid());
  for (const std::string& act : kAgainstProcesses) {
    EXPECT_THAT(outcome(candidate("seal:" + act, host)), kRefused) << act;
    EXPECT_THAT(outcome(builder("build:" + act, host)), kRefused) << act;
  }
  EXPECT_THAT(outcome(builder("build:nice-user")), kRefused);
}

TEST_P(Neighbours, NamesOfTheKernel_AreNotShared) {
  const std::vector<std::string> acts = {
      "shm-open", "shmget",  "shmctl",      "semget",   "semctl",    "msgget", "msgctl",
      "mq-open",  "add-key", "request-key", "keyctl",   "mq-unlink", "unix",   "inet",
      "udp",      "netlink", "inotify",     "fanotify", "flock",     "lock",   "memfd"};
  for (const std::string& act : acts) {
    EXPECT_THAT(outcome(candidate("seal:" + act)), kRefused) << act;
    EXPECT_THAT(outcome(builder("build:" + act)), kRefused) << act;
  }
  EXPECT_THAT(outcome(candidate("seal:sysinfo")), kRefused) << "the load of other slots";
}

TEST_P(Neighbours, FilesOfTheSameUser_CannotBeMarked) {
  // At `filtered` the jails have the user of this file, and Landlock does not look at these calls.
  const std::string path = testing::TempDir() + "hone-mark-" + std::to_string(::getpid());
  ASSERT_TRUE(write_file(path, "mine"));
  for (const char* act : {"chmod", "chown", "utime", "xattr"}) {
    EXPECT_THAT(outcome(candidate(std::string("seal:") + act, path)), kRefused) << act;
    EXPECT_THAT(outcome(builder(std::string("build:") + act, path)), kRefused) << act;
  }
  EXPECT_EQ(std::filesystem::status(path).permissions() & std::filesystem::perms::others_write,
            std::filesystem::perms::none);
  std::filesystem::remove(path);
}

TEST_P(Neighbours, OwnCgroup_CannotBeLeft) {
  const std::string root = launcher_->capabilities().cgroup_v2_root;
  if (root.empty() || std::string(GetParam().freezer) == "ptrace") GTEST_SKIP() << "no cgroup v2";
  const auto other = neighbour(Jail::kCandidate);
  ASSERT_NE(other, nullptr);
  std::string group;
  for (int i = 0; i < kLooksMax && group.empty(); ++i) group = group_of(other->pid(), root);
  ASSERT_FALSE(group.empty()) << "the neighbour is in no group below " << root;
  for (const char* file : {"/cgroup.procs", "/cgroup.freeze", "/cgroup.kill", "/cgroup.threads"}) {
    EXPECT_THAT(outcome(candidate("seal:write", group + file)), kRefused) << file;
    EXPECT_THAT(outcome(builder("build:write", group + file)), kRefused) << file;
  }
  EXPECT_THAT(outcome(builder("build:write", root + "/cgroup.procs")), kRefused);
}

TEST_P(Neighbours, NextInTheSlot_FindsNothing) {
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(builder("build:find-plants").output, "0 found\n");
    EXPECT_NE(builder("build:plant").output, "0 left\n") << "it left nothing that could be found";
  }
  EXPECT_EQ(builder("build:find-plants").output, "0 found\n");
  EXPECT_THAT(outcome(candidate("seal:create", "/tmp/planted")), kRefused);
}

TEST_P(Neighbours, OutputOfOtherProcesses_IsNotFound) {
#ifdef HONE_SANITIZED
  GTEST_SKIP() << "a sanitizer ends who reads all of its memory";
#endif
  for (int round = 0; round < 3; ++round) {
    for (const Jail jail : {Jail::kCandidate, Jail::kBuilder}) {
      const std::string said = run(probe_request(jail, "say-the-word")).output;
      EXPECT_EQ(said.size(), 65536u) << said.substr(0, 100);
      EXPECT_EQ(run(probe_request(jail, "find-the-word")).output, "0 found\n");
    }
  }
}

TEST_P(Neighbours, FilesThatTheyLeft_CannotBeLocked) {
  const std::string name = "locked-" + std::to_string(::getpid());
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(outcome(builder("build:plant-locked", name)), "done");
    EXPECT_EQ(builder("build:find-plants").output, "0 found\n") << "the slot can be used again";
  }
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::temp_directory_path())) {
    EXPECT_FALSE(std::filesystem::exists(entry.path() / name, ignored)) << entry.path();
  }
}

TEST_P(Neighbours, Crash_LeavesNoCoreDump) {
  // 1 and not 0: the kernel would start a handler for 0.
  EXPECT_EQ(candidate("core-limit").output, "1 1\n");
  EXPECT_EQ(builder("core-limit").output, "1 1\n");
  EXPECT_EQ(outcome(candidate("seal:clear-core-limit")), "EPERM");
  EXPECT_EQ(outcome(builder("build:clear-core-limit")), "EPERM");
}

TEST_P(Neighbours, Gaps_ExistAtTheirLevel) {
  // core/sandbox/gaps.cpp says so.
  const bool walled = GetParam().level == IsolationLevel::kPrivate;
  EXPECT_EQ(outcome(candidate("seal:stat", "/etc/passwd")), walled ? "ENOENT" : "done");
  EXPECT_EQ(outcome(builder("build:stat", "/etc/passwd")), walled ? "ENOENT" : "done");
  SpawnRequest request = probe_request(Jail::kBuilder, "build:fill-files", "8");
  request.limits.file_bytes = 1 << 20;  // of a file; a private folder has room for four
  EXPECT_EQ(outcome(run(request)), walled ? "ENOSPC" : "done");
  // Only a private folder limits the number of files. Without one, a single setting is tested.
  const bool is_first = std::string(GetParam().freezer) == "auto" && !GetParam().image;
  if (walled || is_first) {
    EXPECT_EQ(outcome(builder("build:make-files", "16400")), walled ? "ENOSPC" : "done");
  }
}

TEST_P(Neighbours, WithoutTheSeal_MostAttacksWork) {
  // What stops these above is the filter alone, at the level where jails have one user.
  if (GetParam().level != IsolationLevel::kFiltered)
    GTEST_SKIP() << "other mechanisms are active, too";
  const auto other = neighbour(Jail::kCandidate);
  ASSERT_NE(other, nullptr);
  const std::string pid = std::to_string(other->pid());
  for (const char* act : {"clock-of", "affinity-of", "pin-other", "schedule-other", "nice-other",
                          "limit-other", "sigio", "queue-signal"}) {
    EXPECT_EQ(outcome(candidate(act, pid)), "done") << act;
  }
  for (const char* act :
       {"inotify", "flock", "lock", "memfd", "msgctl", "sysinfo", "clear-core-limit"}) {
    EXPECT_EQ(outcome(candidate(act)), "done") << act;
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Neighbours, testing::ValuesIn(kSettings), name_of);

}  // namespace
}  // namespace hone
