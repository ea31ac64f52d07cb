// Crash-point sweep: a server is killed at its k-th operation on a file or socket, for many k. Every acknowledged
// step must exist once, unchanged. By default some k are tried; HONE_SWEEP=0/1 tries all, HONE_SWEEP=3/16 the
// fourth of sixteen parts.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "episode/episode.hpp"
#include "episode/recording.hpp"
#include "hone/client.hpp"
#include "journal/reader.hpp"
#include "places.hpp"
#include "sweep/stop_at.hpp"

namespace hone::test {
namespace {

extern "C" char** environ;

/// A server that is started again whenever it ends by itself.
class Restarted {
 public:
  Restarted(std::filesystem::path folder, std::int64_t k, std::string mode)
      : folder_(std::move(folder)),
        endpoint_("ipc://" + (folder_ / "main").string()),
        mode_(std::move(mode)) {
    start(k);
    keeper_ = std::thread([this] {
      siginfo_t info;
      // It stays a zombie until no process sends a signal to its number.
      while (pid_ > 0 && ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) == 0) {
        const std::lock_guard lock(mutex_);
        int status = 0;
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        if (stopping_) return;
        ++stops_;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != kStopped) surprise(status);
        if (surprises_ > 3) return;  // it does not start
        start(0);
      }
    });
  }
  ~Restarted() { stop(); }

  /// As a person would. Its operations since it was started last.
  std::int64_t stop() {
    if (!keeper_.joinable()) return 0;
    {
      // One that is being started is ready first: before that, the signal would be its end.
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      // Where it could not be started there is none, and the number for none means everybody.
      if (const pid_t pid = pid_; pid > 0) ::kill(pid, SIGTERM);
    }
    keeper_.join();
    char line[32] = {};
    const ssize_t size = ::read(output_, line, sizeof line - 1);
    ::close(output_);
    return size > 0 ? std::atoll(line) : 0;
  }
  const std::string& endpoint() const { return endpoint_; }
  int stops() const { return stops_; }
  int surprises() const { return surprises_; }

 private:
  void start(std::int64_t k) {
    if (output_ >= 0) ::close(output_);
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    std::string program = (test::build_dir() / "sweep_server").string(), number = std::to_string(k);
    std::string folder = folder_.string();
    char* arguments[] = {program.data(), folder.data(), endpoint_.data(),
                         number.data(),  mode_.data(),  nullptr};
    pid_t pid = -1;
    const int failed = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments, environ);
    EXPECT_EQ(failed, 0) << program << ": " << std::strerror(failed);
    pid_ = failed == 0 ? pid : -1;
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    output_ = ends[0];
    char ready[6] = {};
    if (::read(output_, ready, sizeof ready) <= 0) {
      ++surprises_;
      std::printf("a server that was started did not become ready\n");
    }
  }
  void surprise(int status) {
    ++surprises_;
    std::printf("a server ended by %s %d\n", WIFEXITED(status) ? "itself with" : "signal",
                WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
  }

  const std::filesystem::path folder_;
  std::string endpoint_, mode_;
  std::mutex mutex_;  ///< held while a server is started, and while one is told to end
  std::atomic<pid_t> pid_{-1};
  int output_ = -1;
  std::atomic<int> stops_{0}, surprises_{0};
  std::atomic<bool> stopping_{false};
  std::thread keeper_;
};

/// What a client was told: the bodies of its replies.
struct Told {
  std::map<std::string, std::map<std::int64_t, Value>> turns;  ///< of each episode
  std::set<std::string> closed;                                ///< episodes
  std::size_t lost = 0;     ///< requests that failed, or what the journal does not have
  std::size_t doubled = 0;  ///< what is there twice, or differs
  std::string first;        ///< the first of those

  void count(std::size_t& of, const std::string& what) {
    ++of;
    if (first.empty()) first = what;
  }
};

class Sweep : public ::testing::Test {
 protected:
  Sweep() {
    std::string name = (std::filesystem::temp_directory_path() / "hone-sweep-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~Sweep() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  void start_again() const {
    for (const auto& file : std::filesystem::directory_iterator(folder_)) {
      std::filesystem::remove(file.path());
    }
  }

  static Value step_body(const std::string& episode, std::int64_t turn) {
    return Value::map(
        {{"episode", episode},
         {"turn", turn},
         {"action", Value::map({{"code", "int of_turn_" + std::to_string(turn) + ";"}})}});
  }

  static void step(Client& client, const std::string& episode, std::int64_t turn, Told& told) {
    const auto body = client.call("step", step_body(episode, turn));
    if (!body) return told.count(told.lost, body.error().message);
    const auto [known, fresh] = told.turns[episode].emplace(turn, *body);
    if (!fresh && known->second != *body)
      told.count(told.doubled, "a repeat was answered otherwise");
  }

  /// Episodes of two turns; every third is closed, every fifth branched after its first turn.
  static void play(Client& client, int episodes, Told& told) {
    for (int i = 0; i < episodes; ++i) {
      ResetOptions options;
      options.task = "add_relu";
      auto episode = client.reset(options);
      if (!episode) {
        told.count(told.lost, episode.error().message);
        continue;
      }
      told.turns[episode->id];
      step(client, episode->id, 1, told);
      step(client, episode->id, 2, told);
      if (i % 5 == 0) {
        auto branch = client.branch(*episode, 1);
        if (!branch) {
          told.count(told.lost, branch.error().message);
        } else {
          step(client, branch->id, 2, told);
          step(client, branch->id, 1, told);
        }
      }
      if (i % 3 != 0) continue;
      const auto closed = client.close(*episode);
      if (closed) told.closed.insert(episode->id);
      // Asked a second time, because the first answer went with the server: it is closed.
      if (!closed && closed.error().code != Code::kNotFound &&
          closed.error().code != Code::kUnavailable) {
        told.count(told.lost, closed.error().message);
      }
    }
  }

  std::size_t evaluations() const {
    std::ifstream file(folder_ / "evaluated");
    return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
  }

  /// What is on the disk against what was told.
  void check(Told& told) const {
    const auto reader = JournalReader::open(folder_ / "journal.db");
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(*(*reader)->check(), std::vector<std::string>());
    EpisodeFilter all;
    all.limit = 0;
    const auto lines = (*reader)->list(all);
    ASSERT_TRUE(lines);
    for (const EpisodeLine& line : *lines) {
      if (told.turns.count(episode_name(line.id)) == 0) told.count(told.doubled, "an episode more");
    }
    const auto held = (*reader)->held();
    ASSERT_TRUE(held);
    for (const JournalReader::Held& one : *held) {
      if (told.closed.count(episode_name(one.id)) == 0) continue;
      told.count(told.lost, "the close of " + episode_name(one.id) + " is lost");
    }
    for (const auto& [name, turns] : told.turns) {
      const auto stored = (*reader)->episode(episode_number(name));
      if (!stored || !*stored) {
        told.count(told.lost, "episode " + name + " is lost");
        continue;
      }
      if ((*stored)->turns.size() > turns.size()) told.count(told.doubled, "a turn more");
      for (const auto& [turn, body] : turns) {
        const auto at = static_cast<std::size_t>(turn) - 1;
        if ((*stored)->turns.size() <= at) {
          told.count(told.lost, "turn " + std::to_string(turn) + " of " + name + " is lost");
        } else if (*recorded_value(*(*stored)->turns[at].reply) != body) {
          told.count(told.doubled, "turn " + std::to_string(turn) + " of " + name + " differs");
        }
      }
    }
  }

  struct Point {
    Told told;
    std::int64_t operations = 0;
    int stops = 0;
  };

  Point run(std::int64_t k, int episodes, const std::string& mode) {
    start_again();
    Point point;
    Restarted server(folder_, k, mode);
    ClientOptions options;
    options.name = "sweep";
    options.request_timeout_s = 60;
    auto client = Client::connect(server.endpoint(), options);
    if (!client) {
      ADD_FAILURE() << client.error().message;
      return point;
    }
    play(**client, episodes, point.told);
    const std::size_t before = evaluations();
    for (auto& [episode, turns] : point.told.turns) {
      // Those that were closed are gone for a client, and in the journal.
      if (turns.empty()) continue;
      const auto again = (*client)->call("step", step_body(episode, turns.rbegin()->first));
      if (again && *again != turns.rbegin()->second) {
        point.told.count(point.told.doubled, "a repeat was answered otherwise");
      }
    }
    EXPECT_EQ(evaluations(), before) << "a done turn was evaluated again";
    client->reset();
    point.operations = server.stop();
    point.stops = server.stops();
    EXPECT_EQ(server.surprises(), 0);
    check(point.told);
    return point;
  }

  void sweep(const std::string& mode, int episodes, std::int64_t points) {
    const Point whole = run(0, episodes, mode);
    ASSERT_EQ(whole.told.lost + whole.told.doubled, 0u) << whole.told.first;
    ASSERT_GT(whole.operations, 10);
    long long part = 0, parts = std::max<std::int64_t>(1, whole.operations / points);
    if (const char* asked = std::getenv("HONE_SWEEP")) {
      ASSERT_EQ(std::sscanf(asked, "%lld/%lld", &part, &parts), 2) << "HONE_SWEEP=PART/PARTS";
    }
    std::int64_t tried = 0, stopped = 0;
    for (std::int64_t k = 1 + part; k <= whole.operations; k += parts) {
      const Point point = run(k, episodes, mode);
      ASSERT_EQ(point.told.lost, 0u) << "operation " << k << ": " << point.told.first;
      ASSERT_EQ(point.told.doubled, 0u) << "operation " << k << ": " << point.told.first;
      if (HasFailure()) FAIL() << "operation " << k;
      ++tried;
      stopped += point.stops;
    }
    // Heartbeats come and go with time, so that the last points may lie behind the end of a run.
    EXPECT_GE(stopped, tried * 3 / 4);
    std::printf("%s: %lld points of %lld, %lld stops, 0 lost, 0 doubled\n", mode.c_str(),
                static_cast<long long>(tried), static_cast<long long>(whole.operations),
                static_cast<long long>(stopped));
  }

  std::filesystem::path folder_;
};

TEST_F(Sweep, ServerKilledAnywhere_NoStepIsLostOrDoubled) {
#ifdef HONE_SANITIZED
  sweep("scripted", 50, 6);  // a sanitized server takes seconds to start
#else
  sweep("scripted", 50, 24);
#endif
}

TEST_F(Sweep, RealBuilds_NoStepIsLostOrDoubled) {
#ifdef HONE_SANITIZED
  GTEST_SKIP() << "evaluations of a sanitized server take too long";
#endif
  sweep("real", 2, 4);
}

TEST_F(Sweep, ForgetfulServer_IsDetected) {
  const Point point = run(200, 50, "forgetful");
  EXPECT_EQ(point.stops, 1);
  EXPECT_GT(point.told.lost, 0u);
}

}  // namespace
}  // namespace hone::test
