#include "judge/timing/round_sequence.hpp"

#include "judge/checking/trials.hpp"
#include "judge/fill.hpp"

namespace hone {

NextPair RoundSequence::next(bool single) {
  const bool fresh = input_->holds(Defence::kFreshInputs);
  const std::size_t calls = single ? 1 : calls_;
  std::size_t& so_far = single ? single_calls_ : long_calls_;
  NextPair pair;
  pair.secret = derive_seed(input_->seed, "pair", fresh ? pairs_ : 0);
  pair.warm_secret = fresh ? derive_seed(pair.secret, "warm") : pair.secret;
  pair.families = timed_families(input_->task, input_->seed, fresh ? so_far : 0, calls,
                                 input_->settings.defences);
  so_far += calls;
  ++pairs_;
  return pair;
}

}  // namespace hone
