// Reads the process' effective capabilities.
#include "sandbox/root_capabilities.hpp"

#include <linux/capability.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "sandbox/cgroup.hpp"

namespace hone {
namespace {

struct Right {
  std::string_view name;
  int bit;
};
constexpr Right kRights[] = {
    {"CHOWN", CAP_CHOWN},   {"KILL", CAP_KILL},           {"SETGID", CAP_SETGID},
    {"SETUID", CAP_SETUID}, {"SYS_ADMIN", CAP_SYS_ADMIN}, {"SYS_PTRACE", CAP_SYS_PTRACE},
};

std::uint64_t effective_rights() {
  constexpr std::string_view kKey = "\nCapEff:\t";
  const std::string status = read_kernel_file("/proc/self/status");
  const std::size_t at = status.find(kKey);
  if (at == std::string::npos) return UINT64_MAX;  // unknown: report none as missing
  return std::strtoull(status.c_str() + at + kKey.size(), nullptr, 16);
}

}  // namespace

std::string missing_capabilities(std::initializer_list<std::string_view> names) {
  if (::geteuid() != 0) return "";
  const std::uint64_t held = effective_rights();
  std::string missing, options;
  for (const Right& right : kRights) {
    for (const std::string_view name : names) {
      if (name != right.name || (held >> right.bit & 1) != 0) continue;
      missing += (missing.empty() ? "CAP_" : ", CAP_") + std::string(name);
      options += " --cap-add " + std::string(name);
    }
  }
  if (missing.empty()) return "";
  return " (" + missing + (missing.find(',') == std::string::npos ? " is" : " are") +
         " missing; in Docker:" + options + ")";
}

}  // namespace hone
