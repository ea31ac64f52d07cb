// A loaded module of the emulated driver and its functions.
#pragma once

#include <memory>
#include <vector>

#include "driver.hpp"

namespace hone_emulated {

struct Function {
  const hone_emulated_module* module = nullptr;
  const hone_emulated_kernel* kernel = nullptr;
  std::uint32_t shared_bytes_max = kSharedBytesDefault;
  bool non_portable_cluster = false;
};

struct Module {
  int file = -1;
  void* library = nullptr;
  const hone_emulated_module* table = nullptr;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<CUdeviceptr> globals;  ///< variables that were asked for
};

}  // namespace hone_emulated
