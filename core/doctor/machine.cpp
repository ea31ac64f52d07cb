// Checks sandbox, compilers, CPUs, clock and memory.
#include <sys/statfs.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "app/host.hpp"
#include "base/descriptors.hpp"
#include "base/files.hpp"
#include "doctor/findings.hpp"
#include "sandbox/launcher.hpp"
#include "server/options.hpp"
#include "server/socket.hpp"
#include "server/strangers.hpp"

namespace hone {
namespace {

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The first output line of a trusted program of this machine.
std::string first_line_of_command(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(
      popen((command + " 2>/dev/null").c_str(), "re"), &pclose);
  std::array<char, 512> text{};
  if (!pipe || std::fgets(text.data(), static_cast<int>(text.size()), pipe.get()) == nullptr)
    return "";
  std::string line = text.data();
  if (!line.empty() && line.back() == '\n') line.pop_back();
  return line;
}

std::string field_of(const std::filesystem::path& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    const std::size_t start =
        colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

std::string gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GB", bytes / 1e9);
  return text;
}

DoctorFinding wall(const std::string& what, bool there, const std::string& gain,
                   const std::string& advice) {
  return {what, there ? DoctorFinding::kGood : DoctorFinding::kNote, there ? gain : "not available",
          there ? "" : advice};
}

void examine_jail(const LauncherOptions& options, const Ready& ready,
                  std::vector<DoctorFinding>& findings) {
  const Capabilities& c = ready.capabilities;
  const bool enough = ready.level >= std::max(options.minimum, IsolationLevel::kFiltered);
  DoctorFinding isolation{
      "isolation", enough ? DoctorFinding::kGood : DoctorFinding::kMissing,
      std::string(isolation_name(ready.level)) + " (levels: none, filtered, separated, private)"};
  if (!ready.no_slot_users_reason.empty()) {
    isolation.advice = ready.no_slot_users_reason;
  } else if (!enough) {
    isolation.advice =
        "submissions could reach files and services of this machine; install a kernel with "
        "seccomp, and "
        "Landlock or user namespaces";
  }
  if (options.minimum > IsolationLevel::kFiltered && !enough) {
    isolation.found += ", expected at least " + std::string(isolation_name(options.minimum)) +
                       " (isolation.minimum)";
  }
  findings.push_back(isolation);
  if (!c.pidfd) {
    findings.push_back({"pidfd", DoctorFinding::kMissing, "no pidfd_open",
                        "Linux 5.3, or a newer gVisor: this kernel has no pidfd_open"});
  }
  const std::string& freezer = ready.freezer;
  const bool stops = freezer == "cgroup" ? c.cgroup_freeze : freezer == "ptrace" && c.ptrace;
  findings.push_back(
      {"freezer", stops ? DoctorFinding::kGood : DoctorFinding::kMissing,
       stops             ? freezer
       : freezer.empty() ? "none: candidates cannot be frozen"
                         : "no " + freezer + " on this machine (isolation.freezer)",
       stops ? "" : "mount cgroup v2 writable, or allow ptrace (kernel.yama.ptrace_scope ≤ 1)"});
  if (stops && freezer == "ptrace")
    findings.back().advice = "a writable cgroup v2 mount freezes faster, with less noise";
  const bool own_users = c.slot_users && ready.no_slot_users_reason.empty();
  findings.push_back({"user", own_users ? DoctorFinding::kGood : DoctorFinding::kNote,
                      !c.root     ? "not root"
                      : own_users ? "root: each slot has its own user"
                                  : "root, but candidates have hone's user",
                      c.root ? "" : "run as root to give each slot its own user"});
  findings.push_back(
      wall("seccomp", c.seccomp, "system calls are filtered",
           "use a kernel with CONFIG_SECCOMP_FILTER, and a container that permits seccomp"));
  findings.push_back(wall(
      "landlock", c.landlock_abi > 0,
      "ABI " + std::to_string(c.landlock_abi) + ": file access is restricted",
      "Linux 5.13 or newer with landlock in the lsm= list; a private root stands in (gVisor)"));
  findings.push_back(wall("private root", c.mount_namespace, "sandboxes have a private file system",
                          "root or user namespaces (kernel.unprivileged_userns_clone=1), and a "
                          "container that allows mounts"));
  findings.push_back(wall("pid namespace", c.pid_namespace, "sandboxes have a private process list",
                          "as for the private root"));
  findings.push_back(wall("network namespace", c.network_namespace, "sandboxes have no network",
                          "as for the private root; seccomp stands in"));
  findings.push_back(
      wall("slot users", c.slot_users, "sandboxes cannot signal each other",
           c.root ? "see the missing capability under 'Details of failed tests'" : "run as root"));
  findings.push_back(wall("cgroup memory", c.cgroup_memory, "memory limits count every page",
                          "delegate a memory controller; address-space limits stand in"));
  findings.push_back(wall("cgroup pids", c.cgroup_pids, "process limits per jail",
                          "delegate the pids controller; RLIMIT_NPROC stands in"));
}

void examine_descriptors(std::vector<DoctorFinding>& findings) {
  const std::size_t limit = raise_descriptor_limit();
  const std::size_t connections = connections_within(limit);
  const bool serves = limit >= kDescriptorsMin;
  const bool enough = connections >= kConnectionsMax;
  findings.push_back(
      {"open files",
       !serves  ? DoctorFinding::kMissing
       : enough ? DoctorFinding::kGood
                : DoctorFinding::kNote,
       std::to_string(limit) + ": at most " + std::to_string(connections) + " connections",
       enough ? "" : kRaiseDescriptors});
  if (!serves)
    findings.back().found =
        std::to_string(limit) + ", expected at least " + std::to_string(kDescriptorsMin);
}

/// Runs a program in the sandbox of a builder and of a candidate, to test all parts together.
Status try_jails(const LauncherOptions& options) {
  HONE_ASSIGN(const auto launcher, Launcher::start(options));
  SpawnRequest request;
  request.program = install_root() / "hone";
  request.arguments = {"--version"};
  for (const Jail jail : {Jail::kBuilder, Jail::kCandidate}) {
    request.jail = jail;
    request.label = jail == Jail::kBuilder ? "builder" : "candidate";
    HONE_ASSIGN(const auto process, launcher->spawn(request));
    HONE_ASSIGN(const ProcessExit exit, process->wait(10));
    if (exit.exit_code == 0) continue;
    const std::string how = exit.signal != 0 ? signal_name(exit.signal)
                                             : "exit status " + std::to_string(exit.exit_code);
    return internal_error(request.label + ": " + request.program.string() + " ended with " + how);
  }
  return {};
}

void examine_trial(const LauncherOptions& options, const Ready& ready,
                   std::vector<DoctorFinding>& findings) {
  if (!ready.refused.empty() || !check_descriptor_limit(kDescriptorsMin))
    return;  // already reported
  const Status ran = try_jails(options);
  findings.push_back(
      {"jails", ran ? DoctorFinding::kGood : DoctorFinding::kMissing,
       ran ? "a program ran as builder and as candidate" : ran.error().message,
       ran ? ""
           : "nothing can be built or run: sandboxing is available, but a sandboxed process failed "
             "to start"});
}

void examine_compilers(std::vector<DoctorFinding>& findings) {
  struct Language {
    const char* what;
    std::vector<std::string> programs;
    const char* package;
    bool needed;
  };
  const std::vector<Language> languages{
      {"c++ compiler", {"g++", "clang++", "g++-12", "g++-13"}, "g++", true},
      {"c compiler", {"gcc", "clang", "gcc-12", "gcc-13"}, "gcc", true},
      {"clang++ (optional)", {"clang++", "clang++-14", "clang++-18", "clang++-19"}, "clang", false},
      {"cmake (for hone new)", {"cmake"}, "cmake", false},
      {"ninja (for hone new)", {"ninja"}, "ninja-build", false}};
  for (const Language& language : languages) {
    const std::string path = find_program(language.programs);
    if (path.empty()) {
      findings.push_back(
          {language.what, language.needed ? DoctorFinding::kMissing : DoctorFinding::kNote,
           "not found", std::string("apt-get install ") + language.package, language.package});
    } else {
      findings.push_back({language.what, DoctorFinding::kGood,
                          path + ": " + first_line_of_command(path + " --version")});
    }
  }
}

void examine_cpus(std::vector<DoctorFinding>& findings) {
  const int cpus = cpu_count();
  std::string model = field_of("/proc/cpuinfo", "model name");
  if (model.empty()) model = "unknown model";
  findings.push_back(
      {"cpus", cpus >= 2 ? DoctorFinding::kGood : DoctorFinding::kNote,
       std::to_string(cpus) + " × " + model,
       cpus >= 2 ? "" : "with one CPU the judge and the submission share it: times are noisy"});
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (!governor.empty() && governor != "performance") {
    findings.push_back({"frequency", DoctorFinding::kNote, "governor " + governor,
                        "cpupower frequency-set -g performance steadies times"});
  }
  if (first_line("/sys/devices/system/cpu/smt/active") == "1") {
    findings.push_back(
        {"hyper-threads", DoctorFinding::kNote, "on",
         "a busy sibling slows a measurement: give devices whole cores (cpu.devices)"});
  }
  const std::string clock =
      first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const bool fast = clock == "tsc" || clock == "kvm-clock" || clock == "arch_sys_counter" ||
                    clock == "hyperv_clocksource_tsc_page";
  findings.push_back(
      {"clock source", fast ? DoctorFinding::kGood : DoctorFinding::kNote,
       clock.empty() ? "unknown" : clock,
       fast ? "" : "a read may take a system call, so short kernels are measured less precisely"});
}

void examine_memory(std::vector<DoctorFinding>& findings) {
  const double available =
      std::strtod(field_of("/proc/meminfo", "MemAvailable").c_str(), nullptr) * 1024;
  const bool enough = available > 2e9;
  findings.push_back(
      {"memory", enough ? DoctorFinding::kGood : DoctorFinding::kNote,
       gigabytes(available) + " available",
       enough
           ? ""
           : "builds and inputs need 2 GB or more; add memory, or lower evaluate.measure.set_mb"});
  std::string huge = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  const std::size_t open = huge.find('['), close = huge.find(']');
  huge = open == std::string::npos || close == std::string::npos
             ? "unknown"
             : huge.substr(open + 1, close - open - 1);
  findings.push_back({"huge pages", DoctorFinding::kGood, "transparent: " + huge});
  // Not /dev/shm: hone's shared memory is anonymous (memfd_create), so the limit of that file system does not apply.
  struct statfs info {};
  if (statfs("/tmp", &info) != 0) return;
  constexpr long kTmpfs = 0x01021994;
  const double room = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_bsize);
  const bool good = room > 2.5e8;
  findings.push_back({"/tmp", good ? DoctorFinding::kGood : DoctorFinding::kNote,
                      gigabytes(room) + " free" + (info.f_type == kTmpfs ? ", tmpfs" : ""),
                      good ? "" : "builds need 250 MB; free space, or set isolation.workdir"});
}

void examine_transport(std::vector<DoctorFinding>& findings) {
  const bool there = curve_available();
  findings.push_back({"curve", there ? DoctorFinding::kGood : DoctorFinding::kNote,
                      there ? "libzmq supports it: hone can serve beyond loopback (hone keys)"
                            : "this libzmq does not support it: hone can serve only on loopback",
                      there ? "" : "install a libzmq that is built with libsodium (Debian's is)"});
}

void examine_installation(std::vector<DoctorFinding>& findings) {
  const std::filesystem::path root = install_root();
  std::string missing;
  for (const char* part : {"libexec/hone-launcher", "libexec/hone-launcher.so",
                           "libexec/hone-builder", "libexec/hone-judge", "libexec/hone-candidate",
                           "libexec/hone-candidate.so", "libexec/hone-plugin-host",
                           "plugins/backends/cpu.so", "plugins/datasets/tasks.so", "share/tasks"}) {
    std::error_code ignored;
    if (!std::filesystem::exists(root / part, ignored))
      missing += (missing.empty() ? "" : ", ") + std::string(part);
  }
  findings.push_back(
      {"installation", missing.empty() ? DoctorFinding::kGood : DoctorFinding::kMissing,
       missing.empty() ? root.string() : "no " + missing + " below " + root.string(),
       missing.empty() ? "" : "install hone again, and keep its files in one folder"});
}

}  // namespace

std::vector<DoctorFinding> examine_machine(const LauncherOptions& options, const Ready& ready) {
  std::vector<DoctorFinding> findings;
  findings.push_back({"kernel", DoctorFinding::kGood, ready.capabilities.kernel});
  examine_installation(findings);
  examine_jail(options, ready, findings);
  examine_descriptors(findings);
  examine_trial(options, ready, findings);
  examine_compilers(findings);
  examine_cpus(findings);
  examine_memory(findings);
  examine_transport(findings);
  return findings;
}

std::string missing_packages(const std::vector<DoctorFinding>& findings) {
  std::string packages;
  for (const DoctorFinding& finding : findings) {
    if (finding.package.empty()) continue;
    packages += (packages.empty() ? "" : " ") + finding.package;
  }
  return packages;
}

}  // namespace hone
