// A small task for tests of the judge.
#pragma once

#include "model/task.hpp"

namespace hone::test {

/// y = f(x) over n floats: timed at 1000, shown at 8, hidden from 1 to 99, with five families of inputs.
inline Task sample_task() {
  Task task;
  task.tensors = {{"x", Role::kIn, DType::kF32, {"n"}}, {"y", Role::kOut, DType::kF32, {"n"}}};
  task.arguments = {"x", "y"};
  task.dims = {"n"};
  task.timed = {{"n", 1000}};
  task.shown = {{{"n", 8}}};
  task.hidden = {{{{"n", {1, 99}}}}};
  task.families = {{"normal", {}, {}},
                   {"cancel", {}, {}},
                   {"scaled", {}, {}},
                   {"ties", {}, {}},
                   {"sparse", {}, {}}};
  return task;
}

}  // namespace hone::test
