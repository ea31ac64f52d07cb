// Machine: launcher, evaluator and shipped tasks of this build, for tests that judge real submissions.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/files.hpp"
#include "config/yaml.hpp"
#include "evaluate/make_evaluator.hpp"
#include "evaluate/zygotes.hpp"
#include "places.hpp"
#include "plugin/backend.hpp"
#include "plugin/dataset.hpp"
#include "sandbox/launcher.hpp"
#include "sandbox/process_watch.hpp"

namespace hone::test {

inline std::filesystem::path tasks_dir() { return test::source_dir() / "envs/kernel_refine/tasks"; }

inline EvaluatorOptions evaluator_options() {
  EvaluatorOptions options;
  options.backend_library = build_dir() / "plugins/backends/cpu.so";
  options.libexec = build_dir() / "libexec";
  options.toolchains["c++"] = {"/usr/bin/g++", {"-O3", "-march=native", "-std=c++20"}};
  options.toolchains["c"] = {"/usr/bin/gcc", {"-O3", "-march=native", "-std=c17"}};
  options.devices = default_devices(cores_of(0));
  return options;
}

/// The tasks that ship with hone, opened through the real plugin.
inline Result<std::unique_ptr<Dataset>> builtin_tasks(
    const std::filesystem::path& folder = tasks_dir()) {
  HONE_ASSIGN(const PluginLibrary library,
              PluginLibrary::load(build_dir() / "plugins/datasets/tasks.so"));
  HostOptions host;
  host.parse_yaml = [](std::string_view text, std::string_view name) -> Result<Value> {
    HONE_ASSIGN(const YamlDocument document, parse_yaml(text, name));
    return document.to_value();
  };
  return Dataset::open(library, "tasks", Value::map({{"path", folder.string()}}),
                       std::make_shared<HostServices>("tasks", host));
}

/// Zygotes for all machines of a test program whose modules have the same interpreter and sandbox, because an import of torch
/// takes five seconds. Null without an interpreter. They are never deleted, and end with the program.
inline Result<Zygotes*> shared_zygotes(const EvaluatorOptions& options,
                                       const LauncherOptions& launcher) {
  struct Shared {
    EvaluatorOptions options;
    std::unique_ptr<Launcher> launcher;
    std::unique_ptr<Zygotes> zygotes;
  };
  static auto& all = *new std::map<std::string, Shared>();
  const auto python = options.toolchains.find("python");
  if (python == options.toolchains.end()) return nullptr;
  std::string key = python->second.compiler + " " + options.libexec.string() + " " +
                    module_place_of(options) + (records_modules(options) ? " recording " : " ") +
                    std::string(isolation_name(launcher.maximum)) + " " + launcher.freezer;
  for (const auto* names :
       {&launcher.device.nodes, &launcher.device.folders, &options.python_readable}) {
    for (const std::string& name : *names) key += " " + name;
  }
  Shared& shared = all[key];
  if (shared.zygotes == nullptr) {
    shared.options = options;
    HONE_ASSIGN(shared.launcher, Launcher::start(launcher));
    shared.zygotes = std::make_unique<Zygotes>(*shared.launcher, shared.options);
  }
  return shared.zygotes.get();
}

/// One launcher and one evaluator; make one per test program, or with options of its own.
class Machine {
 public:
  static Result<std::unique_ptr<Machine>> start(EvaluatorOptions options = evaluator_options(),
                                                LauncherOptions launcher = {}) {
    auto machine = std::make_unique<Machine>();
    if (options.device_code) {
      HONE_ASSIGN(const auto backend, Backend::load(options.backend_library));
      HONE_ASSIGN(const BackendDescription description, backend->description());
      launcher.device = {description.device_nodes, description.driver_folders};
    }
    HONE_ASSIGN(machine->launcher_, Launcher::start(launcher));
    HONE_ASSIGN(Zygotes * zygotes, shared_zygotes(options, launcher));
    HONE_ASSIGN(machine->evaluator_,
                make_evaluator(*machine->launcher_, std::move(options), "test machine", zygotes));
    HONE_ASSIGN(machine->tasks_, builtin_tasks());
    return machine;
  }

  Evaluator& evaluator() const { return *evaluator_; }
  Launcher& launcher() { return *launcher_; }

  std::shared_ptr<const Task> task(const std::string& id) {
    auto& known = known_[id];
    if (known == nullptr) {
      auto task = tasks_->get(id);
      if (!task) return nullptr;
      known = std::make_shared<const Task>(std::move(task).value());
    }
    return known;
  }

  Result<Verdict> judge(std::shared_ptr<const Task> task, std::string source,
                        std::uint64_t seed = 1, std::string language = "c++",
                        std::string backend = "cpu") {
    Submission submission;
    submission.backend = std::move(backend);
    submission.task = std::move(task);
    submission.source = std::move(source);
    submission.language = std::move(language);
    submission.client = "test";
    submission.episode = "test";
    submission.seed = seed;
    return judge_and_wait(*evaluator_, std::move(submission));
  }

 private:
  std::unique_ptr<Launcher> launcher_;
  std::unique_ptr<Evaluator> evaluator_;
  std::unique_ptr<Dataset> tasks_;
  std::map<std::string, std::shared_ptr<const Task>> known_;
};

}  // namespace hone::test
