// Landlock: rule sets for the seals, by raw system calls with the constants written out.
#include "sandbox/landlock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/unique_fd.hpp"

namespace hone {
namespace {

// Constants of linux/landlock.h, all ABIs.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr std::uint64_t kExecute = 1u << 0, kWriteFile = 1u << 1, kReadFile = 1u << 2,
                        kReadDir = 1u << 3;
constexpr std::uint64_t kAllOfAbi1 = (1u << 13) - 1;
constexpr std::uint64_t kRefer = 1u << 13, kTruncate = 1u << 14, kIoctlDev = 1u << 15;
constexpr std::uint64_t kAllTcp = 3;     // bind, connect
constexpr std::uint64_t kAllScopes = 3;  // abstract unix sockets, signals
constexpr std::uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDev;

struct Ruleset {
  std::uint64_t files = 0, tcp = 0, scopes = 0;
};
struct [[gnu::packed]] PathRule {
  std::uint64_t allowed = 0;
  std::int32_t parent_fd = -1;
};

/// The rights that a kernel with this ABI can deny, and the size of the struct that it knows.
std::size_t everything(int abi, Ruleset* rules) {
  rules->files = kAllOfAbi1;
  if (abi >= 2) rules->files |= kRefer;
  if (abi >= 3) rules->files |= kTruncate;
  if (abi >= 5) rules->files |= kIoctlDev;
  if (abi >= 4) rules->tcp = kAllTcp;
  if (abi >= 6) rules->scopes = kAllScopes;
  if (abi >= 6) return sizeof(Ruleset);
  return abi >= 4 ? offsetof(Ruleset, scopes) : offsetof(Ruleset, tcp);
}

Status allow(int ruleset, const std::string& path, std::uint64_t allowed) {
  const UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd) return {};
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return system_error("stat " + path, errno);
  PathRule rule;
  rule.allowed = S_ISDIR(info.st_mode) ? allowed : allowed & kOfFiles;
  rule.parent_fd = fd.get();
  constexpr int kPathBeneath = 1;
  if (::syscall(kAddRule, ruleset, kPathBeneath, &rule, 0) != 0) {
    return system_error("landlock rule for " + path, errno);
  }
  return {};
}

}  // namespace

int landlock_abi(int* error_number) {
  constexpr unsigned kVersion = 1;
  const long abi = ::syscall(kCreateRuleset, nullptr, 0, kVersion);
  if (abi < 0 && error_number != nullptr) *error_number = errno;
  return abi < 0 ? 0 : static_cast<int>(abi);
}

Status restrict_with_landlock(const std::vector<std::string>& readable,
                              const std::vector<std::string>& writable) {
  Ruleset rules;
  const std::size_t size = everything(landlock_abi(), &rules);
  const UniqueFd ruleset(static_cast<int>(::syscall(kCreateRuleset, &rules, size, 0)));
  if (!ruleset) return system_error("landlock rule set", errno);
  for (const std::string& path : readable) {
    HONE_TRY(allow(ruleset.get(), path, kExecute | kReadFile | kReadDir));
  }
  for (const std::string& path : writable) HONE_TRY(allow(ruleset.get(), path, rules.files));
  if (::syscall(kRestrictSelf, ruleset.get(), 0) != 0) {
    return system_error("landlock restrict", errno);
  }
  return {};
}

}  // namespace hone
