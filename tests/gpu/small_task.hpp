// A small task of device code.
#pragma once

#include <string>

#include "model/task.hpp"

namespace hone::test {

inline constexpr const char* kReference = R"(
// hone: plan reference
// hone: launch reference grid = ceil_div(n, 256) block = 256
// hone: plan exact
// hone: launch exact grid = ceil_div(n, 256) block = 256
extern "C" __global__ void reference(const float* x, const float* y, float* out, long long n) {
  long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
}
extern "C" __global__ void exact(const float* x, const float* y, double* out, long long n) {
  long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= n) return;
  double sum = (double)x[i] + (double)y[i];
  out[i] = sum > 0 ? sum : 0;
}
)";
inline constexpr const char* kBaseline = R"(
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) { float sum = x[i] + y[i]; out[i] = sum > 0 ? sum : 0; }
}
)";

inline Task small_task(const std::string& backend) {
  Task task;
  task.dataset = "test";
  task.id = "add_relu";
  task.entry = "add_relu";
  task.dims = {"n"};
  task.tensors = {{"x", Role::kIn, DType::kF32, {"n"}},
                  {"y", Role::kIn, DType::kF32, {"n"}},
                  {"out", Role::kOut, DType::kF32, {"n"}}};
  task.scalars = {{"n", DType::kI64, "n", 0, 0}};
  task.arguments = {"x", "y", "out", "n"};
  task.shown = {{{"n", 1}}, {{"n", 1003}}};
  task.hidden = {{{{"n", {2, 33}}}}};
  task.timed = {{"n", 4096}};
  task.families = {{"normal", {}, {}}, {"scaled", {"scaled", -6, 6}, {}}};
  task.tolerance.rtol = 2.4e-7;
  task.run_seconds = 5;
  task.backends[backend] = {
      {backend}, {"reference.cu", kReference}, {"baseline.cu", kBaseline}, {}};
  return task;
}

}  // namespace hone::test
