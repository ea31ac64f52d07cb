// Makes the calls of a plan with the backend's functions, for a tool.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"
#include "plugin/backend.hpp"

namespace hone {

/// Name of the artifact's file in the working folder.
inline constexpr const char* kArtifactFile = "artifact.bin";

/// A device, the artifact, and the buffers of one call at a time. `call`: one of DeviceCalls::request (examine/device_calls.hpp).
///
///   CallPlayer player;
///   HONE_TRY(player.open(library, device));
///   HONE_TRY(player.load(request));
///   HONE_TRY(player.make_buffers(call));
///   HONE_TRY(player.launch(call));
///   HONE_TRY(player.wait());
class CallPlayer {
 public:
  /// `made`: called with the number and the address of each new buffer, before it is filled.
  explicit CallPlayer(std::function<void(std::size_t, std::uint64_t)> made = {})
      : made_(std::move(made)) {}

  Status open(const std::string& library, std::uint32_t index);
  /// Loads kArtifactFile, and finds the request's kernels.
  Status load(const Value& request);
  /// Replaces the buffers by those of this call, and fills them.
  Status make_buffers(const Value& call);
  /// Fills buffers that the call changes in place.
  Status restore(const Value& call);
  Status launch(const Value& call);
  Status wait();
  /// Frees the buffers.
  void release();

  const hone_backend_factory& table() const { return *table_; }
  hone_device* device() const { return device_; }

 private:
  Status add_buffer(const Value& buffer, std::size_t number);
  Status fill(hone_buffer* to, const Value& buffer);
  Status start(const Value& asked);

  const std::function<void(std::size_t, std::uint64_t)> made_;
  std::unique_ptr<Backend> backend_;
  const hone_backend_factory* table_ = nullptr;
  hone_device* device_ = nullptr;
  hone_artifact* artifact_ = nullptr;
  std::vector<hone_kernel*> kernels_;
  std::vector<hone_buffer*> buffers_;
};

/// The list of this name; empty if there is none.
const Value::Array& list_in(const Value& map, const char* name);
/// A backend's code and message as a Status.
Status checked(std::int32_t code, const hone_error& error, const std::string& what);

}  // namespace hone
