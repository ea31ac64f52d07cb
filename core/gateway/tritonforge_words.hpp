// The words of TritonForge's evaluation server: its request, and a verdict as its reply.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "http/http_server.hpp"
#include "model/verdict.hpp"

namespace hone::tritonforge {

/// POST /eval. What hone decides by itself (trials, device) is read and checked all the same.
struct EvalRequest {
  std::string reference;   ///< original_model_src
  std::string submission;  ///< custom_model_src
  std::int64_t seed = 42;  ///< seed_num; `seed`, as its own client says, where that is not there
  bool measure = true;     ///< measure_performance
  bool verbose = false;
  std::string backend = "cuda";
  std::string entry;  ///< entry_point, hone's own: the reference's class; empty: found
};

/// The request, or a reply of status 422 with every mistake, as FastAPI lists them.
std::variant<EvalRequest, HttpReply> read_request(std::string_view body);

/// compiled, correctness, metadata, runtime (ms; -1: not measured) and runtime_stats.
/// `hardware`: what judged.
Value reply_of(const Verdict& verdict, const EvalRequest& request, const std::string& hardware);

}  // namespace hone::tritonforge
