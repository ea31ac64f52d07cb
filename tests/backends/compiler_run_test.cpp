// Recorded output of gcc and clang, and the failure that a backend reports for it.
#include "hone/plugin/compiler_run.hpp"

#include <gtest/gtest.h>

namespace hone::plugin {
namespace {

TEST(CompilerRun, Failure_FollowsTheCompilersOutput) {
  const struct {
    const char* words;
    const char* failure;
  } cases[] = {
      {"", ""},
      {"k.cpp:1:1: error: 'flaot' does not name a type\n", ""},
      {"g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n",
       "killed"},
      {"collect2: fatal error: ld terminated with signal 9 [Killed]\n", "killed"},
      {"g++: fatal error: CPU time limit exceeded signal terminated program cc1plus\n",
       "timed_out"},
      {"collect2: fatal error: ld terminated with signal 24 [CPU time limit exceeded]\n",
       "timed_out"},
      {"cc1plus: out of memory allocating 65536 bytes after a total of 1048576 bytes\n",
       "out_of_memory"},
      {"virtual memory exhausted: Cannot allocate memory\n", "out_of_memory"},
      {"LLVM ERROR: out of memory\n", "out_of_memory"},
      {"clang++-19: error: clang frontend command terminated by signal 9\n", "killed"},
      {"clang++-19: error: unable to execute command: CPU time limit exceeded\n", "timed_out"},
  };
  for (const auto& one : cases) EXPECT_EQ(failure_in(one.words), one.failure) << one.words;
}

/// As waitpid reports it.
int exited(int status) { return status << 8; }

TEST(CompilerRun, PhraseOfAFailureInTheOutput_CountsOnlyIfTheCompilerFailed) {
  CompilerRun run;
  run.output =
      "k.cpp:1:20: warning: address of local variable\n  return &x; // never out of memory\n";
  EXPECT_EQ(build_failure(run), "");
  run.status = exited(1);
  EXPECT_EQ(build_failure(run), "out_of_memory");
  run.output = "k.cpp:1:1: error: 'flaot' does not name a type\n";
  EXPECT_EQ(build_failure(run), "refused");
  run.status = SIGKILL;
  EXPECT_EQ(build_failure(run), "killed");
  run.timed_out = true;
  EXPECT_EQ(build_failure(run), "timed_out");
}

CompilerRun run_shell(const char* script, double seconds_max, unsigned core_seconds_max = 0) {
  return run_compiler({"/bin/sh", "-c", script}, seconds_max, core_seconds_max);
}

TEST(CompilerRun, ProcessThatWaits_IsKilledAtTheLimitOfElapsedTime) {
  const CompilerRun run = run_shell("echo begun; exec sleep 100", 2);
  EXPECT_TRUE(run.timed_out);
  EXPECT_EQ(run.output, "begun\n");
  EXPECT_TRUE(WIFSIGNALED(run.status));
  EXPECT_EQ(build_failure(run), "timed_out");
}

TEST(CompilerRun, ProcessThatComputes_IsEndedAtTheLimitOfProcessorTime) {
  rlimit before{}, after{};
  getrlimit(RLIMIT_CPU, &before);
  const CompilerRun run = run_shell("while :; do :; done", 60, 1);
  getrlimit(RLIMIT_CPU, &after);
  EXPECT_FALSE(run.timed_out);
  ASSERT_TRUE(WIFSIGNALED(run.status)) << run.status;
  EXPECT_EQ(WTERMSIG(run.status), SIGXCPU);
  EXPECT_EQ(build_failure(run), "timed_out");
  EXPECT_EQ(after.rlim_cur, before.rlim_cur);
}

}  // namespace
}  // namespace hone::plugin
