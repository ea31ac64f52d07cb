// RequestTable: the requests without an answer, their deadlines, and those that wait for a time or for another request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "request.hpp"

namespace hone::inline client_api {

/// Belongs to the client's thread. Times are monotonic nanoseconds.
///
/// Rationale: a step that was sent and given up still has its turn on the server. The next step of its episode waits until the given-up step and its cancel have ended.
class RequestTable {
 public:
  void add(const RequestPtr& request);
  RequestPtr find(std::int64_t id) const;  ///< nullptr: it has been answered
  /// False if it has been answered already.
  bool remove(const Request& request);
  std::vector<RequestPtr> take_all();

  /// A request that is over its deadline, or nullptr. Removes its deadline.
  RequestPtr take_expired(std::int64_t now_ns);
  void set_deadline(const Request& request, std::int64_t deadline_ns);

  void retry_at(const RequestPtr& request, std::int64_t at_ns);
  RequestPtr take_retry(std::int64_t now_ns);

  /// Adds a request that later steps of the episode must wait for.
  void begin_ending(const std::string& episode) { ++ending_[episode]; }
  /// Removes such a request. Returns the steps that need not wait any longer.
  std::vector<RequestPtr> end_ending(const std::string& episode);
  /// Whether a step must wait. The table then keeps it until end_ending() returns it.
  bool hold(const RequestPtr& request);

  /// Removes a request that waits for a time or for another request; nullptr: it does not wait.
  RequestPtr take_delayed(std::int64_t id);
  std::int64_t next_ns() const;  ///< of deadlines and retries; INT64_MAX: none

 private:
  struct Entry {
    RequestPtr request;
    std::int64_t deadline_ns = 0;  // its entry in deadlines_; 0: none
  };
  void drop_deadline(Entry& entry);

  std::unordered_map<std::int64_t, Entry> alive_;
  std::set<std::pair<std::int64_t, std::int64_t>> deadlines_;  // time, id
  std::multimap<std::int64_t, RequestPtr> retries_;            // by time
  std::unordered_map<std::string, std::size_t> ending_;        // episode: requests without an end
  std::multimap<std::string, RequestPtr> held_;                // episode: steps that wait for them
};

}  // namespace hone::inline client_api
