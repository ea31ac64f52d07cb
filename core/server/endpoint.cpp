// Checks endpoints.
#include "server/endpoint.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "base/port.hpp"
#include "base/unique_fd.hpp"

namespace hone {
namespace {

constexpr std::string_view kTcp = "tcp://";
constexpr std::string_view kIpc = "ipc://";

bool is_loopback(const std::string& host) {
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6) != 0;
  return false;
}

Result<std::string> prepare_tcp(const std::string& endpoint, bool guarded) {
  const std::string rest = endpoint.substr(kTcp.size());
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == rest.size()) {
    return invalid_argument(endpoint + ": found no port, expected tcp://127.0.0.1:5917");
  }
  std::string host = rest.substr(0, colon);
  const std::string port = rest.substr(colon + 1);
  if (port != "*" && !port_number(port)) {
    return invalid_argument(endpoint + ": found port '" + port + "', expected 0 to 65535 or *");
  }
  // Rationale: a resolver may map a name to any address. The only permitted name, localhost, is replaced by its address.
  if (host == "localhost") host = "127.0.0.1";
  std::string bare = host;
  if (bare.size() > 2 && bare.front() == '[' && bare.back() == ']') {
    bare = bare.substr(1, bare.size() - 2);
  }
  if (!guarded && !is_loopback(bare)) {
    return invalid_argument(
        endpoint +
        ": found an address that is not loopback; listening there needs CURVE and an "
        "allow-list: make a client's key with `hone keys new NAME`, then serve with --keys keys "
        "(server.keys); or use tcp://127.0.0.1:" +
        port + ", tcp://[::1]:" + port + " or ipc://FOLDER/hone.sock");
  }
  return std::string(kTcp) + host + ":" + port;
}

/// Whether a process accepts connections on this socket file.
Result<bool> is_alive(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return system_error("socket", errno);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return true;
  }
  return errno == EAGAIN || errno == EINPROGRESS;
}

Status check_folder(const std::string& endpoint, const std::filesystem::path& folder) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) {
    return system_error(endpoint + ": folder " + folder.string(), errno);
  }
  if (!S_ISDIR(info.st_mode)) {
    return failed_precondition(endpoint + ": " + folder.string() + " is not a folder");
  }
  if (info.st_uid != ::geteuid() || (info.st_mode & 077) != 0) {
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(info.st_mode) & 07777u);
    return failed_precondition(endpoint + ": folder " + folder.string() + ": found mode " + mode +
                               " of user " + std::to_string(info.st_uid) +
                               ", expected 0700 of user " + std::to_string(::geteuid()) +
                               ", so that other users cannot connect");
  }
  return {};
}

Status check_ipc(const std::string& endpoint) {
  const std::string path = endpoint.substr(kIpc.size());
  if (path.empty() || path.front() != '/') {
    return invalid_argument(endpoint +
                            ": the path is not absolute; expected ipc:///FOLDER/hone.sock");
  }
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    return invalid_argument(endpoint + ": found a path of " + std::to_string(path.size()) +
                            " bytes, at most " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                            " allowed");
  }
  HONE_TRY(check_folder(endpoint, std::filesystem::path(path).parent_path()));
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    return errno == ENOENT ? Status() : Status(system_error(endpoint, errno));
  }
  if (!S_ISSOCK(info.st_mode)) {
    return failed_precondition(
        endpoint + ": the file exists and is not a socket; remove it or choose another path");
  }
  return {};
}

Result<std::string> prepare_ipc(const std::string& endpoint) {
  HONE_TRY(check_ipc(endpoint));
  const std::string path = endpoint.substr(kIpc.size());
  if (::access(path.c_str(), F_OK) != 0) return endpoint;
  HONE_ASSIGN(const bool alive, is_alive(path));
  if (alive)
    return Error{Code::kUnavailable, endpoint + ": another server listens there",
                 ErrorCause::kAddressInUse};
  if (::unlink(path.c_str()) != 0) return system_error(endpoint + ": remove stale socket", errno);
  return endpoint;
}

}  // namespace

Result<std::string> prepare_endpoint(const std::string& endpoint, bool guarded) {
  if (endpoint.rfind(kTcp, 0) == 0) return prepare_tcp(endpoint, guarded);
  if (endpoint.rfind(kIpc, 0) == 0) return prepare_ipc(endpoint);
  return invalid_argument("found '" + endpoint +
                          "', expected tcp://127.0.0.1:PORT, tcp://[::1]:PORT or ipc:///PATH");
}

Status check_endpoint(const std::string& endpoint, bool guarded) {
  if (endpoint.rfind(kIpc, 0) == 0) return check_ipc(endpoint);
  HONE_TRY(prepare_endpoint(endpoint, guarded));  // for tcp it changes nothing
  return {};
}

Status seal_endpoint(const std::string& endpoint) {
  if (endpoint.rfind(kIpc, 0) != 0) return {};
  const std::string path = endpoint.substr(kIpc.size());
  if (::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0)
    return system_error(endpoint + ": chmod", errno);
  return {};
}

}  // namespace hone
