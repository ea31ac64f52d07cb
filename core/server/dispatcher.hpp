// Dispatcher: passes requests to their handlers, on the I/O thread, a worker or the service.
#pragma once

#include <string>

#include "base/worker_pool.hpp"
#include "episode/service.hpp"
#include "server/options.hpp"
#include "server/replies.hpp"
#include "server/server_status.hpp"
#include "server/verbs.hpp"

namespace hone {

/// Belongs to the I/O thread. The handlers of the table of verbs (verb_rows.cpp) use it.
class Dispatcher {
 public:
  Dispatcher(const ServerOptions& options, EpisodeService& service, Replies& replies,
             ServerStatus& status, WorkerPool& workers);

  void serve(const VerbCall& call);

  void serve_step(const VerbCall& call);
  Result<Value> ping(const VerbCall& call);
  EpisodeService& service() { return service_; }
  Replies& replies() { return replies_; }
  ServerStatus& status() { return status_; }

 private:
  void serve_by_worker(const VerbCall& call, const OnWorker& worker);

  const ServerOptions& options_;
  EpisodeService& service_;
  Replies& replies_;
  ServerStatus& status_;
  WorkerPool& workers_;
};

}  // namespace hone
