// Names the types and macros as the vendors' own headers do for their runtime compilers: 64 bits are
// long long, and the macros have the tokens of CUDA's own, which may be included as well.
#include "headers.hpp"

#include "vendor.h"

namespace hone_gpu {
namespace {

constexpr char kIntegers[] = R"(#pragma once
#include <climits>
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT8_MIN SCHAR_MIN
#define INT8_MAX SCHAR_MAX
#define UINT8_MAX UCHAR_MAX
#define INT16_MIN SHRT_MIN
#define INT16_MAX SHRT_MAX
#define UINT16_MAX USHRT_MAX
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define UINT32_MAX UINT_MAX
#define INT64_MIN LLONG_MIN
#define INT64_MAX LLONG_MAX
#define UINT64_MAX ULLONG_MAX
namespace std {
using ::int8_t;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::uint8_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
}
)";

constexpr char kSizes[] = R"(#pragma once
namespace std {
using size_t = decltype(sizeof(0));
using ptrdiff_t = decltype((char*)0 - (char*)0);
}
using std::size_t;
using std::ptrdiff_t;
#ifndef offsetof
#define offsetof(type, member) ((size_t) & (((type*)0)->member))
#endif
#ifndef NULL
#define NULL 0
#endif
)";

constexpr char kLimits[] = R"(#pragma once
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN (-SHRT_MAX - 1)
#define SHRT_MAX 0x7fff
#define USHRT_MAX 0xffff
#define INT_MIN (-INT_MAX - 1)
#define INT_MAX 0x7fffffff
#define UINT_MAX 0xffffffff
#define LLONG_MIN (-LLONG_MAX - 1)
#define LLONG_MAX 0x7fffffffffffffffLL
#define ULLONG_MAX 0xffffffffffffffffUL
#define LONG_MIN (-LONG_MAX - 1)
#define LONG_MAX LLONG_MAX
#define ULONG_MAX ULLONG_MAX
)";

constexpr char kFloats[] = R"(#pragma once
#define FLT_EPSILON 1.1920928955078125e-07f
#define FLT_MIN 1.17549435082228750797e-38f
#define FLT_MAX 3.40282346638528859812e+38f
#define DBL_EPSILON 2.2204460492503130808e-16
#define DBL_MIN 2.2250738585072013831e-308
#define DBL_MAX 1.7976931348623157081e+308
)";

constexpr char kMath[] = R"(#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fc00000)
#endif
)";

// What this one declares is there without it.
constexpr char kNothing[] = "#pragma once\n";

}  // namespace

const std::vector<Header>& headers_in_memory() {
  static const std::vector<Header> headers = [] {
    std::vector<Header> made{
        {"cstdint", kIntegers}, {"stdint.h", kIntegers}, {"cstddef", kSizes}, {"stddef.h", kSizes},
        {"climits", kLimits},   {"limits.h", kLimits},   {"cfloat", kFloats}, {"float.h", kFloats},
        {"cmath", kMath},       {"math.h", kMath},
    };
    for (const char* name : kImpliedHeaders) made.push_back({name, kNothing});
    return made;
  }();
  return headers;
}

}  // namespace hone_gpu
