// An episode that cannot be read does not hide the others.
#include "offline/export_episodes.hpp"

#include <cstdint>
#include <string>

#include "episode/trajectory.hpp"
#include "offline/journal_lookup.hpp"
#include "offline/prompt_parts.hpp"

namespace hone {

int export_episodes(Terminal& terminal, const Config& config, const EpisodeFilter& filter,
                    TrainingData::Form form) {
  const auto reader = JournalReader::open(config.journal.path);
  if (!reader) return terminal.fail(reader.error(), how_to_write_a_journal(config.journal.path));
  const auto parts = PromptParts::open(config);
  if (!parts) return terminal.fail(parts.error());
  TrainingData data(form, [&](const Value& line) { terminal.json(line); });
  std::int64_t count = 0;
  bool complete = true;
  const Status done = (*reader)->each(
      filter,
      [&](const StoredEpisode& stored) -> Status {
        const auto found = environment_of(stored, parts->environments);
        if (!found) {  // the other episodes are still exported
          complete = false;
          static_cast<void>(terminal.fail(found.error()));
          return {};
        }
        const Environment* environment = *found;
        HONE_ASSIGN(const Value one, trajectory_of(stored, *environment, parts->catalog.get()));
        if (++count % 1000 == 0) terminal.status(std::to_string(count) + " episodes");
        return data.add(one);
      },
      [&](const Error& damage) {  // the undamaged episodes are still exported
        complete = false;
        static_cast<void>(terminal.fail(damage));
      });
  if (!done) return terminal.fail(done.error());
  data.finish();
  if (count == 0 && complete) {
    const Status known = explain_no_match(**reader, filter);
    return known ? kExitOk : terminal.fail(known.error());
  }
  return complete ? kExitOk : kExitNo;
}

}  // namespace hone
