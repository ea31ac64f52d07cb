// `hone tool` and `hone profile`: examine a kernel from a file as a tool of an episode does.
#include <optional>

#include "cli/command.hpp"
#include "offline/examine_file.hpp"

namespace hone {
namespace {

std::vector<std::string> tool_names() {
  const auto& names = EnumNames<Tool>::kNames;
  return {std::begin(names), std::end(names)};
}

class ToolCommand : public Command {
 public:
  /// `fixed`: the tool of a command of its own; none: the first argument names it.
  explicit ToolCommand(std::optional<Tool> fixed) : fixed_(fixed) {}

  std::string name() const override { return fixed_ ? std::string(enum_name(*fixed_)) : "tool"; }
  std::string summary() const override {
    return fixed_ ? "Judge and time a kernel, and show where its time goes."
                  : "Examine a kernel: check, profile, sanitize, disassemble, compile, hardware.";
  }
  std::vector<std::string> examples() const override {
    if (fixed_)
      return {"hone profile softmax kernel.cpp", "hone profile softmax kernel.cpp --json",
              "hone profile matmul kernel.cpp --roofline roofline.svg"};
    return {"hone tool sanitize softmax kernel.cpp     # memory errors with their lines",
            "hone tool disassemble softmax kernel.cpp  # its innermost loops",
            "hone tool hardware softmax"};
  }
  void declare(OptionSet& options) override {
    if (!fixed_) {
      options.text({.name = "TOOL",
                    .doc = "tool to run",
                    .value = "TOOL",
                    .choices = tool_names(),
                    .required = true},
                   tool_);
    }
    options.text({.name = "TASK",
                  .doc = "task as DATASET/ID or ID; `hone tasks` lists them",
                  .value = "TASK",
                  .required = true},
                 request_.task);
    options.text({.name = "FILE",
                  .doc = fixed_ ? "source file of the kernel"
                                : "source file of the kernel; none for hardware",
                  .value = "FILE",
                  .required = fixed_.has_value()},
                 request_.file);
    options.text({.name = "--language",
                  .doc = "language of the file (default: from the file name's extension)"},
                 request_.language);
    config_.declare(options);
    options.flag({.name = "--json", .doc = "print the facts and the verdict as JSON"},
                 request_.json);
    if (!fixed_) return;
    options.text({.name = "--roofline",
                  .doc = "draw a roofline of kernel and baseline to this SVG file",
                  .value = "FILE"},
                 request_.roofline);
  }

  int run(Terminal& terminal) override {
    const Tool tool = fixed_ ? *fixed_ : *parse_enum<Tool>(tool_);
    request_.tool = tool;
    request_.client = name();
    if ((tool == Tool::kHardware) != request_.file.empty())
      return terminal.fail(invalid_argument(std::string(enum_name(tool)) + ": found " +
                                            (request_.file.empty() ? "no FILE" : "a FILE") +
                                            ", expected " +
                                            (request_.file.empty() ? "a source file" : "none")));
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    return examine_file(terminal, std::move(*loaded), request_);
  }

 private:
  const std::optional<Tool> fixed_;
  ConfigOptions config_;
  std::string tool_;
  ToolRequest request_;
};

}  // namespace

std::unique_ptr<Command> make_tool_command() { return std::make_unique<ToolCommand>(std::nullopt); }
std::unique_ptr<Command> make_profile_command() {
  return std::make_unique<ToolCommand>(Tool::kProfile);
}

}  // namespace hone
