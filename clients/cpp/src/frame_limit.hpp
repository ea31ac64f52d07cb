// Requests that are larger than the server's frames.
#pragma once

#include "connection.hpp"
#include "request.hpp"

namespace hone::inline client_api {

/// Shortens a submission that does not fit in a frame. invalid_argument: the request does not fit, and cannot be shortened.
///
/// Rationale: a text that is too long is the model's turn, not an error. It stays long enough for the server to reject it. The transport would drop the connection of a client that sends a frame over the limit, without a reason.
Status fit_into_frames(Request& request, const ServerTerms& terms);

}  // namespace hone::inline client_api
