// The client's thread: connections that fail, and which failures no repetition mends.
#include "engine.hpp"

namespace hone::inline client_api {

void Engine::on_link_event(Channel& channel, Link::Event event) {
  switch (event) {
    case Link::Event::kNone:
      return;
    case Link::Event::kUp:
      if (&channel == &main_) return greet();
      return enter(channel, State::kReady);
    case Link::Event::kHandshakeFailed: {
      MutexLock lock(mutex_);
      ++handshakes_failed_;
      break;
    }
    case Link::Event::kKeyRefused:
    case Link::Event::kOtherMechanism:
      return refused(channel, event);
    case Link::Event::kDown:
      break;
  }
  lose_connection(channel);
}

/// What no repetition mends: somebody has to change a key or a configuration.
void Engine::refused(Channel& channel, Link::Event event) {
  lose_connection(channel);
  Failure failure{Code::kFailedPrecondition, "protocol", "", false, {}};
  if (event == Link::Event::kKeyRefused) {
    failure.message =
        "the server refused this client's key: it is not in its allow-list, or was revoked "
        "(hone keys list)";
  } else {
    failure.message =
        keys_ ? "the server has no keys (hone serve --keys), but this client was given one"
              : "the server wants a key, and this client was given none (hone keys new NAME)";
  }
  if (&channel == &main_) return fail_for_good(failure);
  for (const auto& request : std::exchange(channel.waiting, {})) finish(request, {{}, failure});
}

void Engine::fail_for_good(const Failure& failure) {
  {
    MutexLock lock(mutex_);
    fatal_ = failure;
    greeted_changed_.notify_all();
  }
  main_.link.reset();
  enter(main_, State::kFailed);
  for (const auto& request : std::exchange(main_.waiting, {})) finish(request, {{}, failure});
}

}  // namespace hone::inline client_api
