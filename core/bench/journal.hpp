// bench_journal(): what it costs to lose nothing, for `hone bench journal`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "bench/protocol.hpp"

namespace hone {

struct JournalBenchOptions {
  ProtocolBenchOptions host;  ///< its reward, rounds and steps, the latter per client
  std::filesystem::path
      folder;  ///< required: on the disk in question; it gets files, and loses them
  std::size_t clients = 64;
  std::size_t episodes = 100'000;    ///< in the journal that a server is started with again
  std::size_t turns = 1'000'000;     ///< of all of them
  std::size_t forgotten = 2000;      ///< episodes that retention finds too old
  std::size_t forgotten_turns = 16;  ///< of each
  /// Serves steps that build and measure, recorded in `journal` or, without one, nowhere. Empty:
  /// these figures are left out.
  std::function<Result<std::unique_ptr<EpisodeService>>(Journal* journal)> real;
  std::size_t builds = 1;        ///< of each client, in each of the rounds
  std::size_t build_rounds = 2;  ///< with the journal and without
  std::string task;              ///< of the steps that build
  std::string source;            ///< what is built; each time with another first line
  std::string broken;            ///< the same, of what the compiler has much to say about
  std::function<void(std::string_view what)> say;
};

/// Steps per second with the journal over without it, milliseconds that it adds to a step, bytes
/// that a step leaves in it, how long a step waits while old episodes are forgotten, and how long a
/// server that was killed needs until its first reply, over a journal of many episodes and over one
/// of a single episode. The baseline is the time in which the disk syncs a page.
///
/// A list as bench_protocol()'s.
Result<Value> bench_journal(const JournalBenchOptions& options);

}  // namespace hone
