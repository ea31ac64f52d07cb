// A Python module to judge, its task, and the expected result.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "adversarial/expected.hpp"
#include "evaluate/interpreter.hpp"
#include "evaluate/machine.hpp"
#include "places.hpp"

namespace hone::test {

namespace fs = std::filesystem;
using enum Outcome;

inline const fs::path kHere = test::source_dir() / "tests/modules";

/// One submission, what must come of it, and what comes of it without some defences.
struct Case {
  std::string name;
  Expected expected;
  std::vector<std::string> off = {};
  Expected without = {};
  std::string task = "linear";
  std::string own_kernels = "optional";
  bool races = false;  ///< with the judge, and does nothing wrong where it loses
};
inline std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }

inline Expected is(Outcome outcome, std::string words = "") {
  Expected expected{{outcome}, std::move(words)};
  expected.timed = false;
  return expected;
}
inline Expected caught_as(const char* what, Expected expected) {
  expected.caught = what;
  return expected;
}

inline std::string text_of_file(const fs::path& path) {
  const auto text = read_file(path.string());
  EXPECT_TRUE(text.ok()) << path;
  return text.ok() ? *text : "";
}

inline Value source(const char* name, std::string text) {
  return Value::map({{"name", name}, {"text", std::move(text)}});
}

inline Value tensor_of(const Value& spec, const char* role) {
  Value shape = *spec.find("shape");
  if (shape.as_array().empty()) shape = Value::array({1});
  Value tensor =
      Value::map({{"name", *spec.find("tensor")}, {"role", role}, {"shape", std::move(shape)}});
  if (const Value* may_change = spec.find("may_change"); may_change != nullptr)
    tensor.set("may_change", *may_change);
  return tensor;
}

/// The tensors of a module.json: inputs, the packed parameters, outputs.
inline Value tensors_of(const Value& meta) {
  Value tensors = Value::array();
  for (const Value& input : meta.find("inputs")->as_array()) tensors.push(tensor_of(input, "in"));
  std::int64_t size = 0;
  for (const Value& parameter : meta.find("parameters")->as_array()) {
    std::int64_t count = 1;
    for (const Value& extent : parameter.find("shape")->as_array()) count *= extent.as_int();
    size = std::max(size, parameter.find("at")->as_int() + count);
  }
  if (size > 0) {
    tensors.push(
        Value::map({{"name", "parameters"}, {"role", "in"}, {"shape", Value::array({size})}}));
  }
  for (const Value& output : meta.find("outputs")->as_array())
    tensors.push(tensor_of(output, "out"));
  return tensors;
}

inline Result<Task> module_task(const std::string& name) {
  const std::string layer = name == "wide" ? text_of_file(kHere / "linear/reference.py") : "";
  const std::string reference = layer + text_of_file(kHere / name / "reference.py");
  HONE_ASSIGN(const Value meta, from_json(text_of_file(kHere / name / "module.json")));
  const auto family = [](const char* kind) {
    return Value::map({{"name", kind}, {"fill", Value::map({{"kind", kind}})}});
  };
  const Value seed = Value::map({{"name", "seed"}, {"range", Value::array({0, 1 << 30})}});
  const Value sources = Value::map(
      {{"languages", Value::array({"python"})},
       {"reference", source("reference.py", reference)},
       {"baseline", source("baseline.py", reference + "\nModelNew = Model\n")},
       {"support", Value::array({source("module.json", text_of_file(kHere / name / "module.json")),
                                 source("reference.py", reference)})}});
  return task_from_value(
      Value::map({{"id", name},
                  {"title", "A layer"},
                  {"description", "A layer"},
                  {"entry", "ModelNew"},
                  {"tensors", tensors_of(meta)},
                  {"scalars", Value::array({seed})},
                  {"families", Value::array({family("varied"), family("reference")})},
                  {"shapes", Value::map({{"shown", Value::array({Value::map(), Value::map()})},
                                         {"hidden", Value::array()},
                                         {"timed", Value::map()}})},
                  {"tolerance",
                   Value::map({{"rtol", 2e-3}, {"rms", 2e-3}, {"reason", "sums of 16 products"}})},
                  {"memory_mb", 1024},
                  {"run_seconds", 5.0},
                  {"backends", Value::map({{"cpu", sources}, {"cuda", sources}})}}));
}

inline EvaluatorOptions processor_options() {
  EvaluatorOptions options = evaluator_options();
  options.toolchains.erase("c");
  return options;
}

/// The machine on which these defences are off: one at a time, kept between tests. `key`: where a
/// configuration would name the interpreter, "cpu.python".
inline Machine* machine_without(const std::vector<std::string>& off, const std::string& key,
                                EvaluatorOptions (*options_of)()) {
  static std::unique_ptr<Machine> sitting;
  static std::pair<std::string, std::vector<std::string>> sitting_is;
  if (sitting != nullptr && sitting_is == std::pair(key, off)) return sitting.get();
  sitting.reset();
  EvaluatorOptions options = options_of();
  options.evaluation_seconds = 60;
  const auto defences = Defences::without(off);
  EXPECT_TRUE(defences.ok());
  options.measure.defences = *defences;
  const Status python = use_interpreter(key, std::getenv("HONE_MODULES_PYTHON"), options);
  EXPECT_TRUE(python.ok()) << python.error().message;
  auto machine = Machine::start(std::move(options));
  EXPECT_TRUE(machine.ok()) << machine.error().message;
  if (!machine) return nullptr;
  sitting = std::move(*machine);
  sitting_is = {key, off};
  return sitting.get();
}

/// Of the case's file in the folder.
inline Result<Verdict> verdict_on(Machine* machine, const std::string& backend,
                                  const fs::path& folder, const Case& one) {
  static std::map<std::string, std::shared_ptr<const Task>> tasks;
  auto& task = tasks[one.task + " " + one.own_kernels];
  if (task == nullptr) {
    auto made = module_task(one.task);
    if (!made) return made.error();
    made->own_kernels = one.own_kernels;
    task = std::make_shared<const Task>(std::move(*made));
  }
  if (machine == nullptr) return unavailable("no machine");
  return machine->judge(task, text_of_file(folder / (one.name + ".py")), 7, "python", backend);
}

/// What differs from what is expected of it; empty where nothing does.
inline std::string judged(Machine* machine, const std::string& backend, const fs::path& folder,
                          const Case& one, const Expected& expected) {
  return difference(verdict_on(machine, backend, folder, one), expected);
}

}  // namespace hone::test
