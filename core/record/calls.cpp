// hone's own functions, which control the recording from the same process (calls.h).
#include "record/calls.h"

#include <string>
#include <utility>

#include "hone/recorded_plan_writer.hpp"
#include "record/driver/api.hpp"
#include "record/plan/build.hpp"
#include "record/plan/digest.hpp"
#include "record/plan/json.hpp"

namespace {

using namespace hone::record;  // NOLINT: functions of C cannot stand in a namespace
using hone::plugin::Value;

/// `use` returns whether it succeeded.
template <typename Fn>
int attempted(Fn&& use) {
  const int status = guarded([&](Recording& r) { return use(r) ? kOk : kUnknown; });
  return status == kOk ? 1 : 0;
}

}  // namespace

HONE_RECORD_API int hone_record_begin(const char* device_json) {
  return attempted([&](Recording& r) {
    if (r.has_begun()) return false;
    r.begin(device_of(read_json(device_json)));
    return true;
  });
}

HONE_RECORD_API std::uint64_t hone_record_task_memory(std::uint32_t argument, std::uint64_t bytes) {
  std::uint64_t address = 0;
  attempted([&](Recording& r) {
    MemoryState memory;
    memory.kind = hone::recorded::MemoryKind::kTask;
    memory.bytes = bytes;
    memory.argument = argument;
    const auto id = r.memories.add(std::move(memory));
    if (id) address = r.memories.at(*id).address;
    return id.has_value();
  });
  return address;
}

HONE_RECORD_API int hone_record_result(std::uint64_t address, std::uint64_t bytes,
                                       std::uint32_t argument) {
  return attempted([&](Recording& r) {
    const auto id = r.memories.holding(address);
    if (!id) return false;
    MemoryState& memory = r.memories.at(*id);
    if (memory.kind != hone::recorded::MemoryKind::kPrivate || memory.address != address ||
        memory.bytes != bytes || memory.run == 0 || memory.run != r.run_number())
      return false;
    memory.kind = hone::recorded::MemoryKind::kTask;
    memory.argument = argument;
    memory.is_result = true;
    return true;
  });
}

HONE_RECORD_API int hone_record_operator(const char* call_json) {
  return attempted([&](Recording& r) {
    if (!r.problem().empty()) return false;
    return call_operator(r, read_json(call_json)) == kOk;
  });
}

HONE_RECORD_API std::uint32_t hone_record_autotuned(const char* kernel_json) {
  std::uint32_t number = 0;
  attempted([&](Recording& r) {
    const Value kernel = read_json(kernel_json);
    hone::recorded::Tuned tuned;
    tuned.key = kernel.at("key").as_string();
    for (const Value& parameters : kernel.at("configurations").as_array())
      tuned.configurations.push_back(parameters.as_string());
    for (const Value& one : kernel.at("left_out").as_array())
      tuned.left_out.push_back({one.at("configuration").as_string(), one.at("reason").as_string()});
    number = r.add_tuned(std::move(tuned));
    return r.problem().empty();
  });
  return number;
}

HONE_RECORD_API int hone_record_configuration(std::uint32_t tuned, std::uint32_t configuration) {
  return attempted([&](Recording& r) {
    r.begin_configuration(tuned, configuration);
    return r.problem().empty();
  });
}

HONE_RECORD_API int hone_record_run_begin() {
  return attempted([](Recording& r) {
    r.begin_run();
    clear_stack();
    return true;
  });
}

HONE_RECORD_API int hone_record_run_end() {
  return attempted([](Recording& r) {
    r.end_run();
    return true;
  });
}

HONE_RECORD_API std::uint64_t hone_record_run_digest() {
  std::uint64_t digest = 0;
  attempted([&](Recording& r) {
    digest = digest_of_run(r);
    return true;
  });
  return digest;
}

HONE_RECORD_API int hone_record_finish(const char** bytes, std::uint64_t* size) {
  return attempted([&](Recording& r) {
    static auto* const kFile = new std::string;  // lives as long as the caller may read it
    const auto plan = build_plan(r);
    if (!plan) return false;
    *kFile = hone::recorded::write_plan(*plan);
    *bytes = kFile->data();
    *size = kFile->size();
    return true;
  });
}

HONE_RECORD_API void hone_record_fail(const char* reason) {
  attempted([&](Recording& r) {
    r.fail(reason);
    return true;
  });
}

HONE_RECORD_API const char* hone_record_problem() {
  const char* problem = "";
  attempted([&](Recording& r) {
    problem = r.problem().c_str();
    return true;
  });
  return problem;
}
