// The server's terms, read from its reply to hello.
#include "connection.hpp"

#include "message.hpp"

namespace hone::inline client_api {

ServerTerms read_terms(const Value& hello, const ServerTerms& before) {
  ServerTerms terms = before;
  terms.incarnation = text_or(hello, "incarnation");
  terms.heartbeat_s = std::clamp(number_or(hello, "heartbeat_s", 5), 0.1, 3600.0);
  terms.lease_s = std::clamp(number_or(hello, "lease_s", 60), 0.3, 1e6);
  if (const Value* limits = hello.find("limits")) {
    // One place is kept for the client's own pings, which renew leases while the others are taken.
    terms.in_flight_max = static_cast<std::size_t>(
        std::max<std::int64_t>(2, int_or(*limits, "in_flight", INT64_MAX)) - 1);
    terms.frame_bytes_max = static_cast<std::size_t>(
        std::max<std::int64_t>(1, int_or(*limits, "frame_bytes", INT64_MAX)));
    terms.judged_bytes_max = static_cast<std::size_t>(
        std::max({std::int64_t{0}, int_or(*limits, "source_bytes", INT64_MAX),
                  int_or(*limits, "response_bytes", INT64_MAX)}));
  }
  return terms;
}

}  // namespace hone::inline client_api
