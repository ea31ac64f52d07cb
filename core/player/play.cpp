#include "player/play.hpp"

#include <algorithm>
#include <cstdio>

#include "base/files.hpp"
#include "player/calls.hpp"

namespace hone {
namespace {

constexpr std::size_t kRequestFileMax = std::size_t{32} << 20;

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

Status play_all(Events& events, const std::string& library, std::uint32_t index) {
  HONE_ASSIGN(const std::string bytes, read_file(kRequestFile, kRequestFileMax));
  HONE_ASSIGN(const Value request, from_msgpack(bytes));
  CallPlayer player([&events](std::size_t number, std::uint64_t address) {
    char line[64];
    std::snprintf(line, sizeof line, "hone-buffer %zu 0x%llx", number,
                  static_cast<unsigned long long>(address));
    events.write(line);
  });
  HONE_TRY(player.open(library, index));
  HONE_TRY(player.load(request));
  std::size_t number = 0;
  for (const Value& call : list_in(request, "calls")) {
    events.write("hone-call " + std::to_string(number++));
    HONE_TRY(player.make_buffers(call));
    HONE_TRY(player.launch(call));
    HONE_TRY(player.wait());
    player.release();
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
