// The owner of an interpreter's files.
#include "evaluate/interpreter.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scratch_folder.hpp"

namespace hone {
namespace {

TEST(Interpreter, FolderWritableByRootOnly_IsTrusted) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give folders away";
  const auto folder = ScratchFolder::make();
  ASSERT_TRUE(folder);
  const auto packages = folder->path() / "lib/python3.11/site-packages";
  std::filesystem::create_directories(packages);
  const std::vector<std::string> paths = {folder->path().string(), "/no/such/folder"};
  EXPECT_EQ(not_roots_own(paths), "");
  ASSERT_EQ(::chown(packages.c_str(), 12345, 0), 0);
  EXPECT_EQ(not_roots_own(paths), packages.string());
  ASSERT_EQ(::chown(packages.c_str(), 0, 12345), 0);
  EXPECT_EQ(not_roots_own(paths), "");
  ASSERT_EQ(::chmod(packages.c_str(), 0775), 0);
  EXPECT_EQ(not_roots_own(paths), packages.string()) << "the group may write";
  ASSERT_EQ(::chown(packages.c_str(), 0, 0), 0);
  EXPECT_EQ(not_roots_own(paths), "");
  ASSERT_EQ(::chmod(packages.c_str(), 0757), 0);
  EXPECT_EQ(not_roots_own(paths), packages.string()) << "everyone may write";
}

TEST(Interpreter, Path_IsTheOneInTheJail) {
  EvaluatorOptions options;
  ASSERT_TRUE(use_interpreter("cpu.python", "/usr/lib/../bin/env", options));
  EXPECT_EQ(options.toolchains.at("python").compiler, "/usr/bin/env");
}

}  // namespace
}  // namespace hone
