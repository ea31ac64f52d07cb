// AheadRounds: inputs of timed rounds on a device, made before the judge has the device exclusively, and outputs that are
// compared after that.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "judge/checking/prepared_round.hpp"
#include "judge/timing/protocol.hpp"
#include "judge/timing/round_sequence.hpp"
#include "judge/timing/round_supply.hpp"

namespace hone {

/// For rounds under host code of hone's own. Rationale: other judges wait while one times its pairs. For a small task, making
/// inputs and comparing outputs takes longer than the rounds, and needs no exclusive use of the device.
///
/// Inputs lie in the reference's arena, one round behind the other, as far as they fit: no submission can read them there. Outputs
/// of both sides are copied right after their rounds, so that nothing can change them until they are compared. A round
/// whose inputs do not fit is prepared and checked in its pair, and one without memory for copies is checked there.
/// One thread.
class AheadRounds : public RoundSupply {
 public:
  explicit AheadRounds(const Measurement& measurement);
  /// Gives the memory back.
  ~AheadRounds() override;

  /// Makes the inputs of the first pairs. `sequence`: of the measurement that follows. Both sides are frozen.
  Judgement prepare_ahead(RoundSequence sequence);
  /// Compares the outputs of all rounds that were copied.
  Judgement check_copied();

  Result<PreparedRound> prepare(std::uint64_t secret, std::vector<std::size_t> families,
                                std::uint64_t at) override;
  /// Inspects the round. Its outputs are compared at once, or copied.
  Judgement check(PreparedRound timed) override;
  double ahead_seconds() const override { return ahead_s_; }

 private:
  struct Ahead {
    PreparedRound prepared;
    double seconds;  ///< time in which its inputs were made
  };
  /// Memory for the outputs of both sides.
  struct Copies {
    std::unique_ptr<Arena> submission, baseline;
  };
  struct Copied {
    PreparedRound prepared;
    Copies copies;
  };
  int pairs_ahead() const;
  std::vector<TimedOrder> orders_ahead(RoundSequence sequence);
  bool add_order(std::uint64_t secret, const std::vector<std::size_t>& families,
                 std::vector<TimedOrder>& orders);
  Status give_way() const;
  Judgement prepare_some(std::vector<TimedOrder> orders, std::size_t* most);
  void make_room_for_copies(const Layout& layout);
  bool take_copies(const Layout& layout, Copies& copies);
  bool was_ahead(const PreparedRound& round) const;
  Status copy_outputs(const Layout& layout, Copies& copies) const;

  const Measurement m_;
  std::deque<Ahead> ahead_;
  std::uint64_t begin_ = 0,
                end_ = 0;  ///< of these inputs in the reference's arena; other inputs lie before
  std::deque<Copies> free_;
  std::vector<Copied> copied_;
  const std::uint64_t copies_bytes_max_;
  std::uint64_t copies_bytes_ = 0;
  double ahead_s_ = 0;
};

}  // namespace hone
