// `hone completion`: shell completions, generated from the declarations of the commands.
#include <algorithm>

#include "cli/command.hpp"
#include "cli/help_text.hpp"

namespace hone {
namespace {

struct Described {
  std::string name, summary;
  std::vector<DeclaredOption> options;
};

std::vector<Described> describe_commands() {
  std::vector<Described> all;
  for (const auto& command : make_commands())
    all.push_back({command->name(), command->summary(), declared_options(*command)});
  return all;
}

bool is_option(const OptionSpec& spec) { return spec.name.front() == '-'; }

std::vector<std::string> names_of(const OptionSpec& spec) {
  std::vector<std::string> names;
  for (std::size_t start = 0; start <= spec.name.size();) {
    const std::size_t end = std::min(spec.name.find(',', start), spec.name.size());
    names.push_back(spec.name.substr(start, end - start));
    start = end + 1;
  }
  return names;
}

/// The value's kind: words of a fixed list, tasks, or files.
std::string kind_of(const OptionSpec& spec) {
  if (!spec.choices.empty()) return "words";
  if (spec.value == "TASK" || spec.name == "TASK" || spec.name == "ID") return "tasks";
  return spec.value == "FILE" || spec.value == "DIR" ? "files" : "none";
}

// Task ids. They depend on the configuration that the command line names.
constexpr const char* kBashIds = R"(_hone_ids() {
  local i file=()
  for ((i = 2; i + 1 < ${#COMP_WORDS[@]}; ++i)); do
    [[ ${COMP_WORDS[i]} == -c || ${COMP_WORDS[i]} == --config ]] || continue
    [[ ${COMP_WORDS[i + 1]} == = ]] && ((++i))
    file=(-c "${COMP_WORDS[i + 1]/#\~/$HOME}")
  done
  hone tasks --ids "${file[@]}" 2>/dev/null
}
)";
constexpr const char* kZshIds = R"(_hone_ids() {
  local i
  local -a file
  for ((i = 2; i <= $#words; ++i)); do
    case $words[i] in
    -c | --config) file=(-c ${~${(Q)words[i + 1]}}) ;;
    --config=*) file=(-c ${~${(Q)words[i]#*=}}) ;;
    esac
  done
  hone tasks --ids $file 2>/dev/null
}
)";
constexpr const char* kFishIds = R"(function __hone_ids
  set -l words (commandline -o)
  set -l file
  for i in (seq (count $words))
    switch $words[$i]
      case -c --config
        set file -c (string replace -r '^~' $HOME -- $words[(math $i + 1)])
      case '--config=*'
        set file -c (string replace -r '^--config=' '' -- $words[$i])
    end
  end
  hone tasks --ids $file 2>/dev/null
end
)";

std::string bash_words(const OptionSpec& spec) {
  const std::string kind = kind_of(spec);
  if (kind == "words")
    return "COMPREPLY=($(compgen -W \"" + joined(spec.choices, " ") + "\" -- \"$word\"))";
  if (kind == "tasks") return "COMPREPLY=($(compgen -W \"$(_hone_ids)\" -- \"$word\"))";
  return kind == "files" ? "COMPREPLY=($(compgen -f -- \"$word\"))" : "COMPREPLY=()";
}

std::string bash_script() {
  std::string commands, cases;
  for (const Described& command : describe_commands()) {
    commands += (commands.empty() ? "" : " ") + command.name;
    std::string values, options, positional;
    for (const DeclaredOption& option : command.options) {
      const OptionSpec& spec = option.spec;
      if (!is_option(spec)) {
        // Files may follow a first argument (`hone eval TASK FILE…`): offer both.
        positional +=
            (positional.empty() ? "      " : "      local first=(\"${COMPREPLY[@]}\"); ") +
            bash_words(spec) + (positional.empty() ? "\n" : "; COMPREPLY+=(\"${first[@]}\")\n");
        continue;
      }
      options += (options.empty() ? "" : " ") + joined(names_of(spec), " ");
      if (option.takes_value) {
        values +=
            "        " + joined(names_of(spec), "|") + ") " + bash_words(spec) + "; return ;;\n";
      }
    }
    cases += "    " + command.name + ")\n";
    if (!values.empty()) cases += "      case $previous in\n" + values + "      esac\n";
    cases += "      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"" + options +
             "\" -- \"$word\")); return; fi\n" + positional + "      ;;\n";
  }
  return "# bash completion for hone. Install: hone completion bash > "
         "~/.local/share/bash-completion/completions/hone\n" +
         std::string(kBashIds) +
         "_hone() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  COMPREPLY=()\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    COMPREPLY=($(compgen -W \"" +
         commands +
         " --help --version\" -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]} in\n" +
         cases +
         "  esac\n"
         "}\n"
         "complete -F _hone hone";
}

/// Single quotes for a shell, with what a zsh specification reserves escaped.
std::string zsh_text(std::string text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':') quoted += '\\';
    quoted += c;
  }
  return quoted;
}

std::string zsh_action(const OptionSpec& spec) {
  const std::string kind = kind_of(spec);
  if (kind == "words") return "(" + joined(spec.choices, " ") + ")";
  if (kind == "tasks") return "{compadd -- $(_hone_ids)}";
  return kind == "files" ? "_files" : " ";
}

std::string zsh_script() {
  std::string commands, cases;
  for (const Described& command : describe_commands()) {
    commands += "    '" + command.name + ":" + zsh_text(command.summary) + "'\n";
    cases += "    " + command.name + ")\n      _arguments";
    for (const DeclaredOption& option : command.options) {
      const OptionSpec& spec = option.spec;
      const std::string value =
          zsh_text(spec.value.empty() ? spec.name : spec.value) + ":" + zsh_action(spec);
      if (!is_option(spec)) {
        cases += " \\\n        '*:" + value + "'";
        continue;
      }
      for (const std::string& name : names_of(spec)) {
        cases += " \\\n        '" + name + "[" + zsh_text(spec.doc) + "]" +
                 (option.takes_value ? ":" + value : "") + "'";
      }
    }
    cases += "\n      ;;\n";
  }
  return "#compdef hone\n"
         "# zsh completion for hone. Install: hone completion zsh > \"${fpath[1]}/_hone\"\n" +
         std::string(kZshIds) +
         "_hone() {\n"
         "  local -a commands=(\n" +
         commands +
         "  )\n"
         "  if ((CURRENT == 2)); then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  local command=$words[2]\n"
         "  shift words\n"
         "  ((CURRENT--))\n"
         "  case $command in\n" +
         cases +
         "  esac\n"
         "}\n"
         "_hone \"$@\"";
}

std::string fish_text(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string fish_script() {
  std::string text =
      "# fish completion for hone. Install: hone completion fish > "
      "~/.config/fish/completions/hone.fish\n" +
      std::string(kFishIds) + "complete -c hone -f";
  for (const Described& command : describe_commands()) {
    const std::string when =
        "complete -c hone -n '__fish_seen_subcommand_from " + command.name + "'";
    text += "\ncomplete -c hone -n __fish_use_subcommand -a " + command.name + " -d " +
            fish_text(command.summary);
    for (const DeclaredOption& option : command.options) {
      const OptionSpec& spec = option.spec;
      const std::string kind = kind_of(spec);
      std::string values;
      if (kind == "words") values = " -x -a " + fish_text(joined(spec.choices, " "));
      if (kind == "tasks") values = " -x -a '(__hone_ids)'";
      if (kind == "files") values = " -r -F";
      if (!is_option(spec)) {
        if (kind == "files") values = " -F";
        if (kind != "none") text += "\n" + when + values;
        continue;
      }
      text += "\n" + when;
      for (const std::string& name : names_of(spec)) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (option.takes_value) text += values.empty() ? " -x" : values;
      text += " -d " + fish_text(spec.doc);
    }
  }
  return text;
}

class CompletionCommand : public Command {
 public:
  std::string name() const override { return "completion"; }
  std::string summary() const override { return "Print a completion script for a shell."; }
  std::vector<std::string> examples() const override {
    return {"source <(hone completion bash)", "hone completion zsh > \"${fpath[1]}/_hone\"",
            "hone completion fish > ~/.config/fish/completions/hone.fish"};
  }
  void declare(OptionSet& options) override {
    options.text(
        {.name = "SHELL", .doc = "shell", .choices = {"bash", "zsh", "fish"}, .required = true},
        shell_);
  }
  int run(Terminal& terminal) override {
    terminal.line(shell_ == "bash"  ? bash_script()
                  : shell_ == "zsh" ? zsh_script()
                                    : fish_script());
    return kExitOk;
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Command> make_completion_command() { return std::make_unique<CompletionCommand>(); }

}  // namespace hone
