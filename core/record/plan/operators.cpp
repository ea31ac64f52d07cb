// Calls of operators, reported by Python (hone_record_operator).
#include <algorithm>
#include <optional>

#include "hone/plugin/failure.hpp"
#include "record/plan/work.hpp"

namespace hone::record {
namespace {

using plugin::Value;

std::vector<std::int64_t> numbers_of(const Value& list) {
  std::vector<std::int64_t> numbers;
  for (const Value& one : list.as_array()) numbers.push_back(one.as_int());
  return numbers;
}

recorded::Tensor tensor_of(const Value& value) {
  recorded::Tensor tensor;
  tensor.dtype = value.at("dtype").as_string();
  tensor.sizes = numbers_of(value.at("sizes"));
  tensor.strides = numbers_of(value.at("strides"));
  return tensor;
}

bool is_empty(const recorded::Tensor& tensor) {
  return std::count(tensor.sizes.begin(), tensor.sizes.end(), 0) > 0;
}

/// The places of an operator's tensors. A tensor without elements has no memory; it gets a place in
/// the memory of another tensor. False after a problem.
bool find_places(Recording& recording, const std::string& name, const Value::Array& values,
                 std::vector<recorded::Tensor>& tensors) {
  std::optional<recorded::Place> any;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto address = static_cast<std::uint64_t>(values[i].at("address").as_int());
    const Pointed pointed = recording.memories.point(address);
    if (pointed.at == Pointed::At::kMemory) {
      tensors[i].place = pointed.place;
      any = recorded::Place{pointed.place.memory, 0};
    } else if (!is_empty(tensors[i])) {
      recording.fail("the operator " + name + " gets a tensor of memory that is not allocated");
      return false;
    }
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!is_empty(tensors[i])) continue;
    if (!any) {
      recording.fail("the operator " + name + " gets only tensors without elements");
      return false;
    }
    tensors[i].place = *any;
  }
  return true;
}

}  // namespace

Status call_operator(Recording& recording, const Value& call) {
  recorded::Operator step;
  step.name = call.at("name").as_string();
  step.arguments = call.at("arguments");
  step.keywords = call.at("keywords");
  const Value::Array& tensors = call.at("tensors").as_array();
  for (const Value& one : tensors) step.tensors.push_back(tensor_of(one));
  if (!find_places(recording, step.name, tensors, step.tensors)) return kNotSupported;
  if (const Value* settings = call.find("settings")) step.settings = *settings;
  for (const std::int64_t index : numbers_of(call.at("results"))) {
    if (index < 0 || static_cast<std::size_t>(index) >= step.tensors.size())
      plugin::fail(HONE_INVALID_ARGUMENT, "a result is no index of tensors");
    step.results.push_back(static_cast<std::uint32_t>(index));
  }
  const Value* handle = call.find("stream");
  const auto stream_handle = handle != nullptr ? static_cast<std::uintptr_t>(handle->as_int()) : 0;
  const Stream* stream = recording.streams.find(reinterpret_cast<StreamHandle>(stream_handle));
  if (stream == nullptr) return kInvalidHandle;
  recording.append(stream->id, std::move(step));
  return kOk;
}

}  // namespace hone::record
