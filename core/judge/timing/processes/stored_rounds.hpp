// StoredRounds: inputs of a module's rounds, prepared ahead, and outputs that are checked later.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "judge/timing/processes/withheld_timer.hpp"
#include "judge/timing/protocol.hpp"
#include "judge/timing/round_supply.hpp"

namespace hone {

enum class Checks {
  kAtOnce,  ///< each round is checked when it is over, and nothing is stored
  kLater    ///< outputs are stored while there is memory for them, and checked with check_stored()
};

/// Inputs of several rounds lie in the reference's arena, one behind the other, while there is room. Outputs are copied when the clock has
/// stopped, because the module's host code runs on. One thread.
class StoredRounds : public RoundSupply {
 public:
  StoredRounds(const Measurement& measurement, WithheldTimer& timer, Checks checks);
  ~StoredRounds() override;

  Result<PreparedRound> prepare(std::uint64_t secret, std::vector<std::size_t> families,
                                std::uint64_t at) override;
  Judgement check(PreparedRound timed) override;

  std::uint64_t next_secret();
  /// A round with the next secret, behind all that is stored.
  Result<PreparedRound> prepare_next(std::size_t calls);
  /// Prepares the submission's next rounds, at least one, while there is room.
  Judgement prepare_ahead(std::size_t calls, int rounds);
  /// Prepares the next rounds and the single-call rounds, and computes their expected outputs.
  Judgement work_ahead(std::size_t calls, int rounds, int single_call_rounds);
  const std::deque<PreparedRound>& ahead() const { return ahead_; }
  PreparedRound take_next();
  void forget_ahead() { ahead_.clear(); }
  void take_single_rounds();
  /// Checks all rounds that were stored.
  Judgement check_stored();
  /// The time that check_stored() will take, in seconds.
  double owed_s() const;
  /// Copies the baseline's outputs as a submission's are copied, so that the device is in the same state after either.
  Status copy_of_baseline(const Layout& layout);
  /// Whether the device cannot hold what both sides' calls need at the same time.
  bool is_short_of_memory() const;

 private:
  struct Stored {
    PreparedRound prepared;
    std::unique_ptr<Arena> outputs;
  };
  std::uint64_t end_of_inputs() const;
  bool has_room(std::size_t calls) const;
  bool lacks_inputs(std::size_t calls, int rounds) const;
  Judgement prepare_one(std::size_t calls, std::deque<PreparedRound>& to);
  std::uint64_t stored_bytes_max() const;
  /// Whether one copy of its outputs serves both sides.
  bool is_large(const Layout& layout) const;
  bool lacks_room_for_answer(const Layout& layout) const;
  Judgement make_room_for_answer(const Layout& layout);
  Status copy_outputs(const Arena& from, const Layout& layout, std::unique_ptr<Arena>& into);
  bool store(PreparedRound& timed);

  const Measurement m_;
  WithheldTimer& timer_;
  const Checks checks_;
  std::deque<PreparedRound> ahead_, single_call_ahead_;
  std::vector<Stored> stored_;
  std::uint64_t stored_bytes_ = 0;
  std::unique_ptr<Arena> copy_, baseline_copy_;  ///< of the last round's outputs
  std::size_t secrets_ = 0;                      ///< used so far
};

}  // namespace hone
