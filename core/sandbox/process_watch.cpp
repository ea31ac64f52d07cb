// Reads /proc/PID, /proc/stat, /proc/pressure/memory, /proc/meminfo and cpu.stat of a control group.
#include "sandbox/process_watch.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <string>

#include "base/clock.hpp"
#include "base/memory.hpp"
#include "sandbox/cgroup.hpp"

namespace hone {
namespace {

constexpr std::uint64_t kShortShare = 32;  // the machine is short of memory below this share of it

/// The number after `key`; 0 if the key is missing.
std::uint64_t number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return 0;
  std::size_t from = at + key.size();
  while (from < text.size() && text[from] == ' ') ++from;
  std::uint64_t number = 0;
  std::from_chars(text.data() + from, text.data() + text.size(), number);
  return number;
}

/// The word with this index in a line, from 0.
std::string_view word_of(std::string_view line, int number) {
  for (;; --number) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(" \n"));
    if (number == 0) return word;
    line.remove_prefix(word.size());
    if (line.empty()) return line;
  }
}

std::uint64_t number_of(std::string_view word) {
  std::uint64_t number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number;
}

}  // namespace

std::vector<int> cores_of(pid_t process) {
  cpu_set_t set;
  std::vector<int> cores;
  if (::sched_getaffinity(process, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
  }
  return cores;
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code error;
  const std::string threads = "/proc/" + std::to_string(pid) + "/task";
  for (std::filesystem::directory_iterator thread(threads, error), end; !error && thread != end;
       thread.increment(error)) {
    std::istringstream pids(read_kernel_file(thread->path().string() + "/children"));
    for (pid_t child = 0; pids >> child;) children.push_back(child);
  }
  return children;
}

double tree_seconds(std::string_view stat, double ticks) {
  // The process' name comes before the last ')' and may contain anything.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return 0;
  const std::string_view rest = stat.substr(name_end + 1);
  std::uint64_t sum = 0;
  for (int word = 11; word < 15; ++word) sum += number_of(word_of(rest, word));
  return static_cast<double>(sum) / ticks;
}

ThreadSample thread_from(pid_t thread, std::string_view stat, std::string_view schedstat) {
  ThreadSample seen;
  seen.thread = thread;
  // The process' name comes before the last ')' and may contain anything.
  const std::size_t name_end = stat.rfind(')');
  if (name_end != std::string_view::npos) {
    const std::string_view rest = stat.substr(name_end + 1);
    seen.ready = word_of(rest, 0) == "R";
    const std::uint64_t ticks = number_of(word_of(rest, 11)) + number_of(word_of(rest, 12));
    seen.used_ms = ticks * 1000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  }
  seen.ran_s = static_cast<double>(number_of(word_of(schedstat, 0))) * 1e-9;
  seen.delayed_s = static_cast<double>(number_of(word_of(schedstat, 1))) * 1e-9;
  seen.turns = number_of(word_of(schedstat, 2));
  return seen;
}

std::optional<CoresSeen> cores_from(std::string_view stat, const std::vector<int>& cores,
                                    double ticks) {
  CoresSeen seen;
  for (const int core : cores) {
    const std::size_t at = stat.find("\ncpu" + std::to_string(core) + " ");
    if (at == std::string_view::npos) return std::nullopt;
    // cpuN user nice system idle iowait irq softirq steal
    const std::string_view line = stat.substr(at + 1);
    seen.idle_s +=
        static_cast<double>(number_of(word_of(line, 4)) + number_of(word_of(line, 5))) / ticks;
    seen.stolen_s += static_cast<double>(number_of(word_of(line, 8))) / ticks;
  }
  return seen;
}

double stalled_seconds(std::string_view pressure) {
  return static_cast<double>(number_after(pressure, "total=")) * 1e-6;
}

bool is_short_of_memory(std::string_view meminfo, std::int64_t own) {
  const std::uint64_t total = number_after(meminfo, "MemTotal:") << 10;
  const std::uint64_t available = number_after(meminfo, "MemAvailable:") << 10;
  return total > 0 && available + static_cast<std::uint64_t>(own) < total / kShortShare;
}

double memory_stall_s() { return stalled_seconds(read_kernel_file("/proc/pressure/memory")); }

bool is_short_of_memory(std::int64_t own) {
  return is_short_of_memory(read_kernel_file("/proc/meminfo"), own);
}

ProcessWatch::ProcessWatch(pid_t process, Watched watched, int freeze_fd)
    : process_(process), watched_(watched) {
  if (::clock_getcpuclockid(process, &clock_) != 0) process_ = 0;  // the process has ended
  if (watched != Watched::kTree || freeze_fd < 0) return;
  std::error_code error;
  const auto freeze =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(freeze_fd), error);
  if (!error)
    group_time_.reset(::open((freeze.parent_path() / "cpu.stat").c_str(), O_RDONLY | O_CLOEXEC));
}

double ProcessWatch::ran_s() const {
  if (!watches()) return 0;
  if (watched_ != Watched::kTree) {
    timespec time{};
    ::clock_gettime(clock_, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  if (!group_time_) return tree_ran_s(process_);
  char text[512];
  const ssize_t size = ::pread(group_time_.get(), text, sizeof text, 0);
  if (size <= 0) return 0;
  const std::string_view stat(text, static_cast<std::size_t>(size));
  return static_cast<double>(number_after(stat, "usage_usec")) * 1e-6;
}

/// Rationale: a parent is read before its children. If one of these ends meanwhile, its time is missing until the next sample,
/// and never counts twice.
double ProcessWatch::tree_ran_s(pid_t process) const {
  double ran_s = tree_seconds(read_kernel_file("/proc/" + std::to_string(process) + "/stat"),
                              static_cast<double>(::sysconf(_SC_CLK_TCK)));
  for (const pid_t child : children_of(process)) ran_s += tree_ran_s(child);
  return ran_s;
}

void ProcessWatch::add_threads(pid_t process, std::vector<ThreadSample>& to) const {
  const auto add = [&to](const std::string& folder, pid_t thread) {
    const std::string stat = read_kernel_file(folder + "/stat");
    if (!stat.empty())
      to.push_back(thread_from(thread, stat, read_kernel_file(folder + "/schedstat")));
  };
  const std::string folder = "/proc/" + std::to_string(process);
  if (watched_ == Watched::kFirstThread)
    return add(folder + "/task/" + std::to_string(process), process);
  std::error_code error;
  for (std::filesystem::directory_iterator thread(folder + "/task", error), end;
       !error && thread != end; thread.increment(error))
    add(thread->path().string(), std::atoi(thread->path().filename().c_str()));
  if (watched_ != Watched::kTree) return;
  for (const pid_t child : children_of(process)) add_threads(child, to);
}

ProcessSample ProcessWatch::sample() const {
  ProcessSample seen;
  seen.at_s = monotonic_s();
  if (!watches()) return seen;
  seen.one_thread = watched_ == Watched::kFirstThread;
  add_threads(process_, seen.threads);
  seen.ran_s = ran_s();
  const std::vector<int> cores = cores_of(process_);
  if (const auto of_cores = cores_from(read_kernel_file("/proc/stat"), cores,
                                       static_cast<double>(::sysconf(_SC_CLK_TCK)))) {
    seen.cores = static_cast<int>(cores.size());
    seen.idle_s = of_cores->idle_s;
    seen.stolen_s = of_cores->stolen_s;
  }
  seen.stalled_s = memory_stall_s();
  seen.is_short = is_short_of_memory(memory_of(process_, true).resident);
  return seen;
}

}  // namespace hone
