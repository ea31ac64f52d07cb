// NoopHost: a whole server whose steps do no work, to measure the rest.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "episode/episodes.hpp"
#include "episode/scripted_evaluator.hpp"
#include "server/server.hpp"

namespace hone {

/// The real Server and EpisodeService, with an environment and an evaluator that do no work.
class NoopHost {
 public:
  static constexpr std::int64_t kTurns = 8;  ///< of an episode

  static constexpr const char* kTask = "bench/noop";

  struct Beside {
    std::string keys;            ///< as in ServerOptions
    Journal* journal = nullptr;  ///< borrowed
  };
  static Result<std::unique_ptr<NoopHost>> start(OpenReward open_reward, const std::string& reward,
                                                 const Beside& beside = {{}, nullptr});

  Server& server() { return *server_; }

 private:
  NoopHost();

  ScriptedEvaluator evaluator_;
  std::unique_ptr<EpisodeService> service_;
  std::unique_ptr<Server> server_;
};

}  // namespace hone
