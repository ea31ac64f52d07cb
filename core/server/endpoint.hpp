// Rules for endpoints: loopback and private ipc sockets; any address with CURVE.
#pragma once

#include <string>

#include "base/result.hpp"

namespace hone {

/// Checks an endpoint and removes a stale socket file. Returns the endpoint to bind. invalid_argument: malformed, or reachable from other machines without CURVE (`guarded`); failed_precondition: other users can access the folder of an ipc socket, or the file is not a socket; unavailable: a server listens there.
Result<std::string> prepare_endpoint(const std::string& endpoint, bool guarded);

/// The checks of prepare_endpoint() that need no change of files.
Status check_endpoint(const std::string& endpoint, bool guarded);

/// After bind: only this user may connect to an ipc socket. Does nothing for tcp.
Status seal_endpoint(const std::string& endpoint);

}  // namespace hone
