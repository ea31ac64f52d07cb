// Messages: every text that a model reads, made from the templates of this folder.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "episode/environment.hpp"
#include "kernel_refine/settings.hpp"
#include "kernel_refine/template.hpp"

namespace hone::kernel_refine {

/// What feedback is about.
struct Turn {
  const Task& task;
  const std::vector<std::string>& languages;  ///< that this episode may use
  const RefineSettings& settings;
  const TurnResult& result;
  std::int64_t turns_left = 0;
  bool ended = false;
  double best_speedup = 0;  ///< of the turns before; 0: none
};

/// [any thread] Constant after load().
class Messages {
 public:
  /// Reads and checks every template; an error names file and line.
  static Result<Messages> load(const std::filesystem::path& folder);

  std::string system(const std::vector<std::string>& languages) const;
  std::string task(const Task& task, const std::vector<std::string>& languages,
                   const RefineSettings& settings) const;
  /// What became of the turn and what to do about it, within the settings' feedback_tokens.
  std::string feedback(const Turn& turn) const;

 private:
  std::map<std::string, Template, std::less<>> templates_;
};

/// What a signal usually means for a kernel: a sentence; empty for none.
std::string signal_meaning(std::string_view signal);

/// A sentence on the remainder loop when `text` holds a dimension ("n=1003") that is no multiple of
/// 8; else empty.
std::string shape_hint(std::string_view text);

}  // namespace hone::kernel_refine
