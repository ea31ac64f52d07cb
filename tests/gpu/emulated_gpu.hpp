// A small task of device code, and what an evaluator over the emulated driver needs.
#pragma once

#include <memory>
#include <string>

#include "evaluate/shared_machine.hpp"

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

inline std::shared_ptr<const Task> small_task(const std::string& backend) {
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
  return std::make_shared<const Task>(std::move(task));
}

inline EvaluatorOptions emulated_options(const std::string& backend) {
  EvaluatorOptions options = quick_options();
  options.backend = backend;
  options.device_code = true;
  options.toolchains.clear();
  options.toolchains[backend] = {};
  options.backend_library = build_dir() / "tests/gpu" / ("backend_" + backend + "_emulated.so");
  options.devices = {{0, 0, {0}}};
  options.measure.set_mb = 1;
  options.measure.round_ms = 0.5;
  return options;
}

}  // namespace hone::test
