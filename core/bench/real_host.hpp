// RealHost: a server whose steps build and measure.
#pragma once

#include <memory>
#include <string>

#include "bench/journal.hpp"
#include "server/server.hpp"

namespace hone {

/// Members are destroyed in reverse order of their dependencies.
struct RealHost {
  std::unique_ptr<Journal> journal;
  std::unique_ptr<EpisodeService> service;
  std::unique_ptr<Server> server;

  /// `name`: file name of the journal in `options.folder`; empty: no journal.
  static Result<RealHost> start(const JournalBenchOptions& options, const std::string& name) {
    RealHost host;
    if (!name.empty()) {
      HONE_ASSIGN(host.journal, Journal::open({.path = options.folder / name}));
    }
    HONE_ASSIGN(host.service, options.real(host.journal.get()));
    ServerOptions server;
    server.endpoint = "tcp://127.0.0.1:0";
    server.control_endpoint.clear();
    HONE_ASSIGN(host.server, Server::start(std::move(server), *host.service));
    return host;
  }
};

}  // namespace hone
