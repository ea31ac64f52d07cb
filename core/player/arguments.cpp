#include "player/arguments.hpp"

#include <cstdio>
#include <filesystem>

#include "channel/stream.hpp"
#include "plugin/backend.hpp"

namespace hone {
namespace {

constexpr std::size_t kMessageMax = std::size_t{96} << 20;
constexpr double kForever = 1e9, kSendSeconds = 30;

}  // namespace

Result<DeviceFiles> device_files(const std::string& library) {
  HONE_ASSIGN(const auto backend, Backend::load(library));
  HONE_ASSIGN(const BackendDescription description, backend->description());
  return DeviceFiles{description.device_nodes, description.driver_folders};
}

std::string working_folder() { return std::filesystem::current_path().string(); }

bool greet_host() { return answer_host(Value::map({{"ready", true}})) == 0; }

bool begin_for_host() { return answer_host(Value::map({{"begins", true}})) == 0; }

Result<Value> request_from_host() {
  HONE_ASSIGN(const StreamMessage message, receive_message(kPlayerHost, kMessageMax, kForever));
  CodecLimits limits;
  limits.bytes_max = kMessageMax;
  return from_msgpack(message.bytes, limits);
}

int answer_host(const Value& answer) {
  return send_message(kPlayerHost, to_msgpack(answer), {}, kSendSeconds) ? 0 : kPlayerFailure;
}

int fail_with(const Error& error) {
  std::fprintf(stderr, "player: %s\n", error.message.c_str());
  return kPlayerFailure;
}

}  // namespace hone
