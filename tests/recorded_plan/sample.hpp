// A recorded plan with a step of each kind.
#pragma once

#include <string>

#include "hone/recorded_plan.hpp"

namespace hone::test {

inline recorded::Launch sample_launch() {
  recorded::Launch launch;
  launch.kernel = 0;
  launch.grid = {4, 2, 1};
  launch.block = {32, 1, 1};
  launch.cluster = {2, 1, 1};
  launch.shared_bytes = 64;
  launch.overlaps = true;
  launch.parameters = std::string(192, 'p');
  launch.addresses = {{0, {0, 0}}, {8, {1, 1024}}};
  recorded::TensorMap map;
  map.at = 64;
  map.type = 7;
  map.rank = 2;
  map.place = {0, 256};
  map.sizes = {16, 32};
  map.strides = {64};
  map.box = {16, 8};
  map.element_strides = {1, 1};
  map.swizzle = 3;
  launch.tensor_maps = {map};
  return launch;
}

inline recorded::Operator sample_operator() {
  using plugin::Value;
  recorded::Operator call;
  call.name = "aten.mul.out";
  call.arguments = Value::array(
      {Value::map({{"tensor", 0}}), 2.5, Value::array({Value::map({{"dtype", "int8"}}), nullptr})});
  call.keywords = Value::map({{"out", Value::map({{"tensor", 1}})}});
  call.tensors = {{{0, 0}, "float32", {2, 3}, {3, 1}}, {{1, 16}, "bfloat16", {}, {}}};
  call.results = {1};
  return call;
}

/// Memories: a tensor of the task (4096 bytes), private memory (1024), a global (8).
inline recorded::Plan sample_plan() {
  using recorded::MemoryKind;
  recorded::Plan plan;
  plan.architecture = "sm_90a";
  plan.images = {{std::string("image\0of code", 13), "libtorch_cuda.so"}};
  plan.kernels = {{0, "add", 65536, 50, true}};
  plan.memories = {{MemoryKind::kTask, 4096, 0, 0, "", 0, 0},
                   {MemoryKind::kPrivate, 1024, 0, 0, "", 0, 8},
                   {MemoryKind::kGlobal, 8, 0, 0, "factor", 0, 0}};
  plan.streams = 2;
  plan.events = 1;
  plan.tuned = {{"count: 7", {"block: 64", "block: 128"}, {{"block: 256", "out of resource"}}}};
  plan.setup = {{0, recorded::Write{{2, 0}, "eight by", {}}}};
  plan.run = {{1, sample_launch()},
              {1, recorded::Record{0}},
              {0, recorded::Wait{0}},
              {0, recorded::Copy{{1, 0}, {0, 0}, 16, 4, 16, 64}},
              {0, recorded::Write{{1, 0}, std::string(16, 'w'), {{8, {0, 4096}}}}},
              {0, recorded::Fill{{1, 8}, 4, 0xffffffff, 2, 3, 64}},
              {0, sample_operator()},
              {0, recorded::Fill{{1, 0}, 1, 3, 8, 1, 0}, 1, 0},
              {0, recorded::Fill{{1, 0}, 4, 3, 2, 1, 0}, 1, 1}};
  return plan;
}

}  // namespace hone::test
