// `hone new`: creates a plugin from a template.
#include <algorithm>

#include "cli/command.hpp"
#include "conformance/scaffold.hpp"

namespace hone {
namespace {

class NewCommand : public Command {
 public:
  std::string name() const override { return "new"; }
  std::string summary() const override {
    return "Create a plugin from a template that passes `hone validate`.";
  }
  std::vector<std::string> examples() const override {
    return {"hone new reward my_reward --python # one file, my_reward.py",
            "hone new reward my_reward          # C++, in the folder my_reward",
            "hone new reward-c my_reward        # plain C",
            "hone new dataset my_tasks my_plugins/my_tasks",
            "hone new backend my_backend        # C++, with a task and a configuration",
            "hone new environment my_env        # always Python: one file, my_env.py"};
  }
  void declare(OptionSet& options) override {
    std::vector<std::string> kinds = template_kinds();
    for (const std::string& kind : python_template_kinds()) {
      if (!is_native(kind)) kinds.push_back(kind);
    }
    options.text(
        {.name = "KIND", .doc = "kind of plugin", .choices = std::move(kinds), .required = true},
        kind_);
    options.text({.name = "NAME",
                  .doc = "name of the plugin (lower-case letters, digits and _)",
                  .required = true},
                 plugin_);
    options.text({.name = "DIR",
                  .doc = "new folder (default: NAME); with --python: folder of the new file",
                  .value = "DIR"},
                 folder_);
    options.flag({.name = "--python", .doc = "create a Python plugin (reward, dataset)"}, python_);
  }

  int run(Terminal& terminal) override {
    if (python_ || !is_native(kind_)) return write_python(terminal);
    if (folder_.empty()) folder_ = plugin_;
    const Status written = write_plugin_template(kind_, plugin_, folder_);
    if (!written) return fail(terminal, written.error());
    terminal.line("wrote " + folder_ + "; next:");
    const std::string build = folder_ + "/build";
    terminal.line("  cmake -G Ninja -S " + folder_ + " -B " + build + " && cmake --build " + build);
    terminal.line("  hone validate " + build + "/" + plugin_ + ".so");
    if (kind_ == "backend") {
      terminal.line("  hone eval double_it " + folder_ + "/tasks/double_it/baseline.cpp -c " +
                    folder_ + "/hone.yaml");
    }
    return kExitOk;
  }

 private:
  static bool is_native(const std::string& kind) {
    const std::vector<std::string>& kinds = template_kinds();
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  }

  int write_python(Terminal& terminal) const {
    const auto written = write_python_template(kind_, plugin_, folder_);
    if (!written) return fail(terminal, written.error());
    terminal.line("wrote " + written->string() + "; next:");
    terminal.line("  hone validate " + written->string());
    if (kind_ == "environment") {
      terminal.line("  hone serve --set environment.name=" + written->string());
    }
    if (kind_ == "reward") {
      terminal.line("  hone verdicts --reward " + written->string());
      terminal.line("  hone serve --set reward.name=" + written->string());
    }
    return kExitOk;
  }

  static int fail(Terminal& terminal, const Error& error) {
    terminal.fail(error);
    return error.code == Code::kFailedPrecondition ? kExitUsage : exit_code_for(error.code);
  }

  std::string kind_, plugin_, folder_;
  bool python_ = false;
};

}  // namespace

std::unique_ptr<Command> make_new_command() { return std::make_unique<NewCommand>(); }

}  // namespace hone
