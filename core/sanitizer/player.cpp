// Makes the calls of a plan with the backend's functions.
#include "sanitizer/player.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

#include "base/files.hpp"
#include "base/unique_fd.hpp"
#include "plugin/backend.hpp"
#include "plugin/call.hpp"

namespace hone {
namespace {

constexpr std::size_t kRequestFileMax = std::size_t{32} << 20;
constexpr std::size_t kPoisonedMax = std::size_t{16}
                                     << 20;  // bytes; the rest keeps its old contents
constexpr char kPoison = 0x5a;

Status check(std::int32_t code, const hone_error& error, const std::string& what) {
  if (code == HONE_OK) return {};
  return Error{static_cast<Code>(code), what + ": " + error.message};
}

const Value::Array& list_in(const Value& map, const char* name) {
  static const Value::Array empty;
  const Value* found = map.find(name);
  return found != nullptr && found->is_array() ? found->as_array() : empty;
}

std::int64_t number_in(const Value& map, const char* name) {
  const Value* found = map.find(name);
  return found != nullptr && found->is_int() ? found->as_int() : 0;
}

/// Lines for the host. Each one is in the file before the device gets work, because a fault may end the process.
class Events {
 public:
  Events() : file_(std::fopen(kEventsFile, "w")) {}
  ~Events() {
    if (file_ != nullptr) std::fclose(file_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  void write(const std::string& line) {
    if (file_ == nullptr) return;
    std::fprintf(file_, "%s\n", line.c_str());
    std::fflush(file_);
  }

 private:
  std::FILE* const file_;
};

class Player {
 public:
  explicit Player(Events& events) : events_(events) {}

  Status open(const std::string& library, std::uint32_t index) {
    HONE_ASSIGN(backend_, Backend::load(library));
    table_ = backend_->factory();
    if (table_->create_exact_buffer == nullptr)
      return failed_precondition("the backend makes no buffers of exact sizes");
    hone_error error = empty_error();
    return check(table_->open_device(backend_->host(), index, &device_, &error), error,
                 "open device");
  }

  Status load(const Value& request) {
    const UniqueFd artifact(::open(kArtifactFile, O_RDONLY | O_CLOEXEC));
    hone_error error = empty_error();
    HONE_TRY(check(table_->load(device_, artifact.get(), &artifact_, &error), error, "load"));
    for (const Value& kernel : list_in(request, "kernels")) {
      std::vector<std::uint32_t> kinds;
      for (const Value& kind : list_in(kernel, "kinds")) {
        const auto number = static_cast<std::uint32_t>(kind.as_int());
        // Each buffer is an allocation of its own, so it is passed as an address.
        constexpr std::uint32_t kAddress = HONE_ARGUMENT_ADDRESS;
        kinds.push_back(number == HONE_ARGUMENT_BUFFER ? kAddress : number);
      }
      hone_kernel* found = nullptr;
      HONE_TRY(check(
          table_->get_kernel(artifact_, kernel.find("name")->as_string().c_str(), kinds.data(),
                             static_cast<std::uint32_t>(kinds.size()), &found, &error),
          error, "entry"));
      kernels_.push_back(found);
    }
    return {};
  }

  Status call(const Value& call) {
    buffers_.clear();
    std::size_t number = 0;
    for (const Value& buffer : list_in(call, "buffers")) HONE_TRY(add_buffer(buffer, number++));
    for (const Value& launch : list_in(call, "launches")) HONE_TRY(start(launch));
    hone_error error = empty_error();
    HONE_TRY(check(table_->wait(device_, &error), error, "run"));
    for (hone_buffer* buffer : buffers_) table_->release_buffer(buffer);
    return {};
  }

 private:
  Status add_buffer(const Value& buffer, std::size_t number) {
    const auto bytes =
        static_cast<std::size_t>(std::max<std::int64_t>(number_in(buffer, "bytes"), 1));
    hone_error error = empty_error();
    hone_buffer* made = nullptr;
    HONE_TRY(check(table_->create_exact_buffer(device_, bytes, &made, &error), error,
                   "memory for a buffer"));
    buffers_.push_back(made);
    char line[64];
    std::snprintf(line, sizeof line, "hone-buffer %zu 0x%llx", number,
                  static_cast<unsigned long long>(table_->buffer_address(made)));
    events_.write(line);
    const Value* data = buffer.find("data");
    const std::string contents =
        data != nullptr ? data->as_bytes() : std::string(std::min(bytes, kPoisonedMax), kPoison);
    return check(table_->write_buffer(made, 0, contents.data(), contents.size(), &error), error,
                 "fill a buffer");
  }

  Status start(const Value& asked) {
    hone_launch launch{};
    launch.struct_size = sizeof launch;
    const auto copy = [&](const char* name, std::uint32_t* to) {
      const auto& from = list_in(asked, name);
      for (std::size_t i = 0; i < 3 && i < from.size(); ++i)
        to[i] = static_cast<std::uint32_t>(from[i].as_int());
    };
    copy("grid", launch.grid);
    copy("block", launch.block);
    copy("cluster", launch.cluster);
    launch.shared_bytes = static_cast<std::uint32_t>(number_in(asked, "shared_bytes"));
    launch.flags = static_cast<std::uint32_t>(number_in(asked, "flags"));
    std::vector<std::uint64_t> values;
    for (const Value& argument : list_in(asked, "arguments")) {
      if (argument.find("buffer") == nullptr) {
        values.push_back(static_cast<std::uint64_t>(number_in(argument, "value")));
        continue;
      }
      const auto number = static_cast<std::size_t>(number_in(argument, "buffer"));
      values.push_back(table_->buffer_address(buffers_.at(number)));
    }
    launch.count = static_cast<std::uint32_t>(values.size());
    launch.values = values.data();
    hone_error error = empty_error();
    const auto kernel = static_cast<std::size_t>(number_in(asked, "kernel"));
    return check(table_->launch(kernels_.at(kernel), buffers_.at(0), &launch, &error), error,
                 "launch");
  }

  Events& events_;
  std::unique_ptr<Backend> backend_;
  const hone_backend_factory* table_ = nullptr;
  hone_device* device_ = nullptr;
  hone_artifact* artifact_ = nullptr;
  std::vector<hone_kernel*> kernels_;
  std::vector<hone_buffer*> buffers_;  ///< of the current call
};

Status play_all(Events& events, const std::string& library, std::uint32_t index) {
  HONE_ASSIGN(const std::string bytes, read_file(kRequestFile, kRequestFileMax));
  HONE_ASSIGN(const Value request, from_msgpack(bytes));
  Player player(events);
  HONE_TRY(player.open(library, index));
  HONE_TRY(player.load(request));
  std::size_t number = 0;
  for (const Value& call : list_in(request, "calls")) {
    events.write("hone-call " + std::to_string(number++));
    HONE_TRY(player.call(call));
  }
  return {};
}

}  // namespace

int play(const std::string& backend_library, std::uint32_t device) {
  Events events;
  const Status played = play_all(events, backend_library, device);
  if (played) {
    events.write("hone-end");
    return 0;
  }
  std::string message = played.error().message;
  std::replace(message.begin(), message.end(), '\n', ' ');
  events.write("hone-error " + message);
  return 1;
}

}  // namespace hone
