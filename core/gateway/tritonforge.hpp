// TritonForgeGateway: TritonForge's evaluation server, spoken by a client of hone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.hpp"
#include "gateway/references.hpp"
#include "gateway/tritonforge_words.hpp"
#include "hone/client.hpp"
#include "http/http_server.hpp"

namespace hone {

/// [any thread] Each request is an episode of one turn. Borrows client and references, which outlive it.
///
///   TritonForgeGateway gateway(*client, *references, {});
///   HONE_TRY(gateway.check());
///   HttpServer::start({.port = 18188}, [&](const HttpRequest& r) { return gateway.handle(r); });
class TritonForgeGateway {
 public:
  struct Options {
    std::string dataset = "references";  ///< what the server calls the dataset of the folder
    double request_seconds = 600;        ///< of one evaluation, its wait in the queue included
    std::size_t evaluations_max = 256;   ///< at a time; more are answered 429
  };

  TritonForgeGateway(Client& client, References& references, Options options);

  /// Has a module that is right judged; an error says what the server lacks.
  Status check();
  HttpReply handle(const HttpRequest& request);
  /// Gives up what is under way: those who wait are answered 503.
  void stop();

 private:
  struct Judged;
  using Gone = std::function<bool()>;  // whether the one who asked has hung up

  HttpReply evaluate(const HttpRequest& request);
  /// One episode. An error's code says whose fault it is; unavailable may be tried again.
  Result<Judged> judge(const tritonforge::EvalRequest& request, double seconds, const Gone& gone);
  /// Why there is no episode: a reference's own fault is no reason to ask again.
  Error no_episode(const Error& error, const std::string& id);
  Result<Step> take_step(Episode& episode, const std::string& source, double seconds,
                         const Gone& gone);
  Value health() const;
  Value backends() const;

  Client& client_;
  References& references_;
  const Options options_;
  std::atomic<std::size_t> running_{0};
  std::atomic<std::size_t> faults_{0};  // evaluations answered 503 since the last /reset_devices
  std::atomic<bool> stopping_{false};
  Mutex mutex_;
  std::map<std::uint64_t, Pending> pending_ HONE_GUARDED_BY(mutex_);
  std::uint64_t serial_ HONE_GUARDED_BY(mutex_) = 0;
};

}  // namespace hone
