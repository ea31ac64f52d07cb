// Recorded output of NVRTC, ptxas, hiprtc and clang, converted to the form that hone reads.
#include "diagnostics.hpp"

#include <gtest/gtest.h>

namespace hone_gpu {
namespace {

TEST(GpuDiagnostics, NvrtcOutput_IsConverted) {
  EXPECT_EQ(normalised("bad.cu(1): error: identifier \"y\" is undefined\n"
                       "  f(float* x) { x[0] = y; }\n"
                       "                       ^\n"
                       "\n"
                       "1 error detected in the compilation of \"bad.cu\".\n",
                       "bad.cu"),
            "bad.cu:1: error: identifier \"y\" is undefined\n"
            "      |   f(float* x) { x[0] = y; }\n"
            "      |                        ^\n"
            "\n"
            "1 error detected in the compilation of \"bad.cu\".\n");
  EXPECT_EQ(normalised("/usr/include/a.h(42): error: no (3) such\n", "bad.cu"),
            "/usr/include/a.h:42: error: no (3) such\n");
}

TEST(GpuDiagnostics, PtxasOutput_IsAttributedToTheSubmission) {
  EXPECT_EQ(normalised("ptxas fatal   : Unresolved extern function 'cudaLaunchDeviceV2'\n", "k.cu"),
            "k.cu: error: Unresolved extern function 'cudaLaunchDeviceV2'\n");
}

TEST(GpuDiagnostics, MissingEntry_HidesTheCompilersSource) {
  EXPECT_EQ(normalised("__nv_name_map(2): error: identifier \"gone\" is undefined\n"
                       "  #pragma nv_mangled_name gone\n"
                       "                          ^\n"
                       "__nv_name_map(2): error: Error in parsing name expression for lowered name "
                       "lookup. Input name expression was: \" gone\"\n",
                       "k.cu"),
            "k.cu: error: no kernel for a launch: identifier \"gone\" is undefined\n");
}

TEST(GpuDiagnostics, HiprtcAndClangOutput_HasTheSourcesName) {
  EXPECT_EQ(normalised("/tmp/comgr-8ce08a/input/CompileSource:2:10: error: use of undeclared "
                       "identifier 'y'\n"
                       "  x[0] = y;\n",
                       "k.hip"),
            "k.hip:2:10: error: use of undeclared identifier 'y'\n"
            "      |   x[0] = y;\n");
  EXPECT_EQ(normalised("./k.hip:2:10: error: text\n    2 |   x[0] = y;\n", "k.hip"),
            "k.hip:2:10: error: text\n    2 |   x[0] = y;\n");
}

}  // namespace
}  // namespace hone_gpu
