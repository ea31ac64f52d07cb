// Requests that are larger than the server's frames.
#include "frame_limit.hpp"

#include <algorithm>

#include "base/utf8.hpp"
#include "message.hpp"

namespace hone::inline client_api {
namespace {

constexpr std::size_t kCutBytes = 16;  // cut_middle() may keep this many fewer bytes than asked for

/// Cuts the middle out of a submission; false if that is impossible.
bool shorten_action(Request& request, std::size_t excess, std::size_t judged_bytes_max) {
  const Value* given = request.body.find("action");
  if (request.verb != "step" || given == nullptr) return false;
  for (const char* key : {"code", "response"}) {
    const std::string text = text_or(*given, key);
    if (text.size() <= excess + kCutBytes) continue;
    if (text.size() - excess - kCutBytes <= judged_bytes_max) continue;
    Value action = *given;
    action.set(key, cut_middle(text, text.size() - excess));
    request.body.set("action", std::move(action));
    return true;
  }
  return false;
}

}  // namespace

Status fit_into_frames(Request& request, const ServerTerms& terms) {
  std::size_t largest = to_msgpack(request.body).size();
  for (const auto& buffer : request.buffers) largest = std::max(largest, buffer.size());
  if (largest <= terms.frame_bytes_max) return {};
  if (shorten_action(request, largest - terms.frame_bytes_max, terms.judged_bytes_max)) return {};
  return invalid_argument(request.verb + ": found a frame of " + std::to_string(largest) +
                          " bytes, at most " + std::to_string(terms.frame_bytes_max) + " allowed");
}

}  // namespace hone::inline client_api
