// bench_journal(): the cost of the journal, for `hone bench journal`.
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
  ProtocolBenchOptions host;  ///< reward, rounds and steps (for each client)
  std::filesystem::path
      folder;  ///< required: a folder on the disk to measure; its files are deleted at the end
  std::size_t clients = 64;
  std::size_t episodes = 100'000;    ///< episodes in the journal of a restarted server
  std::size_t turns = 1'000'000;     ///< turns in that journal
  std::size_t forgotten = 2000;      ///< episodes that retention deletes
  std::size_t forgotten_turns = 16;  ///< turns of each of these
  /// Starts a server whose steps build and measure, with `journal` or, if that is null, without one. Empty:
  /// these figures are omitted.
  std::function<Result<std::unique_ptr<EpisodeService>>(Journal* journal)> real;
  std::size_t builds = 1;        ///< steps of each client in each round
  std::size_t build_rounds = 2;  ///< rounds with and without the journal
  std::string task;              ///< of the steps that build
  std::string source;            ///< the source; each step gets another first line
  std::string broken;            ///< a source with much compiler output
  std::function<void(std::string_view what)> say;
};

/// Figures: steps per second with the journal relative to without; milliseconds that it adds to a step; bytes
/// that a step adds to it; the wait of a step while old episodes are deleted; and the time from a kill of the
/// server to its first reply, with a journal of many episodes and of one. The baseline is the time in which
/// the disk syncs a page. The list has the form of bench_protocol()'s.
Result<Value> bench_journal(const JournalBenchOptions& options);

}  // namespace hone
