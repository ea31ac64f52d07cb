// One strict reader for the requests of all verbs.
#include "wire/requests.hpp"

#include <algorithm>

#include "model/fields.hpp"

namespace hone::wire {
namespace {

/// Reads each field from a map. `map` keeps the first mistake.
class Reader {
 public:
  explicit Reader(Fields& map) : map_(map) {}

  void id(std::string_view key, std::string& field) { field = map_.text(key, kIdBytesMax); }
  void turn(std::string_view key, std::int64_t& field) { field = map_.integer(key, 0, INT64_MAX); }
  void map(std::string_view key, Value& field) {
    if (const Value* found = map_.map(key)) field = *found;
  }

  void optional(std::string_view key, std::string& field) {
    field = map_.text_or(key, "", kNameBytesMax);
  }
  void optional(std::string_view key, std::int64_t& field) {
    if (map_.value_or_null(key) != nullptr) field = map_.integer(key, 0, INT64_MAX);
  }
  void optional(std::string_view key, std::optional<std::string>& field) {
    if (map_.value_or_null(key) != nullptr) field = map_.text(key);
  }
  void optional(std::string_view key, std::vector<std::string>& field) {
    field = map_.texts_or(key, {});
  }
  void optional(std::string_view key, std::optional<Value>& field) {
    if (const Value* found = map_.map_or_null(key)) field = *found;
  }
  void optional(std::string_view key, std::optional<std::int64_t>& field) {
    if (map_.value_or_null(key) != nullptr) field = map_.integer(key, INT64_MIN, INT64_MAX);
  }
  void optional(std::string_view key, bool& field) { field = map_.flag_or(key, field); }
  template <typename Enum>
  void optional(std::string_view key, Enum& field) {
    const auto& names = EnumNames<Enum>::kNames;
    const std::string name =
        map_.choice_or(key, std::string(enum_name(field)), {std::begin(names), std::end(names)});
    field = find_enum<Enum>(name).value_or(field);
  }

 private:
  Fields& map_;
};

}  // namespace

template <typename Request>
Result<Request> read_request(const Value& body) {
  Fields map(body, std::string(Request::kVerb));
  Request request;
  Reader reader(map);
  request.fields(reader);
  HONE_TRY(map.finish());
  return request;
}

// One line for each request of requests.hpp. Without it, linking fails.
template Result<DescribeRequest> read_request(const Value&);
template Result<ResetRequest> read_request(const Value&);
template Result<StepRequest> read_request(const Value&);
template Result<CancelRequest> read_request(const Value&);
template Result<CloseRequest> read_request(const Value&);
template Result<ResumeRequest> read_request(const Value&);
template Result<BranchRequest> read_request(const Value&);
template Result<PingRequest> read_request(const Value&);
template Result<MetricsRequest> read_request(const Value&);
template Result<HealthRequest> read_request(const Value&);

}  // namespace hone::wire
