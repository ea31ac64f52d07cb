// A task that is a matrix product, like the shipped one.
#pragma once

#include "episode/service_fixture.hpp"

namespace hone::test {

inline Task product_task() {
  Task task = small_task("product");
  task.tags = {"autotune"};
  task.entry = "matmul";
  task.dims = {"m", "n", "k"};
  task.tensors = {{"a", Role::kIn, DType::kF32, {"m", "k"}},
                  {"b", Role::kIn, DType::kF32, {"k", "n"}},
                  {"c", Role::kOut, DType::kF32, {"m", "n"}}};
  task.scalars = {
      {"m", DType::kI64, "m", 0, 0}, {"n", DType::kI64, "n", 0, 0}, {"k", DType::kI64, "k", 0, 0}};
  task.arguments = {"a", "b", "c", "m", "n", "k"};
  task.shown = {{{"m", 4}, {"n", 5}, {"k", 3}}};
  task.hidden = {HiddenShape{{{"m", {2, 33}}, {"n", {2, 33}}, {"k", {2, 33}}}}};
  task.timed = {{"m", 300}, {"n", 200}, {"k", 100}};
  return task;
}

}  // namespace hone::test
