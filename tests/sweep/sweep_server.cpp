// A server for sweep_test: sweep_server FOLDER ENDPOINT K MODE. It is killed at its K-th operation. MODE:
// "scripted" (verdicts depend on source and seed only, nothing is built), "real", or "forgetful" (scripted, and it
// ignores the journal of the server before it).
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "app/load_config.hpp"
#include "app/local_server.hpp"
#include "episode/scripted_evaluator.hpp"
#include "sweep/stop_at.hpp"

namespace {

using namespace hone;

/// A line per evaluation, so that the test sees what was done again.
void note(const std::filesystem::path& folder, const Submission& submission) {
  static const int fd =
      ::open((folder / "evaluated").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string line = submission.episode + " " + submission.source + "\n";
  if (::write(fd, line.data(), line.size()) < 0) std::abort();
}

int serve(const std::filesystem::path& folder, const std::string& endpoint, std::int64_t k,
          const std::string& mode) {
  const std::filesystem::path journal = folder / "journal.db";
  if (mode == "forgetful") {
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(journal.string() + end);
  }
  auto loaded =
      load_config("", {"journal.path=" + journal.string(), "server.endpoint=" + endpoint,
                       "server.control=ipc://" + (folder / "control").string(), "log.level=error"});
  if (!loaded) return std::fprintf(stderr, "%s\n", loaded.error().message.c_str()), 1;
  ScriptedEvaluator evaluator([&](const Submission& submission) {
    note(folder, submission);
    return ScriptedEvaluator::correct(1 + static_cast<double>(submission.seed % 1000) / 1000);
  });
  auto server = LocalServer::start(*loaded, {}, mode == "real" ? nullptr : &evaluator);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().message.c_str()), 1;
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  test::stop_at(k);
  std::puts("ready");
  std::fflush(stdout);
  int signal = 0;
  sigwait(&ends, &signal);
  std::printf("%lld\n", static_cast<long long>(test::operations()));
  std::fflush(stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  sigset_t ends;  // before there are threads: main alone waits for it
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  return serve(argv[1], argv[2], std::atoll(argv[3]), argv[4]);
}
