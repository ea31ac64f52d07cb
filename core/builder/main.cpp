// hone-builder: turns one source into one artifact inside a jail, then ends.
//
//   hone-builder BACKEND.so [READABLE…]     (descriptor 3: the host; the current folder: empty and
//   writable)
//
// The request and the result are those of hone_backend_factory::build. core/sandbox describes the sandbox.
#include <fcntl.h>
#include <sys/prctl.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/priority.hpp"
#include "channel/stream.hpp"
#include "model/value.hpp"
#include "plugin/backend.hpp"
#include "sandbox/seal.hpp"

namespace hone {
namespace {

constexpr int kHost = 3;
constexpr std::size_t kRequestMax = 32u << 20;
constexpr double kForever = 1e9;
constexpr double kSendSeconds = 30;

Value failure(const Error& error) {
  return Value::map({{"error", error.message}, {"code", static_cast<int>(error.code)}});
}

int builder_main(int argc, char** argv) {
  if (argc < 2) return 64;
  prctl(PR_SET_NAME, "hone-builder");
  set_priority(0, kBuilderPriority);
  auto backend = Backend::load(argv[1]);
  if (!backend) {
    std::fprintf(stderr, "builder: %s\n", backend.error().message.c_str());
    return 70;
  }
  fcntl(kHost, F_SETFD, FD_CLOEXEC);  // the compiler must not inherit it
  const std::vector<std::string> readable(argv + 2, argv + argc);
  if (Status sealed = seal_builder(readable, std::filesystem::current_path()); !sealed) {
    std::fprintf(stderr, "builder: %s\n", sealed.error().message.c_str());
    return 70;
  }
  auto request = receive_message(kHost, kRequestMax, kForever);
  if (!request) return 0;  // the host has closed the connection
  auto decoded = from_msgpack(request->bytes);
  if (!decoded) return 70;
  auto built = (*backend)->build(*decoded);
  const Value answer = built ? *built : failure(built.error());
  return send_message(kHost, to_msgpack(answer), {}, kSendSeconds) ? 0 : 70;
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) { return hone::builder_main(argc, argv); }
