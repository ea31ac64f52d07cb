// Reading the request as FastAPI would, and mapping outcomes to compiled, correctness and metadata.
#include "gateway/tritonforge_words.hpp"

#include <cmath>
#include <cstdio>

#include "base/utf8.hpp"

namespace hone::tritonforge {
namespace {

constexpr std::int64_t kTrialsMax = 1'000'000;
constexpr std::size_t kWordMax = 64;

/// Reads members and collects what is wrong with them.
class Reader {
 public:
  explicit Reader(const Value& body) : body_(body) {}

  std::string text(const char* key, bool required, std::string fallback,
                   std::size_t bytes_max = SIZE_MAX) {
    const Value* found = body_.find(key);
    if (found == nullptr) {
      if (required) wrong(key, "missing", "field required");
      return fallback;
    }
    if (!found->is_string()) {
      wrong(key, "string_type", "found " + word_of(*found) + ", expected a string");
    } else if (found->as_string().size() > bytes_max) {
      wrong(key, "string_too_long", "expected at most " + std::to_string(bytes_max) + " bytes");
    } else {
      return found->as_string();
    }
    return fallback;
  }
  std::int64_t integer(const char* key, std::int64_t fallback, std::int64_t low,
                       std::int64_t high) {
    const Value* found = body_.find(key);
    if (found == nullptr) return fallback;
    const bool whole = found->is_int() ||
                       (found->is_float() && std::trunc(found->as_double()) == found->as_double());
    if (!whole) {
      wrong(key, "int_type", "found " + word_of(*found) + ", expected an integer");
      return fallback;
    }
    const double number = found->as_double();
    if (number < static_cast<double>(low) || number > static_cast<double>(high)) {
      wrong(key, "out_of_range", "expected " + std::to_string(low) + " to " + std::to_string(high));
      return fallback;
    }
    return found->is_int() ? found->as_int() : static_cast<std::int64_t>(number);
  }
  bool flag(const char* key, bool fallback) {
    const Value* found = body_.find(key);
    if (found == nullptr) return fallback;
    if (found->is_bool()) return found->as_bool();
    wrong(key, "bool_type", "found " + word_of(*found) + ", expected true or false");
    return fallback;
  }
  bool has(const char* key) const { return body_.find(key) != nullptr; }
  bool is_null(const char* key) const { return has(key) && body_.find(key)->is_nil(); }
  bool good() const { return mistakes_.as_array().empty(); }
  Value take_mistakes() { return std::move(mistakes_); }

 private:
  static std::string word_of(const Value& value) {
    return value.is_nil() ? "null" : std::string(value.type_name());
  }
  void wrong(const char* key, const char* type, const std::string& what) {
    mistakes_.push(
        Value::map({{"type", type}, {"loc", Value::array({"body", key})}, {"msg", what}}));
  }

  const Value& body_;
  Value mistakes_ = Value::array();
};

HttpReply unreadable(const std::string& type, const std::string& what) {
  Value list =
      Value::array({Value::map({{"type", type}, {"loc", Value::array({"body"})}, {"msg", what}})});
  return {.status = 422, .body = Value::map({{"detail", std::move(list)}})};
}

std::string whole_reason(const Verdict& verdict) {
  const std::string& words = verdict.diagnostics;
  if (words.empty() || verdict.reason.find(words) != std::string::npos) return verdict.reason;
  return verdict.reason.empty() ? words : verdict.reason + "\n" + words;
}

void say_what_is_wrong(const Verdict& verdict, Value& metadata) {
  const std::string name(outcome_name(verdict.outcome));
  if (!was_compiled(verdict)) {
    metadata.set("compilation_error_name", name).set("compilation_error", whole_reason(verdict));
  } else if (verdict.outcome == Outcome::kWrong || verdict.outcome == Outcome::kCheated) {
    metadata.set("correctness_issue", whole_reason(verdict)).set("correctness_issue_name", name);
    if (verdict.mismatch && verdict.mismatch->got && verdict.mismatch->expected) {
      char text[64];
      const double apart = std::abs(*verdict.mismatch->got - *verdict.mismatch->expected);
      std::snprintf(text, sizeof text, "%.6f", apart);
      metadata.set("max_difference", Value::array({std::string(text)}));
    }
  } else {
    metadata.set("runtime_error", whole_reason(verdict)).set("runtime_error_name", name);
  }
}

}  // namespace

std::variant<EvalRequest, HttpReply> read_request(std::string_view body) {
  const Result<Value> read = from_json(valid_utf8(body));
  if (!read) return unreadable("json_invalid", read.error().message);
  if (!read->is_map()) return unreadable("model_attributes_type", "expected a JSON object");
  Reader reader(*read);
  EvalRequest request;
  request.reference = reader.text("original_model_src", true, "");
  request.submission = reader.text("custom_model_src", true, "");
  const char* seed = !reader.has("seed_num") && reader.has("seed") ? "seed" : "seed_num";
  request.seed = reader.integer(seed, request.seed, -(1LL << 53), 1LL << 53);
  (void)reader.integer("num_correct_trials", 5, 0, kTrialsMax);
  (void)reader.integer("num_perf_trials", 100, 0, kTrialsMax);
  if (!reader.is_null("preferred_device")) (void)reader.integer("preferred_device", 0, -1, 4095);
  request.measure = reader.flag("measure_performance", request.measure);
  request.verbose = reader.flag("verbose", request.verbose);
  request.backend = reader.text("backend", false, request.backend, kWordMax);
  request.entry = reader.text("entry_point", false, "", kWordMax);
  if (reader.good()) return request;
  return HttpReply{.status = 422, .body = Value::map({{"detail", reader.take_mistakes()}})};
}

Value reply_of(const Verdict& verdict, const EvalRequest& request, const std::string& hardware) {
  Value metadata = Value::map({{"hardware", hardware},
                               {"outcome", outcome_name(verdict.outcome)},
                               {"reason", verdict.reason},
                               {"stage", enum_name(verdict.stage)}});
  if (!verdict.caught.empty()) metadata.set("caught", verdict.caught);
  if (!verdict.correct()) say_what_is_wrong(verdict, metadata);
  Value stats = Value::map();
  double runtime = -1;
  if (verdict.correct() && request.measure) {
    if (verdict.speedup) {
      const Speedup& s = *verdict.speedup;
      runtime = s.time_us / 1e3;
      stats = Value::map({{"mean", runtime},
                          {"num_trials", std::int64_t{s.rounds} * s.calls},
                          {"reference_mean", s.baseline_us / 1e3},
                          {"speedup", s.value},
                          {"speedup_low", s.low},
                          {"speedup_high", s.high}});
    } else {
      metadata.set("error_during_performance",
                   "not measured: hone does not time modules on the processor");
    }
  }
  return Value::map({{"compiled", was_compiled(verdict)},
                     {"correctness", verdict.correct()},
                     {"metadata", std::move(metadata)},
                     {"runtime", runtime},
                     {"runtime_stats", std::move(stats)}});
}

}  // namespace hone::tritonforge
