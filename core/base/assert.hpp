// HONE_ASSERT: a programmer's error stops the process, in every build. No input may trigger one.
#pragma once

namespace hone {
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);
}  // namespace hone

#define HONE_ASSERT(expression) \
  ((expression) ? static_cast<void>(0) : ::hone::assertion_failed(#expression, __FILE__, __LINE__))
