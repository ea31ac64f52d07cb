// The requests without an answer.
#include "request_table.hpp"

#include <algorithm>

namespace hone::inline client_api {
namespace {

template <typename Map>
RequestPtr take_from(Map& map, std::int64_t id) {
  const auto found = std::find_if(map.begin(), map.end(),
                                  [id](const auto& entry) { return entry.second->id == id; });
  if (found == map.end()) return nullptr;
  RequestPtr request = found->second;
  map.erase(found);
  return request;
}

}  // namespace

void RequestTable::add(const RequestPtr& request) {
  alive_[request->id] = {request};
  if (request->deadline_ns > 0) set_deadline(*request, request->deadline_ns);
}

RequestPtr RequestTable::find(std::int64_t id) const {
  const auto found = alive_.find(id);
  return found == alive_.end() ? nullptr : found->second.request;
}

bool RequestTable::remove(const Request& request) {
  const auto found = alive_.find(request.id);
  if (found == alive_.end()) return false;
  drop_deadline(found->second);
  alive_.erase(found);
  return true;
}

std::vector<RequestPtr> RequestTable::take_all() {
  std::vector<RequestPtr> all;
  for (const auto& [id, entry] : alive_) all.push_back(entry.request);
  alive_.clear();
  deadlines_.clear();
  return all;
}

RequestPtr RequestTable::take_expired(std::int64_t now_ns) {
  if (deadlines_.empty() || deadlines_.begin()->first > now_ns) return nullptr;
  Entry& entry = alive_.at(deadlines_.begin()->second);
  drop_deadline(entry);
  return entry.request;
}

void RequestTable::set_deadline(const Request& request, std::int64_t deadline_ns) {
  Entry& entry = alive_.at(request.id);
  drop_deadline(entry);
  entry.deadline_ns = deadline_ns;
  deadlines_.emplace(deadline_ns, request.id);
}

void RequestTable::drop_deadline(Entry& entry) {
  if (entry.deadline_ns != 0) deadlines_.erase({entry.deadline_ns, entry.request->id});
  entry.deadline_ns = 0;
}

void RequestTable::retry_at(const RequestPtr& request, std::int64_t at_ns) {
  retries_.emplace(at_ns, request);
}

RequestPtr RequestTable::take_retry(std::int64_t now_ns) {
  if (retries_.empty() || retries_.begin()->first > now_ns) return nullptr;
  RequestPtr request = retries_.begin()->second;
  retries_.erase(retries_.begin());
  return request;
}

std::vector<RequestPtr> RequestTable::end_ending(const std::string& episode) {
  const auto ending = ending_.find(episode);
  if (ending == ending_.end() || --ending->second > 0) return {};
  ending_.erase(ending);
  std::vector<RequestPtr> released;
  const auto [first, last] = held_.equal_range(episode);
  for (auto it = first; it != last; ++it) released.push_back(it->second);
  held_.erase(first, last);
  return released;
}

bool RequestTable::hold(const RequestPtr& request) {
  if (request->verb != "step" || !ending_.contains(request->episode)) return false;
  held_.emplace(request->episode, request);
  return true;
}

RequestPtr RequestTable::take_delayed(std::int64_t id) {
  if (RequestPtr request = take_from(retries_, id)) return request;
  return take_from(held_, id);
}

std::int64_t RequestTable::next_ns() const {
  const std::int64_t deadline = deadlines_.empty() ? INT64_MAX : deadlines_.begin()->first;
  const std::int64_t retry = retries_.empty() ? INT64_MAX : retries_.begin()->first;
  return std::min(deadline, retry);
}

}  // namespace hone::inline client_api
