#include "judge/checking/prepared_round.hpp"

#include <utility>

namespace hone {

Result<PreparedRound> prepare_timed(const SessionInput& e, std::uint64_t secret,
                                    std::vector<std::size_t> families, std::uint64_t at) {
  const std::size_t calls = families.size();
  HONE_ASSIGN(InputSet set,
              InputSet::make(e.task, e.task.timed, std::move(families), secret, *e.reference.runner,
                             e.workbench, e.settings.defences, {at, 0}));
  HONE_ASSIGN(Layout layout, lay_out(e.task, e.task.timed, calls, e.workbench.placement(), false));
  const std::uint64_t end = layout.total;
  return PreparedRound{{e.task.timed, false, 0, Placement::kCanaries},
                       secret,
                       std::move(layout),
                       std::move(set),
                       end};
}

}  // namespace hone
