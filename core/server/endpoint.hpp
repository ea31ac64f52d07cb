// Where a server may listen: loopback and private ipc sockets; anywhere once CURVE guards it.
#pragma once

#include <string>

#include "base/result.hpp"

namespace hone {

/// Checks an endpoint and makes its place ready: removes the socket file of a server that is gone.
/// Gives the endpoint as it is bound. invalid_argument: malformed, or reachable from other
/// machines though not `guarded` by CURVE; failed_precondition: the folder of an ipc socket is open to others, or its file is
/// something else; unavailable: a server listens there.
Result<std::string> prepare_endpoint(const std::string& endpoint, bool guarded);

/// Whether prepare_endpoint() would refuse it for what it says or where it lies. Touches nothing.
Status check_endpoint(const std::string& endpoint, bool guarded);

/// After bind: only this user may connect to an ipc socket. Does nothing for tcp.
Status seal_endpoint(const std::string& endpoint);

}  // namespace hone
