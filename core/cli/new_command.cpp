// `hone new`: a plugin to start from.
#include "cli/command.hpp"
#include "plugin/scaffold.hpp"

namespace hone {
namespace {

class NewCommand : public Command {
 public:
  std::string name() const override { return "new"; }
  std::string summary() const override {
    return "Write a plugin that builds and passes `hone validate`, to start from.";
  }
  std::vector<std::string> examples() const override {
    return {"hone new reward my_reward          # C++, in the folder my_reward",
            "hone new reward-c my_reward        # plain C",
            "hone new dataset my_tasks plugins/my_tasks"};
  }
  void declare(OptionSet& options) override {
    options.text(
        {.name = "KIND", .doc = "what to write", .choices = template_kinds(), .required = true},
        kind_);
    options.text({.name = "NAME", .doc = "its name: small letters, digits and _", .required = true},
                 plugin_);
    options.text({.name = "DIR", .doc = "the new folder; NAME when not given", .value = "DIR"},
                 folder_);
  }

  int run(Terminal& terminal) override {
    if (folder_.empty()) folder_ = plugin_;
    const Status written = write_plugin_template(kind_, plugin_, folder_);
    if (!written) {
      terminal.fail(written.error());
      return written.error().code == Code::kFailedPrecondition
                 ? kExitUsage
                 : exit_code_for(written.error().code);
    }
    terminal.line("wrote " + folder_ + "; next:");
    terminal.line("  cmake -S " + folder_ + " -B " + folder_ + "/build && cmake --build " +
                  folder_ + "/build");
    terminal.line("  hone validate " + folder_ + "/build/" + plugin_ + ".so");
    return kExitOk;
  }

 private:
  std::string kind_, plugin_, folder_;
};

}  // namespace

std::unique_ptr<Command> make_new_command() { return std::make_unique<NewCommand>(); }

}  // namespace hone
