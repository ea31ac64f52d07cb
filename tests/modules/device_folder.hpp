// The emulated device of module tests, in a folder of its own.
#pragma once

#include <cstdlib>
#include <string>

#include "gpu/emulated_device_folder.hpp"
#include "modules/device_case.hpp"

namespace hone::test {

class DeviceFolder : public EmulatedDeviceFolder {
 public:
  EvaluatorOptions options(std::size_t lanes) const {
    EvaluatorOptions options = device_options();
    options.backend_library = path() / "backend_cuda_emulated.so";
    add_lanes(options, lanes);
    options.installed_max = 2 * lanes;
    return options;
  }
};

inline Result<std::unique_ptr<Machine>> machine_of(EvaluatorOptions options) {
  HONE_TRY(use_interpreter("cuda.python", std::getenv("HONE_MODULES_PYTHON"), options));
  return Machine::start(std::move(options));
}

/// The layer of module_task("linear") with `rows` rows of 16 floats: x and out have 64 bytes each a row.
inline Task linear_of(int rows, const std::string& id) {
  auto task = module_task("linear");
  EXPECT_TRUE(task.ok());
  task->id = id;
  const auto with_rows = [rows](std::string text, const std::string& before) {
    const std::string shape = before + std::to_string(rows) + ", 16";
    for (std::size_t at = 0; (at = text.find(before + "8, 16", at)) != std::string::npos;
         at += shape.size())
      text.replace(at, before.size() + 5, shape);
    return text;
  };
  for (Tensor& tensor : task->tensors) {
    if (tensor.shape.size() == 2) tensor.shape[0] = std::to_string(rows);
  }
  for (auto& [backend, sources] : task->backends) {
    for (Source& file : sources.support)
      file.text = with_rows(file.text, file.name == "module.json" ? "[" : "(");
    sources.reference.text = with_rows(sources.reference.text, "(");
    sources.baseline.text = with_rows(sources.baseline.text, "(");
  }
  return std::move(*task);
}

inline std::string honest_text() { return text_of_file(kHere / "submissions/model.py"); }

}  // namespace hone::test
