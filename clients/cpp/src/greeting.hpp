// How a server greets, before any handshake.
#pragma once

#include <string>

namespace hone::inline client_api {

/// The security mechanism that whoever listens there asks for ("CURVE", "NULL"), of ZMTP's greeting;
/// "" if no server answers within `timeout_ms`. `endpoint`: tcp://HOST:PORT or ipc://PATH.
///
/// Rationale: of two sides that want different mechanisms the one that sees it first hangs up, and
/// then the other may be told no more than that the connection is gone. This reads the greeting
/// without finishing its own, so that the server has nothing to refuse.
std::string mechanism_of(const std::string& endpoint, int timeout_ms);

}  // namespace hone::inline client_api
