// Terminal, option parser and completions, within this process.
#include "terminal/terminal.hpp"

#include <gtest/gtest.h>

#include "cli/command.hpp"

namespace hone {
namespace {

/// Records what it was given.
struct Recorder : Command {
  std::string text, choice;
  std::vector<std::string> many;
  std::int64_t number = 3;
  bool flag = false;
  int* runs = nullptr;

  std::string name() const override { return "record"; }
  std::string summary() const override { return "Record."; }
  std::vector<std::string> examples() const override { return {"hone record x"}; }
  void declare(OptionSet& options) override {
    options.text({.name = "TEXT", .doc = "a text", .required = true}, text);
    options.texts({.name = "--many", .doc = "several"}, many);
    options.text({.name = "--choice", .doc = "one of", .choices = {"alpha", "beta"}}, choice);
    options.integer({.name = "--number", .doc = "a number"}, number, 1, 9);
    options.flag({.name = "-f,--flag", .doc = "a flag"}, flag);
  }
  int run(Terminal&) override {
    ++*runs;
    return number == 3 ? kExitOk : kExitNo;
  }
};

struct Ran {
  int status = -1;
  int runs = 0;
  std::string error, output;
};

Ran run(std::vector<const char*> arguments, Recorder** recorded = nullptr) {
  Ran ran;
  auto recorder = std::make_unique<Recorder>();
  recorder->runs = &ran.runs;
  if (recorded != nullptr) *recorded = recorder.get();
  Commands commands;
  commands.push_back(std::move(recorder));
  arguments.insert(arguments.begin(), "hone");
  Terminal terminal(false, false);
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  ran.status = run_command_line(std::move(commands), static_cast<int>(arguments.size()),
                                arguments.data(), terminal);
  ran.output = testing::internal::GetCapturedStdout();
  ran.error = testing::internal::GetCapturedStderr();
  return ran;
}

TEST(CommandLine, Arguments_ReachTheCommand) {
  EXPECT_EQ(run({"record", "x", "--many", "a", "--many", "b=1", "-f", "--choice", "beta"}).status,
            kExitOk);
  EXPECT_EQ(run({"record", "x", "--number", "4"}).status, kExitNo);
}

TEST(CommandLine, Mistake_SuggestsTheNearestNameAndTheHelp) {
  Ran ran = run({"recrod", "x"});
  EXPECT_EQ(ran.error,
            "hone: unknown command 'recrod'; did you mean 'record'?\n  see: hone --help\n");
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_EQ(ran.runs, 0);
  EXPECT_EQ(run({"record", "x", "--mnay=3"}).error,
            "hone: unknown option '--mnay'; did you mean '--many'?\n  see: hone record --help\n");
  EXPECT_EQ(run({"record", "x", "y"}).error,
            "hone: unexpected argument 'y'\n  see: hone record --help\n");
  EXPECT_EQ(
      run({"record", "x", "--choice", "bta"}).error,
      "hone: --choice: unknown value 'bta'; did you mean 'beta'?\n  see: hone record --help\n");
  EXPECT_NE(run({"record", "x", "--number", "12"}).error.find("12"), std::string::npos);
  EXPECT_EQ(run({"record"}).error, "hone: TEXT is required\n  see: hone record --help\n");
}

TEST(CommandLine, Help_ShowsExamplesAndExitsWithZero) {
  const Ran ran = run({"record", "--help"});
  EXPECT_EQ(ran.status, kExitOk);
  EXPECT_NE(ran.output.find("Examples:\n  hone record x"), std::string::npos);
  EXPECT_EQ(run({}).status, kExitUsage);
  EXPECT_NE(run({"--version"}).output.find("hone 0."), std::string::npos);
}

TEST(CommandLine, EveryCommand_HasASummaryExamplesAndDocumentedOptions) {
  struct Inspector : OptionSet {
    void look(const OptionSpec& spec) {
      EXPECT_FALSE(spec.doc.empty()) << spec.name;
      EXPECT_FALSE(spec.name.empty());
    }
    void flag(const OptionSpec& spec, bool&) override { look(spec); }
    void text(const OptionSpec& spec, std::string&) override { look(spec); }
    void texts(const OptionSpec& spec, std::vector<std::string>&) override { look(spec); }
    void integer(const OptionSpec& spec, std::int64_t&, std::int64_t, std::int64_t) override {
      look(spec);
    }
  } inspector;
  for (const auto& command : make_commands()) {
    EXPECT_EQ(command->summary().back(), '.') << command->name();
    ASSERT_FALSE(command->examples().empty()) << command->name();
    for (const std::string& example : command->examples()) {
      EXPECT_NE(example.find("hone " + command->name()), std::string::npos) << example;
    }
    command->declare(inspector);
  }
}

TEST(Terminal, Columns_AreAlignedByDisplayedWidth) {
  Terminal terminal(false, false);
  testing::internal::CaptureStdout();
  terminal.table({"a", "number", "c"}, {{{"x×"}, {"1", Colour::kRed, true}, {"end"}},
                                        {{"long"}, {"22", Colour::kPlain, true}, {"e"}}});
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "a     number  c\n"
            "x×         1  end\n"
            "long      22  e\n");
}

TEST(Terminal, Colours_OnlyOnATerminal) {
  EXPECT_EQ(Terminal(false, false).paint(Colour::kRed, "x"), "x");
  EXPECT_EQ(Terminal(true, false).paint(Colour::kRed, "x"), "\033[31mx\033[0m");
  EXPECT_EQ(Terminal(true, false).paint(Colour::kPlain, "x"), "x");
}

TEST(Terminal, Progress_IsErasedBeforeALine) {
  Terminal terminal(false, true);
  testing::internal::CaptureStderr();
  terminal.status("working");
  terminal.status("still");
  terminal.clear_status();
  terminal.clear_status();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "\r\033[Kworking\r\033[Kstill\r\033[K");
}

TEST(Terminal, ExitStatus_FollowsTheCode) {
  EXPECT_EQ(exit_code_for(Code::kNotFound), kExitUsage);
  EXPECT_EQ(exit_code_for(Code::kInvalidArgument), kExitUsage);
  EXPECT_EQ(exit_code_for(Code::kUnavailable), kExitFault);
  EXPECT_EQ(exit_code_for(Code::kFailedPrecondition), kExitFault);
}

TEST(Terminal, Numbers_AreShort) {
  EXPECT_EQ(short_number(1.9444), "1.94");
  EXPECT_EQ(short_number(123.456), "123");
  EXPECT_EQ(short_number(12.345), "12.3");
  EXPECT_EQ(short_number(0.0123), "0.01");
  EXPECT_EQ(short_number(1536.2), "1536");
}

TEST(Terminal, ControlCharactersInACell_AreReplaced) {
  testing::internal::CaptureStdout();
  Terminal terminal(false, false);
  terminal.table({"name", "why"}, {{"a\033[2Jb\nc", "d\u009be"}});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "name      why\na\ufffd[2Jb c  d\ufffde\n");
}

}  // namespace
}  // namespace hone
