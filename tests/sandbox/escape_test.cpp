// Escape attempts of a sealed candidate and a sealed builder, at every isolation level of this machine.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>

#include "base/files.hpp"
#include "places.hpp"
#include "sandbox/landlock.hpp"
#include "sandbox_fixture.hpp"

namespace hone {
namespace {

using testing::AnyOf;

class Candidate : public EachLevel {};
class Builder : public EachLevel {};

/// How an act ended: the errno's name it printed, the signal's name, or "done".
std::string outcome(const ProcessExit& exit) {
  if (exit.signal != 0) return signal_name(exit.signal);
  if (exit.exit_code == 0) return "done";
  if (exit.exit_code != 1) return "exit " + std::to_string(exit.exit_code) + " " + exit.output;
  return exit.output.substr(0, exit.output.find('\n'));
}

TEST_P(Candidate, ForbiddenCalls_AreRefused) {
  const std::map<std::string, std::string> expected = {
      {"fork", "EPERM"},      {"inet", "EPERM"},       {"udp", "EPERM"},
      {"inet6", "EPERM"},     {"unix", "EPERM"},       {"vsock", "EPERM"},
      {"netlink", "EPERM"},   {"socketpair", "EPERM"}, {"keyctl", "EPERM"},
      {"io_uring", "EPERM"},  {"io_setup", "EPERM"},   {"userfaultfd", "EPERM"},
      {"perf", "EPERM"},      {"memfd", "EPERM"},      {"timerfd", "EPERM"},
      {"setitimer", "EPERM"}, {"affinity", "EPERM"},   {"timer_create", "EPERM"},
      {"priority", "EPERM"},  {"dumpable", "EPERM"},   {"pdeathsig", "EPERM"},
      {"kill-all", "EPERM"},  {"clone3", "ENOSYS"},    {"kill-parent", "EPERM"},
      {"bpf", "SIGSYS"},      {"unshare", "SIGSYS"},   {"setns", "SIGSYS"},
      {"mount", "SIGSYS"},
  };
  for (const auto& [act, wanted] : expected) {
    EXPECT_EQ(outcome(candidate("seal:" + act)), wanted) << act;
  }
}

TEST_P(Candidate, FilesAfterTheSeal_AreNotReached) {
  EXPECT_THAT(outcome(candidate("seal:read", "/etc/passwd")), AnyOf("EACCES", "ENOENT"));
  EXPECT_THAT(outcome(candidate("seal:read", "/usr/lib/os-release")), AnyOf("EACCES", "ENOENT"));
  EXPECT_THAT(outcome(candidate("seal:read", "/proc/1/environ")), AnyOf("EACCES", "ENOENT"));
  EXPECT_EQ(outcome(candidate("seal:create", "/tmp/hone-escaped")), "EPERM");
  EXPECT_EQ(outcome(candidate("seal:write", "/proc/self/oom_score_adj")), "EPERM");
  EXPECT_EQ(outcome(candidate("seal:list", "/")), "EPERM");
  EXPECT_EQ(outcome(candidate("seal:run", "/bin/true")), "EPERM");
}

TEST_P(Candidate, ScratchFolder_IsTheOnlyWritablePlace) {
  if (landlock_abi() == 0) GTEST_SKIP() << "nothing can be written without Landlock";
  const auto writing = [&](const std::string& act, const std::string& detail) {
    SpawnRequest request = probe_request(Jail::kCandidate, "seal-writes:" + act, detail);
    request.scratch_bytes = 4 << 20;
    request.limits.file_bytes = 2 << 20;
    return run(request);
  };
  const auto unseen = AnyOf("EACCES", "ENOENT", "EROFS");
  EXPECT_THAT(outcome(writing("read", "/etc/passwd")), unseen);
  EXPECT_THAT(outcome(writing("create", "/tmp/hone-escaped")), unseen);
  EXPECT_THAT(outcome(writing("write", "/proc/self/oom_score_adj")), unseen);
  EXPECT_EQ(outcome(writing("flock", "")), "EPERM");
  EXPECT_EQ(outcome(writing("create", "inside")), "done");
  EXPECT_EQ(outcome(writing("fill-files", "2")), "done");
  const ProcessExit full = writing("fill-and-stay", "8");
  if (GetParam().level == IsolationLevel::kPrivate) {
    EXPECT_EQ(outcome(full), "ENOSPC");
  } else {
    EXPECT_TRUE(full.out_of_memory) << outcome(full);
  }
}

TEST_P(Candidate, PrivateRoot_NeedsNoLandlock) {
  if (GetParam().level < IsolationLevel::kPrivate) GTEST_SKIP() << "no private root";
  EXPECT_EQ(outcome(candidate("seal-no-landlock:read", "/etc/passwd")), "ENOENT");
  EXPECT_EQ(outcome(candidate("seal-no-landlock:read", "/home")), "ENOENT");
  EXPECT_EQ(outcome(candidate("create", "/tmp-file")), "EROFS");  // not even before the seal
  EXPECT_EQ(outcome(candidate("create", "/usr/lib/hone-escaped")), "EROFS");
}

TEST_P(Candidate, OtherProcess_CannotBeTouched) {
  auto other = launcher_->spawn(probe_request(Jail::kCandidate, "seal:wait"));
  ASSERT_TRUE(other) << other.error().message;
  for (const pid_t pid : {(*other)->pid(), ::getpid()}) {
    const std::string detail = std::to_string(pid);
    EXPECT_EQ(outcome(candidate("seal:kill", detail)), "EPERM");
    EXPECT_EQ(outcome(candidate("seal:ptrace", detail)), "SIGSYS");
    EXPECT_EQ(outcome(candidate("seal:readv", detail)), "SIGSYS");
    EXPECT_EQ(outcome(candidate("seal:prlimit", detail)), "EPERM");
  }
  EXPECT_EQ((*other)->wait(0).error().code, Code::kDeadlineExceeded);
}

TEST_P(Candidate, HonestCalls_AreAllowed) {
  EXPECT_EQ(outcome(candidate("seal:honest")), "done");
  EXPECT_EQ(outcome(candidate("seal-threads:thread")), "done");
  EXPECT_EQ(outcome(candidate("seal-threads:fork")), "EPERM");
}

TEST_P(Candidate, WithoutThreads_CannotMakeAny) {
  EXPECT_EQ(outcome(candidate("seal:thread-bomb")), "EPERM");
  EXPECT_EQ(outcome(candidate("seal-threads:thread-bomb")), "EAGAIN");
}

TEST_P(Candidate, LibraryInAMemoryFile_IsLoadedAfterTheSeal) {
  const auto bytes = read_file(test::build_dir() / "tests/libsandbox_library.so");
  ASSERT_TRUE(bytes) << bytes.error().message;
  const auto library = memory_file("artifact", *bytes);
  ASSERT_TRUE(library) << library.error().message;
  SpawnRequest request = probe_request(Jail::kCandidate, "seal:load");
  request.fds = {library->get()};
  EXPECT_EQ(outcome(run(request)), "done");
}

TEST_P(Builder, CallsThatCompilersDoNotNeed_AreRefused) {
  const std::map<std::string, std::string> expected = {
      {"inet", "EPERM"},        {"inet6", "EPERM"},   {"unix", "EPERM"},  {"vsock", "EPERM"},
      {"netlink", "EPERM"},     {"keyctl", "EPERM"},  {"bpf", "EPERM"},   {"perf", "EPERM"},
      {"userfaultfd", "EPERM"}, {"mount", "EPERM"},   {"setns", "EPERM"}, {"unshare", "EPERM"},
      {"io_uring", "ENOSYS"},   {"clone3", "ENOSYS"}, {"setsid", "EPERM"}};
  for (const auto& [act, wanted] : expected) {
    EXPECT_EQ(outcome(builder("build:" + act)), wanted) << act;
  }
}

TEST_P(Builder, Files_AreTheToolchainAndItsFolder) {
  const auto unseen = AnyOf("EACCES", "ENOENT", "EROFS");
  EXPECT_THAT(outcome(builder("build:read", "/etc/passwd")), unseen);
  EXPECT_THAT(outcome(builder("build:list", "/home")), unseen);
  EXPECT_THAT(outcome(builder("build:create", "/usr/hone-escaped")), unseen);
  EXPECT_THAT(outcome(builder("build:create", "/tmp/hone-escaped")), unseen);
  EXPECT_THAT(outcome(builder("build:write", "/proc/self/oom_score_adj")), unseen);
  EXPECT_EQ(outcome(builder("build:create", "inside")), "done");
  EXPECT_EQ(outcome(builder("build:fill")), "EFBIG");
}

TEST_P(Builder, FolderOfAnotherBuilder_CannotBeRead) {
  SpawnRequest request = probe_request(Jail::kBuilder, "build:announce-folder");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  request.fds = {ends[1]};
  auto other = launcher_->spawn(request);
  ASSERT_TRUE(other) << other.error().message;
  char folder[4096] = {};
  ASSERT_GT(::read(ends[0], folder, sizeof folder - 1), 0);
  // In a private root both folders have the same name, and each sees its own: without the other's
  // file.
  EXPECT_THAT(outcome(builder("build:read", std::string(folder) + "/secret")),
              AnyOf("EACCES", "ENOENT"));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_P(Builder, OtherProcess_CannotBeTouched) {
  const std::string us = std::to_string(::getpid());
  EXPECT_EQ(outcome(builder("build:ptrace", us)), "EPERM");
  EXPECT_EQ(outcome(builder("build:readv", us)), "EPERM");
  EXPECT_THAT(outcome(builder("build:kill", us)), AnyOf("EPERM", "ESRCH"));
}

TEST_P(Builder, Supervision_CannotBeBroken) {
  (void)builder("build:kill-parent");  // may be refused, be ignored by pid 1, or succeed
  (void)builder("build:kill-all");
  EXPECT_TRUE(launcher_->alive());
  EXPECT_EQ(outcome(builder("build:honest")), "done");
}

TEST_P(Builder, SanitizerOfADevice_MakesPipesAndConnectsAndNothingMore) {
  EXPECT_EQ(outcome(builder("sanitizer:pipe-node")), "done");
  EXPECT_EQ(outcome(builder("sanitizer:connect")), "done");
  EXPECT_EQ(outcome(builder("module:pipe-node")), "EPERM");
  EXPECT_EQ(outcome(builder("module:connect")), "EPERM");
  const std::map<std::string, std::string> expected = {
      {"device-node", "EPERM"}, {"block-node", "EPERM"}, {"file-node", "EPERM"},
      {"inet", "EPERM"},        {"inet6", "EPERM"},      {"udp", "EPERM"},
      {"vsock", "EPERM"},       {"netlink", "EPERM"},    {"keyctl", "EPERM"},
      {"bpf", "EPERM"},         {"perf", "EPERM"},       {"userfaultfd", "EPERM"},
      {"mount", "EPERM"},       {"setns", "EPERM"},      {"unshare", "EPERM"},
      {"io_uring", "ENOSYS"},   {"clone3", "ENOSYS"}};
  for (const auto& [act, wanted] : expected)
    EXPECT_EQ(outcome(builder("sanitizer:" + act)), wanted) << act;
}

TEST_P(Builder, CompilerInItsFolder_Runs) {
  EXPECT_EQ(outcome(builder("build:compile", "g++")), "done");
}

INSTANTIATE_TEST_SUITE_P(Levels, Candidate, testing::ValuesIn(kSettings), name_of);
INSTANTIATE_TEST_SUITE_P(Levels, Builder, testing::ValuesIn(kSettings), name_of);

}  // namespace
}  // namespace hone
