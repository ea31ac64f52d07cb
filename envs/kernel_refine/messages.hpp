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
  std::string_view backend = {};
};

/// [any thread] Constant after load().
///
/// A template has variants: for a task of the dataset D on the backend B, the first that exists of
/// `NAME.D.B.md`, `NAME.D.md`, `NAME.B.md` and `NAME.md` is used.
class Messages {
 public:
  /// Reads and checks every template; those of `own` (empty: none) stand in the place of those of
  /// `folder`. An error names file and line.
  static Result<Messages> load(const std::filesystem::path& folder,
                               const std::filesystem::path& own = {});

  std::string system(const Task& task, const std::vector<std::string>& languages,
                     std::string_view backend) const;
  std::string task(const Task& task, const std::vector<std::string>& languages,
                   const RefineSettings& settings, std::string_view backend) const;
  /// Whether there are examples for a prompt of the form few_shot.
  bool has_examples(const Task& task, std::string_view language, std::string_view backend) const;
  /// What became of the turn and what to do about it, within the settings' feedback_tokens.
  std::string feedback(const Turn& turn) const;

 private:
  Status read_folder(const std::filesystem::path& folder);
  /// nullptr: neither the template nor a variant of it.
  const Template* find(std::string_view name, const Task& task, std::string_view backend) const;
  const Template& get(std::string_view name, const Task& task, std::string_view backend) const;

  std::map<std::string, Template, std::less<>> templates_;  ///< by file name without its ".md"
};

/// What a signal usually means for a kernel: a sentence; empty for none.
std::string signal_meaning(std::string_view signal);

/// A sentence on the remainder loop when `text` holds a dimension ("n=1003") that is no multiple of
/// 8; else empty.
std::string shape_hint(std::string_view text);

}  // namespace hone::kernel_refine
