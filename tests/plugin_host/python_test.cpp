// Rewards and datasets in Python: their answers, and every way in which they can fail.
#include <signal.h>

#include <atomic>
#include <thread>

#include "plugin_host/hosts.hpp"

namespace hone {
namespace {

using test::episode;
using test::host;
using test::host_options;
using test::Lines;
using test::message_of;
using test::reward_of;

class Python : public testing::Test {
 protected:
  Python() { options.memory_mb = 512; }

  std::filesystem::path file() const { return folder.path() / "mine.py"; }
  void write(const std::string& source) {
    const Status written = write_file(file(), source);
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  /// Loads the source.
  Status load(const std::string& source) {
    write(source);
    HONE_ASSIGN(plugin, host(file(), options));
    return {};
  }
  /// Loads a reward whose score() has this body, of four spaces less.
  void load_score(const std::string& body) {
    const Status loaded =
        load("import os, sys\n\nclass Reward:\n    def score(self, episode):\n" + body);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    auto made = reward_of(plugin);
    ASSERT_TRUE(made.ok()) << made.error().message;
    reward = std::move(*made);
  }
  std::string score(const std::vector<double>& speedups = {2}) {
    return message_of(reward->score(episode(speedups)));
  }
  /// What score() says once this is its body.
  std::string score_of(const std::string& body) {
    load_score(body);
    return reward ? score() : "(not loaded)";
  }

  const test::TemporaryFolder folder;
  const std::shared_ptr<Lines> lines = std::make_shared<Lines>();
  PluginHostOptions options = host_options(lines);
  std::shared_ptr<const HostedPlugin> plugin;
  std::unique_ptr<Reward> reward;
};

constexpr const char* kWhole = R"py("""A file with a reward that has everything."""

class Reward:
    """The speedup times a weight."""

    version = "2.1.0"
    source = "a test"
    range = [0, None]
    gamma = 0.5
    returns = "forward"
    parameters = {
        "weight": {"default": 1.0, "range": [0, 10], "doc": "what a speedup is worth"},
        "kind": {"default": "value", "choices": ["value", "low"]},
        "cap": 3,
        "strict": False,
    }

    def __init__(self, config):
        if config["strict"]:
            raise ValueError("strict is not for today")
        self.config = config

    def score(self, episode):
        return [
            {"reward": self.config["weight"] * turn["verdict"]["speedup"][self.config["kind"]],
             "components": {"größe": 1}} if turn["scored"] else None
            for turn in episode["turns"]
        ]
)py";

TEST_F(Python, RewardInPython_GivesComponentsParametersAndReturns) {
  ASSERT_TRUE(load(kWhole).ok());
  auto made = reward_of(plugin, Value::map({{"weight", 2}}));
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ((*made)->name(), "mine");
  EXPECT_TRUE((*made)->version().starts_with("2.1.0+")) << (*made)->version();
  EXPECT_EQ((*made)->version().size(), 6u + 12u);
  EXPECT_TRUE(plugin->runs_in().starts_with("plugin host, Python 3."));
  const auto report = (*made)->score(episode({1, 0, 2}));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->turns[0]->reward, 2.0);
  EXPECT_EQ(report->turns[0]->components[0].first, "größe");
  EXPECT_FALSE(report->turns[1].has_value());
  EXPECT_EQ(report->return_to_date, 2.0 + 0.5 * 4.0);
  EXPECT_EQ(report->returns[2], 4.0);
  const auto described = plugin->describe("hone.reward/1");
  ASSERT_TRUE(described.ok()) << described.error().message;
  EXPECT_EQ(described->find("summary")->as_string(), "The speedup times a weight.");
  EXPECT_EQ(described->find("parameters")->find("cap")->find("type")->as_string(), "int");
}

TEST_F(Python, Configurations_AreChecked) {
  ASSERT_TRUE(load(kWhole).ok());
  const auto message = [&](const Value& config) {
    const auto made = reward_of(plugin, config);
    if (made) return std::string("(made)");
    EXPECT_EQ(made.error().code, Code::kInvalidArgument);
    return made.error().message;
  };
  EXPECT_EQ(message(Value::map({{"wieght", 1}})),
            "mine: create: config: unknown key 'wieght'; did you mean 'weight'?");
  EXPECT_EQ(message(Value::map({{"weight", "two"}})),
            "mine: create: config: weight: expected a number, found str");
  EXPECT_EQ(message(Value::map({{"weight", 11}})),
            "mine: create: config: weight: expected 0 to 10, found 11.0");
  EXPECT_EQ(message(Value::map({{"cap", 1.5}})),
            "mine: create: config: cap: expected an integer, found float");
  EXPECT_EQ(message(Value::map({{"kind", "lwo"}})),
            "mine: create: config: kind: found 'lwo'; did you mean 'low'?");
  EXPECT_EQ(message(Value::map({{"strict", true}})),
            "mine: create: mine.py:20: ValueError: strict is not for today");
}

TEST_F(Python, FileThatCannotBeLoaded_NamesThePlace) {
  EXPECT_EQ(load("class Reward:\n    def score(self\n").error().message,
            "mine.py:2: SyntaxError: '(' was never closed");
  EXPECT_EQ(load("import os\n\nraise KeyError('x')\n").error().message, "mine.py:3: KeyError: 'x'");
  EXPECT_EQ(load("import no_such_module\n").error().message,
            "mine.py:1: ModuleNotFoundError: No module named 'no_such_module'");
  EXPECT_EQ(load("class Reword:\n    pass\n").error().message,
            "mine.py: found no class Reward, Dataset or Environment, expected one");
  EXPECT_EQ(load("class Reward:\n    pass\n").error().message,
            "mine.py: class Reward has no method score()");
  EXPECT_EQ(load("import sys\nsys.exit(3)\n").error().message, "mine.py:2: SystemExit: 3");
  const auto exited = load("import os\nos._exit(3)\n");
  EXPECT_EQ(exited.error().message,
            "mine.py: hello: its plugin host exited with status 3 during the call");
  options.python = "no-such-python";
  EXPECT_EQ(load(kWhole).error().message,
            "plugins.python: found no 'no-such-python' in PATH, expected Python 3.10 or newer");
  options.python = "/bin/false";
  EXPECT_EQ(load(kWhole).error().message,
            "mine.py: hello: its plugin host exited with status 1 during the call");
}

TEST_F(Python, Exceptions_NameFileLineAndMessage) {
  EXPECT_EQ(score_of("        return [1 / 0]\n"),
            "mine: score: mine.py:5: ZeroDivisionError: division by zero");
  EXPECT_TRUE(lines->has("Traceback"));
  EXPECT_EQ(score_of("        return self.score(episode)\n").substr(0, 46),
            "mine: score: mine.py:5: RecursionError: maximu");
  EXPECT_EQ(score_of("        sys.exit(0)\n"), "mine: score: mine.py:5: SystemExit: 0");
  EXPECT_EQ(score_of("        import json\n        return json.loads('{')\n").substr(0, 40),
            "mine: score: mine.py:6: JSONDecodeError:");
  const pid_t pid = plugin->pid();
  EXPECT_NE(score().find("JSONDecodeError"), std::string::npos);
  EXPECT_EQ(plugin->pid(), pid) << "an exception must not cost a process";
}

TEST_F(Python, InvalidAnswer_NamesFoundAndExpected) {
  const std::string one = "mine: score: ";
  EXPECT_EQ(score_of("        return 1.0\n"),
            one + "expected a list of 1, one for each turn, found float");
  EXPECT_EQ(score_of("        return [1, 2]\n"),
            one + "expected a list of 1, one for each turn, found one of 2");
  EXPECT_EQ(score_of("        return ['much']\n"), one + "turns/0: expected a number, found str");
  EXPECT_EQ(score_of("        return [None]\n"), one + "turns/0: expected a number, found None");
  EXPECT_EQ(score_of("        return [float('nan')]\n"),
            one + "turns/0: expected a finite number, found nan");
  EXPECT_EQ(score_of("        return [{'reward': 1, 'components': {'x': float('-inf')}}]\n"),
            one + "turns/0/components/x: expected a finite number, found -inf");
  EXPECT_EQ(score_of("        return [{'rewrad': 1}]\n"),
            one + "turns/0: unknown key 'rewrad'; did you mean 'reward'?");
  EXPECT_EQ(score_of("        return {'turns': []}\n"),
            one + "turns: expected a list of 1, found one of 0");
  EXPECT_EQ(score_of("        return {'turns': [object()]}\n"),
            one + "the answer holds a object, expected plain data");
  EXPECT_EQ(score_of("        return {'return': float('nan')}\n"),
            one + "the answer cannot be sent: Out of range float values are not JSON compliant");
  load_score("        return [1] * len(episode['turns'])\n");
  EXPECT_EQ(score({2, 0}), one + "turns/1: expected None for an unscored turn, found int");
}

TEST_F(Python, HugeAnswersAndMemoryUse_AreRefused) {
  EXPECT_NE(score_of("        return [{'reward': 1, 'components': {'x' * 2**30: 1}}]\n")
                .find("MemoryError; its plugin host was ended"),
            std::string::npos)
      << score();
  EXPECT_EQ(score_of("        return {'turns': 'x' * (80 << 20)}\n"),
            "mine: score: the answer has 83886102 bytes, at most 67108864 are allowed");
}

TEST_F(Python, MemoryLeak_RestartsTheProcess) {
  load_score(
      "        self.kept = getattr(self, 'kept', []) + [bytearray(100 << 20)]\n"
      "        return [len(self.kept)]\n");
  std::string said = "(succeeded)";
  for (int i = 0; i < 10 && said == "(succeeded)"; ++i) said = score();
  EXPECT_EQ(said,
            "mine: score: mine.py:5: MemoryError; its plugin host was ended, which may have 512 MB "
            "(plugins.memory_mb)");
  const auto report = reward->score(episode({2}));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->return_to_date, 1.0);
}

TEST_F(Python, Exit_FailsOneCall) {
  EXPECT_EQ(score_of("        if len(episode['turns']) == 1:\n            os._exit(7)\n"
                     "        return [1, 2]\n"),
            "mine: score: its plugin host exited with status 7 during the call");
  EXPECT_EQ(score({2, 2}), "(succeeded)");
  EXPECT_EQ(score_of("        os.kill(os.getpid(), 9)\n"),
            "mine: score: its plugin host was killed by SIGKILL during the call");
  EXPECT_EQ(score_of("        os.closerange(3, 256)\n        return [1]\n"),
            "mine: score: its plugin host exited with status 66 during the call; the last line "
            "that it printed: the connection to hone is lost: "
            "[Errno 9] "
            "Bad file descriptor");
}

TEST_F(Python, EndlessLoops_AreKilled) {
  load_score("        while True:\n            pass\n");
  PluginHostOptions quick = options;
  quick.call_s = 0.2;
  auto hosted = host(file(), quick);
  ASSERT_TRUE(hosted.ok()) << hosted.error().message;
  const auto made = reward_of(*hosted);
  ASSERT_TRUE(made.ok()) << made.error().message;
  const auto report = (*made)->score(episode({2}));
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, Code::kDeadlineExceeded);
  EXPECT_EQ(report.error().message,
            "mine: score: no answer after 0.2 s, the limit (plugins.call_seconds); its "
            "plugin host was killed by "
            "SIGKILL");
}

// Next to the other threads, the call takes more elapsed time than its limit, but less processor time.
TEST_F(Python, CallWithoutAProcessor_IsNotLate) {
  constexpr unsigned kStrangers = 8;  // on each processor
  options.call_s = 1;
  load_score(
      "        import time\n        end = time.monotonic() + 1.2\n"
      "        while time.monotonic() < end and time.process_time() < 0.5:\n"
      "            pass\n        return [1]\n");
  std::atomic<bool> over{false};
  std::vector<std::thread> strangers;
  for (unsigned i = 0; i < kStrangers * std::thread::hardware_concurrency(); ++i)
    strangers.emplace_back([&over] {
      while (!over) continue;
    });
  EXPECT_EQ(score(), "(succeeded)");
  over = true;
  for (std::thread& stranger : strangers) stranger.join();
}

TEST_F(Python, GarbageOnTheSocket_EndsTheProcess) {
  EXPECT_EQ(
      score_of("        os.write(3, b'x' * 64)\n        return [1]\n"),
      "mine: score: sent an invalid answer (message: broken prefix); its plugin host was killed");
  const std::string frame =
      "        import struct\n        body = b'[' * 1000\n"
      "        os.write(3, struct.pack('=QII', len(body), 0, 0x656e6f68) + body)\n";
  EXPECT_EQ(score_of(frame),
            "mine: score: sent an invalid answer (json: nested deeper than 32); its plugin host "
            "was killed");
}

TEST_F(Python, PrintedOutput_IsLoggedWithinALimit) {
  load_score(
      "        print('a word to the log')\n        sys.stderr.write('and a mistake')\n"
      "        return [1]\n");
  EXPECT_EQ(score(), "(succeeded)");
  EXPECT_TRUE(lines->has("a word to the log"));
  EXPECT_TRUE(lines->has("and a mistake"));
  EXPECT_EQ(score_of("        print('warning: for users')\n        return [1]\n"), "(succeeded)");
  EXPECT_TRUE(lines->has("for users"));
  EXPECT_FALSE(lines->has("warning: for users"));
  const std::size_t before = lines->all().size();
  EXPECT_EQ(score_of("        for _ in range(64):\n            print('x' * 65536)\n"
                     "            sys.stderr.write('y' * 65536)\n        return [1]\n"),
            "(succeeded)");
  EXPECT_TRUE(lines->has("bytes more, 65536 a call are kept"));
  EXPECT_LT(lines->all().size() - before, 100u);
}

TEST_F(Python, Plugin_InheritsNoEnvironmentOrDescriptors) {
  setenv("HONE_TEST_SECRET", "secret", 1);
  EXPECT_EQ(
      score_of("        assert 'HONE_TEST_SECRET' not in os.environ, os.environ\n"
               "        assert sorted(map(int, os.listdir('/proc/self/fd')))[:4] == [0, 1, 2, 3]\n"
               "        assert len(os.listdir('/proc/self/fd')) == 5\n"
               "        assert os.getpgid(0) == os.getpid()\n"
               "        return [1]\n"),
      "(succeeded)");
}

TEST_F(Python, ModulesInTheSameFolder_CanBeImported) {
  ASSERT_TRUE(write_file(folder.path() / "neighbour.py", "WORTH = 7\n").ok());
  ASSERT_TRUE(write_file(folder.path() / "json.py", "raise SystemError('not this one')\n").ok());
  load_score("        import neighbour, json\n        return [neighbour.WORTH]\n");
  const auto report = reward->score(episode({2}));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->return_to_date, 7.0);
}

TEST_F(Python, ManyThreads_EachGetsItsOwnScore) {
  ASSERT_TRUE(load(kWhole).ok());
  auto made = reward_of(plugin);
  ASSERT_TRUE(made.ok()) << made.error().message;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 1; t <= 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const auto report = (*made)->score(episode({static_cast<double>(t)}));
        if (!report || report->return_to_date != t) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Python, ChangedFile_IsReloaded) {
  options.reload = true;
  load_score("        return [1]\n");
  const std::string version = reward->version();
  EXPECT_EQ(reward->score(episode({2}))->return_to_date, 1.0);
  write("class Reward:\n    def score(self, episode):\n        return [22]\n");
  EXPECT_EQ(reward->score(episode({2}))->return_to_date, 22.0);
  EXPECT_NE(reward->version(), version);
  write("class Reward:\n    def score(self, episode:\n");
  EXPECT_NE(score().find("mine.py:2: SyntaxError"), std::string::npos) << score();
  write("class Reward:\n    def score(self, episode):\n        return [333]\n");
  EXPECT_EQ(reward->score(episode({2}))->return_to_date, 333.0);
}

TEST_F(Python, WithoutReload_ChangedFileIsIgnored) {
  load_score("        return [1]\n");
  write("class Reward:\n    def score(self, episode):\n        return [22]\n");
  EXPECT_EQ(reward->score(episode({2}))->return_to_date, 1.0);
}

TEST_F(Python, Dataset_ListsAndGetsTasks) {
  ASSERT_TRUE(load(R"py(
class Dataset:
    """Two tasks, one of them broken."""

    parameters = {"path": ""}

    def list_tasks(self):
        return ["good", {"id": "broken", "split": "test"}]

    def get_task(self, task_id):
        source = {"name": "copy.cpp", "text": "// the source"}
        return {
            "good": {
                "id": "good", "title": "Copy", "description": "Copies x to out.", "entry": "copy", "dims": ["n"],
                "tensors": [{"name": "x", "role": "in", "shape": ["n"]}, {"name": "out", "role": "out", "shape": ["n"]}],
                "scalars": [{"name": "n", "value": "n"}],
                "shapes": {"shown": [{"n": 8}], "timed": {"n": 64}},
                "tolerance": {"reason": "a copy is exact"},
                "backends": {"cpu": {"languages": ["c++"], "reference": source, "baseline": source}},
            },
            "broken": {"id": "broken"},
        }[task_id]
)py")
                  .ok());
  auto calls = plugin->open_dataset(Value::map({{"path", "anywhere"}}));
  ASSERT_TRUE(calls.ok()) << calls.error().message;
  const Dataset dataset("ours", plugin->name(), std::move(*calls));
  const auto entries = dataset.list();
  ASSERT_TRUE(entries.ok()) << entries.error().message;
  EXPECT_EQ((*entries)[0].id, "good");
  EXPECT_EQ((*entries)[0].split, "train");
  EXPECT_EQ((*entries)[1].split, "test");
  const auto task = dataset.get("good");
  ASSERT_TRUE(task.ok()) << task.error().message;
  EXPECT_EQ(task->dataset, "ours");
  EXPECT_NE(dataset.get("broken").error().message.find("mine: get: broken: "), std::string::npos);
  const auto none = dataset.get("goood");
  EXPECT_EQ(none.error().code, Code::kNotFound);
  EXPECT_EQ(none.error().message, "mine: get: no task is called 'goood'; did you mean 'good'?");
  EXPECT_EQ(reward_of(plugin).error().message, "mine: create: mine.py: has no class Reward");
}

TEST_F(Python, DatasetErrors_NameTheirCause) {
  ASSERT_TRUE(load(R"py(
import os

class Unfit(ValueError):
    for_users = True
    cause = "unfit_task"

class Late(TimeoutError):
    for_users = True
    cause = "unfit_task"

class Odd(ValueError):
    for_users = True
    cause = "plugin_ended"

class Dataset:
    """No task can be read."""

    def list_tasks(self):
        return ["unfit", "late", "odd", "plain", "ends"]

    def get_task(self, task_id):
        if task_id == "ends":
            os._exit(3)
        raise {"unfit": Unfit, "late": Late, "odd": Odd, "plain": ValueError}[task_id]("why")
)py")
                  .ok());
  auto calls = plugin->open_dataset(Value::map());
  ASSERT_TRUE(calls.ok()) << calls.error().message;
  const Dataset dataset("ours", plugin->name(), std::move(*calls));
  const auto found = [&](const char* id) {
    const auto task = dataset.get(id);
    return std::pair(task.error().code, task.error().cause);
  };
  EXPECT_EQ(found("unfit"), std::pair(Code::kInvalidArgument, ErrorCause::kUnfitTask));
  EXPECT_EQ(found("late"), std::pair(Code::kDeadlineExceeded, ErrorCause::kUnfitTask));
  EXPECT_EQ(found("odd"), std::pair(Code::kInvalidArgument, ErrorCause::kNone));
  EXPECT_EQ(found("plain"), std::pair(Code::kInternal, ErrorCause::kNone));
  EXPECT_EQ(found("ends"), std::pair(Code::kInternal, ErrorCause::kTaskEndedPlugin));
}

}  // namespace
}  // namespace hone
