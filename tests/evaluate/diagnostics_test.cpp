// Compiler output: what concerns the submission comes through, nothing else of the machine does.
#include "evaluate/diagnostics.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Diagnostics, KeepsWhatIsLocatedInTheSubmission) {
  EXPECT_EQ(submission_diagnostics("submission.cpp: In function 'f':\n"
                                   "submission.cpp:3:5: error: 'x' was not declared\n"
                                   "    3 |     x = 1;\n"
                                   "      |     ^\n",
                                   "submission.cpp"),
            "submission.cpp: In function 'f':\n"
            "submission.cpp:3:5: error: 'x' was not declared\n"
            "    3 |     x = 1;\n"
            "      |     ^\n");
}

TEST(Diagnostics, DropsOtherFilesAndTheirContents) {
  EXPECT_EQ(submission_diagnostics("In file included from submission.cpp:1:\n"
                                   "/etc/passwd:1:1: error: 'root' does not name a type\n"
                                   "    1 | root:x:0:0:root:/root:/bin/bash\n"
                                   "      | ^~~~\n"
                                   "compilation terminated.\n",
                                   "submission.cpp"),
            "in <passwd>: error: 'root' does not name a type\n");
}

TEST(Diagnostics, TellsWhatTheLinkerMissed) {
  EXPECT_EQ(submission_diagnostics("/usr/bin/ld: /tmp/ccX.o: in function `add_relu':\n"
                                   "submission.cpp:(.text+0x5): undefined reference to `helper'\n"
                                   "collect2: error: ld returned 1 exit status\n",
                                   "submission.cpp"),
            "link error: undefined reference to `helper'\n");
  EXPECT_EQ(submission_diagnostics("/usr/bin/ld: required symbol `add_relu' not defined\n",
                                   "submission.cpp"),
            "link error: required symbol `add_relu' not defined; the entry must be defined and "
            "declared extern \"C\"\n");
}

TEST(Diagnostics, AreBounded) {
  std::string words;
  for (int i = 0; i < 100000; ++i) words += "submission.cpp:1:1: error: again\n";
  EXPECT_LE(submission_diagnostics(words, "submission.cpp", 1000).size(), 1000u);
}

}  // namespace
}  // namespace hone
