// trust_score: how often the judge is wrong about honest kernels and about attacks, on a quiet and on a busy machine.
//
//   trust_score [--times N] [--busy THREADS] [--filter TEXT] [--json]
//
// Attacks are those of attack.cpp, honest kernels those of honest/. Each is judged N times with another seed. `--busy` keeps
// that many threads computing meanwhile. Exit status 1 if an attack was missed or an honest kernel was scored wrong.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "adversarial/attack.hpp"
#include "adversarial/court.hpp"
#include "base/files.hpp"
#include "model/value.hpp"
#include "places.hpp"

namespace hone::test {
namespace {

struct Options {
  int times = 20;
  int busy = 0;
  std::string filter;
  bool json = false;
};

struct Score {
  int runs = 0, detected = 0, missed = 0, accused = 0, unscored = 0, wrong = 0;
};

/// Threads that compute, as another program on the same machine would.
class Load {
 public:
  explicit Load(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }
  ~Load() {
    on_ = false;
    for (std::thread& thread : threads_) thread.join();
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  void run() const {
    std::vector<double> memory(1 << 18, 1.0);
    while (on_) {
      for (double& x : memory) x = x * 0.999 + 0.001;
    }
  }
  std::atomic<bool> on_{true};
  std::vector<std::thread> threads_;
};

/// Progress, on a terminal alone.
void show(const std::string& what, int run, const Options& options) {
  if (isatty(2) == 0) return;
  std::fprintf(stderr, "\r\033[K%s, run %d of %d", what.c_str(), run + 1, options.times);
}

void note(const std::string& name, const char* what, const Result<Verdict>& verdict) {
  if (isatty(2) != 0) std::fputs("\r\033[K", stderr);
  std::fprintf(stderr, "%s: %s: %s\n", name.c_str(), what, text_of(verdict).c_str());
}

Score score_attacks(const Options& options) {
  Score score;
  for (const Attack& attack : attacks()) {
    if (attack.name.find(options.filter) == std::string::npos) continue;
    for (int run = 0; run < options.times; ++run) {
      show(attack.name, run, options);
      const auto verdict = Court::without({}).judge(attack, 20 + static_cast<std::uint64_t>(run));
      ++score.runs;
      if (!verdict) {
        ++score.unscored;
        note(attack.name, "unscored", verdict);
      } else if (has_gained(*verdict, attack.stopped)) {
        ++score.missed;
        note(attack.name, "missed", verdict);
      } else {
        ++score.detected;
      }
    }
  }
  return score;
}

std::vector<std::filesystem::path> honest_kernels(const std::string& filter) {
  std::vector<std::filesystem::path> files;
  for (const auto& file :
       std::filesystem::directory_iterator(source_dir() / "tests/adversarial/honest")) {
    const std::string name = file.path().filename().string();
    if (file.path().extension() == ".cpp" && name.find(filter) != std::string::npos)
      files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool is_accused(const Verdict& verdict) {
  if (!verdict.caught.empty()) return true;
  if (!verdict.speedup) return false;
  const auto& flags = verdict.speedup->flags;
  return std::find(flags.begin(), flags.end(), "retried") != flags.end();
}

Result<Score> score_honest(const Options& options) {
  Score score;
  EvaluatorOptions judged = evaluator_options();
  judged.builders = 1;
  HONE_ASSIGN(auto machine, Machine::start(std::move(judged)));
  for (const auto& file : honest_kernels(options.filter)) {
    const std::string name = file.stem().string();
    HONE_ASSIGN(const std::string source, read_file(file));
    const auto task = machine->task(name.substr(0, name.find('.')));
    if (task == nullptr) return not_found("task of " + name);
    for (int run = 0; run < options.times; ++run) {
      show(name, run, options);
      const auto verdict = machine->judge(task, source, 1 + static_cast<std::uint64_t>(run));
      ++score.runs;
      if (!verdict) {
        ++score.unscored;
        note(name, "unscored", verdict);
      } else if (!verdict->correct()) {
        ++score.wrong;
        note(name, "scored wrong", verdict);
      } else if (is_accused(*verdict)) {
        ++score.accused;
        note(name, ("accused of '" + verdict->caught + "'").c_str(), verdict);
      }
    }
  }
  return score;
}

Value value_of(const Score& s) {
  return Value::map({{"runs", s.runs},
                     {"detected", s.detected},
                     {"missed", s.missed},
                     {"falsely_accused", s.accused},
                     {"unscored", s.unscored},
                     {"scored_wrong", s.wrong}});
}

void print(const char* kind, const Score& s) {
  const auto share = [&](int n) { return s.runs == 0 ? 0.0 : 100.0 * n / s.runs; };
  std::printf(
      "| %-14s | %5d | %5.1f %%  | %5.1f %% | %5.2f %%          | %5.2f %%  | %5.2f %%      |\n",
      kind, s.runs, share(s.detected), share(s.missed), share(s.accused), share(s.unscored),
      share(s.wrong));
}

int run(const Options& options) {
  const Load load(options.busy);
  const Score hostile = score_attacks(options);
  const auto honest = score_honest(options);
  if (isatty(2) != 0) std::fputs("\r\033[K", stderr);
  if (!honest) {
    std::fprintf(stderr, "trust_score: %s\n", honest.error().message.c_str());
    return 2;
  }
  if (options.json) {
    const Value all = Value::map({{"times", options.times},
                                  {"busy_threads", options.busy},
                                  {"attacks", value_of(hostile)},
                                  {"honest", value_of(*honest)}});
    std::printf("%s\n", to_json(all).c_str());
  } else {
    std::printf("busy threads: %d, times: %d\n", options.busy, options.times);
    std::printf(
        "| kind           |  runs | detected | missed  | falsely accused | unscored | scored wrong "
        "|\n");
    std::printf(
        "|----------------|------:|---------:|--------:|----------------:|---------:|-------------:"
        "|\n");
    print("attacks", hostile);
    print("honest kernels", *honest);
  }
  return hostile.missed == 0 && honest->wrong == 0 ? 0 : 1;
}

int trust_score_main(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    const bool has_value = i + 1 < count;
    if (word == "--json") {
      options.json = true;
    } else if (has_value && word == "--times") {
      options.times = std::max(1, std::atoi(arguments[++i]));
    } else if (has_value && word == "--busy") {
      options.busy = std::max(0, std::atoi(arguments[++i]));
    } else if (has_value && word == "--filter") {
      options.filter = arguments[++i];
    } else {
      std::fprintf(stderr,
                   "trust_score: unexpected argument '%s'; see scripts/trust-score --help\n",
                   word.c_str());
      return 2;
    }
  }
  return run(options);
}

}  // namespace
}  // namespace hone::test

int main(int count, char** arguments) { return hone::test::trust_score_main(count, arguments); }
