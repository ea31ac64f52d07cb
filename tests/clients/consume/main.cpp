// Plays two turns and prints the results: an example for C++ trainers. Usage: consume ENDPOINT [KEY_FILE]
#include <cstdio>
#include <hone/client.hpp>

int main(int argc, char** argv) {
  hone::ClientOptions options;
  if (argc > 2) options.key_file = argv[2];
  auto client = hone::Client::connect(argc > 1 ? argv[1] : "tcp://127.0.0.1:5917", options);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().message.c_str()), 1;
  auto episode =
      (*client)->reset({.task = "add_relu", .options = hone::Value::map({{"max_turns", 2}})});
  if (!episode) return std::fprintf(stderr, "%s\n", episode.error().message.c_str()), 1;
  for (bool ended = false; !ended;) {
    auto step = (*client)->step(*episode, {.response = "there is no code in this, it is wrong"});
    if (!step) return std::fprintf(stderr, "%s\n", step.error().message.c_str()), 1;
    std::printf("turn %ld: reward %g valid %d\n", static_cast<long>(step->turn),
                step->reward.value_or(0), step->reward_valid);
    ended = step->ended();
  }
  auto again = (*client)->step(*episode, {.code = "x"});
  std::printf("after the end: %s\n", again ? "a result" : again.error().message.c_str());
}
