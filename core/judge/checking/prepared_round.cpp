#include "judge/checking/prepared_round.hpp"

#include <utility>

namespace hone {

Result<std::vector<PreparedRound>> prepare_all_timed(const SessionInput& e,
                                                     std::vector<TimedOrder> orders) {
  std::vector<SetOrder> sets_from;
  for (TimedOrder& order : orders)
    sets_from.push_back({std::move(order.families), order.secret, {order.at, 0}});
  HONE_ASSIGN(std::vector<InputSet> sets,
              InputSet::make_all(e.task, e.task.timed, std::move(sets_from), *e.reference.runner,
                                 e.workbench, e.settings.defences));
  std::vector<PreparedRound> rounds;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    HONE_ASSIGN(Layout layout,
                lay_out(e.task, e.task.timed, sets[i].calls(), e.workbench.placement(), false));
    const std::uint64_t end = layout.total;
    rounds.push_back({{e.task.timed, false, 0, Placement::kCanaries},
                      orders[i].secret,
                      std::move(layout),
                      std::move(sets[i]),
                      end});
  }
  return rounds;
}

Result<PreparedRound> prepare_timed(const SessionInput& input, TimedOrder order) {
  HONE_ASSIGN(std::vector<PreparedRound> rounds, prepare_all_timed(input, {std::move(order)}));
  return std::move(rounds.front());
}

}  // namespace hone
