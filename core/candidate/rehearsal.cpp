// The process in which an interpreter runs a module for the first time (module/builder/dry_run_module.py): it seals itself as
// a builder does, gets an artifact from the host, and says what came of it.
#include <fcntl.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/priority.hpp"
#include "channel/stream.hpp"
#include "sandbox/seal.hpp"

namespace hone {
namespace {

constexpr int kHost = 3;
constexpr std::size_t kArtifactMax = 96u << 20;
constexpr double kForever = 1e9;
constexpr double kSendSeconds = 30;

using Rehearse = void (*)(const void* artifact, std::uint64_t size, const void** answer,
                          std::uint64_t* answer_size);

/// Arguments: folders that the interpreter needs.
int rehearsal_main(int argc, char** argv, Rehearse rehearse) {
  set_priority(0, kBuilderPriority);
  fcntl(kHost, F_SETFD, FD_CLOEXEC);  // not the compilers'
  const std::vector<std::string> readable(argv + 1, argv + argc);
  if (Status sealed = seal_builder(readable, std::filesystem::current_path()); !sealed) {
    std::fprintf(stderr, "rehearsal: %s\n", sealed.error().message.c_str());
    return 70;
  }
  const auto artifact = receive_message(kHost, kArtifactMax, kForever);
  if (!artifact) return 0;  // the host no longer needs us
  const void* answer = nullptr;
  std::uint64_t size = 0;
  rehearse(artifact->bytes.data(), artifact->bytes.size(), &answer, &size);
  return send_message(kHost, {static_cast<const char*>(answer), size}, {}, kSendSeconds) ? 0 : 70;
}

}  // namespace
}  // namespace hone

extern "C" __attribute__((visibility("default"))) int hone_rehearsal_main(int argc, char** argv,
                                                                          hone::Rehearse rehearse) {
  return hone::rehearsal_main(argc, argv, rehearse);
}
