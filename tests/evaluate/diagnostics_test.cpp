// Compiler output: messages about the submission are kept, and everything else about the machine is dropped.
#include "evaluate/diagnostics.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Diagnostics, MessagesAboutTheSubmission_AreKept) {
  EXPECT_EQ(submission_diagnostics("submission.cpp: In function 'f':\n"
                                   "submission.cpp:3:5: error: 'x' was not declared\n"
                                   "    3 |     x = 1;\n"
                                   "      |     ^\n",
                                   "submission.cpp")
                .text,
            "submission.cpp: In function 'f':\n"
            "submission.cpp:3:5: error: 'x' was not declared\n"
            "    3 |     x = 1;\n"
            "      |     ^\n");
}

TEST(Diagnostics, MessagesAboutOtherFiles_AreDropped) {
  EXPECT_EQ(submission_diagnostics("In file included from submission.cpp:1:\n"
                                   "/etc/passwd:1:1: error: 'root' does not name a type\n"
                                   "    1 | root:x:0:0:root:/root:/bin/bash\n"
                                   "      | ^~~~\n"
                                   "compilation terminated.\n",
                                   "submission.cpp")
                .text,
            "in <passwd>: error: 'root' does not name a type\n");
}

TEST(Diagnostics, UndefinedSymbols_AreKept) {
  EXPECT_EQ(submission_diagnostics("/usr/bin/ld: /tmp/ccX.o: in function `add_relu':\n"
                                   "submission.cpp:(.text+0x5): undefined reference to `helper'\n"
                                   "collect2: error: ld returned 1 exit status\n",
                                   "submission.cpp")
                .text,
            "link error: undefined reference to `helper'\n");
  EXPECT_EQ(submission_diagnostics("/usr/bin/ld: required symbol `add_relu' not defined\n",
                                   "submission.cpp")
                .text,
            "link error: required symbol `add_relu' not defined; the entry must be defined and "
            "declared extern \"C\"\n");
}

TEST(Diagnostics, Source_TellsWaysToCode) {
  const std::string plain = "import torch\nimport triton\n";
  const std::string extension = "from torch.utils.cpp_extension import load_inline\n";
  EXPECT_FALSE(builds_extensions(plain));
  EXPECT_TRUE(builds_extensions(extension));
  EXPECT_FALSE(may_bring_code(plain));
  for (const std::string& source :
       {extension, std::string("import ctypes"), std::string("import cupy as cp")})
    EXPECT_TRUE(may_bring_code(source)) << source;
  EXPECT_FALSE(builds_extensions("import ctypes"));
}

TEST(Diagnostics, DeviceCode_TellsThatItUsesAHeap) {
  EXPECT_FALSE(uses_heap(".visible .entry scale(.param .u64 x)"));
  EXPECT_TRUE(uses_heap(".extern .func (.param .b64 r) malloc (.param .b64 n);"));
  EXPECT_TRUE(uses_heap(".value_kind: hidden_heap_v1"));
  EXPECT_TRUE(uses_heap(".value_kind: hidden_hostcall_buffer"));
}

TEST(Diagnostics, LongCompilerOutput_IsCutToTheLimit) {
  std::string words;
  for (int i = 0; i < 100000; ++i) words += "submission.cpp:1:1: error: again\n";
  EXPECT_LE(submission_diagnostics(words, "submission.cpp", 1000).text.size(), 1000u);
}

TEST(Diagnostics, FirstError_TellsTheCompilerFromTheLinker) {
  const auto of_linker = [](const std::string& output) {
    return submission_diagnostics(output, "submission.cpp").of_linker;
  };
  const std::string compile = "submission.cpp:3:5: error: 'x' was not declared\n";
  const std::string link = "submission.cpp:(.text+0x5): undefined reference to `helper'\n";
  EXPECT_FALSE(of_linker(""));
  EXPECT_FALSE(of_linker(compile));
  EXPECT_TRUE(of_linker(link));
  EXPECT_FALSE(of_linker(compile + link));
  EXPECT_TRUE(of_linker(link + compile));
  EXPECT_TRUE(of_linker("submission.cpp:3:5: warning: unused variable 'x'\n" + link));
  EXPECT_FALSE(of_linker("/usr/include/c++/12/vector:9:1: error: no type\n" + link));
  EXPECT_FALSE(of_linker("submission.cpp:1:2: error: #error link error: none\n"));
}

TEST(Exceptions, Causes_AreReadFromWhatPythonAndTorchWrite) {
  struct Case {
    const char* message;
    ExceptionCause cause;
  };
  const Case cases[] = {
      {"", ExceptionCause::kUnknown},
      {"NameError: name 'allocate' is not defined", ExceptionCause::kMistake},
      {"ValueError: illegal memory access", ExceptionCause::kMistake},
      {"RuntimeError: a NameError was raised", ExceptionCause::kUnknown},
      {"RuntimeError: unable to find an engine", ExceptionCause::kUnknown},
      {"AcceleratorError: CUDA error: an illegal memory access was encountered",
       ExceptionCause::kKernelFault},
      {"RuntimeError: CUDA error: misaligned address", ExceptionCause::kKernelFault},
  };
  for (const Case& each : cases)
    EXPECT_EQ(exception_cause(each.message), each.cause) << each.message;
}

}  // namespace
}  // namespace hone
