// The recording driver as a program sees it, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "cubin_file.hpp"
#include "hone/recorded_plan.hpp"
#include "record/driver/types.hpp"

namespace hone::test {

/// The address of a function of the driver or of the runtime. A missing one ends the process.
void* driver_function(const char* name);
void* runtime_function(const char* name);

/// Calls a function of the driver: driver<int>("cuMemAlloc_v2", &address, bytes). Arguments must
/// have the types of the function's parameters.
template <typename Result = int, typename... Args>
Result driver(const char* name, Args... args) {
  return reinterpret_cast<Result (*)(Args...)>(driver_function(name))(args...);
}
template <typename Result = int, typename... Args>
Result runtime(const char* name, Args... args) {
  return reinterpret_cast<Result (*)(Args...)>(runtime_function(name))(args...);
}

/// Runs `body` in a child, for a process records once.
void in_child(const std::function<void()>& body);

/// TEST whose body runs in a child that has begun to record.
#define RECORD_TEST(suite, name)                                     \
  static void suite##_##name##_body();                               \
  TEST(suite, name) { hone::test::in_child(suite##_##name##_body); } \
  static void suite##_##name##_body()

void begin(const std::string& device_json = R"({"architecture": "sm_90"})");
std::uint64_t allocate(std::size_t bytes);
void* load_kernel(const CubinText& text = {});

/// Launches one block with these words as parameters.
int launch(void* function, std::initializer_list<std::uint64_t> words, void* stream = nullptr);

std::string problem();
/// The plan, as its reader accepts it. A failed test and an empty plan after a problem.
recorded::Plan finish();

}  // namespace hone::test
