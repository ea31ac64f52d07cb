// Messages: all texts for the model, made from the templates of this folder.
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

/// The turn that feedback is about.
struct Turn {
  const Task& task;
  const std::vector<std::string>& languages;  ///< languages that this episode allows
  const RefineSettings& settings;
  const TurnResult& result;
  std::int64_t turns_left = 0;
  bool ended = false;
  double best_speedup = 0;  ///< best speedup of earlier turns; 0: none
  std::string_view backend = {};
};

/// [any thread] Constant after load().
///
/// A template has variants: for a task of the dataset D on the backend B, the first that exists of
/// `NAME.D.B.md`, `NAME.D.md`, `NAME.B.md` and `NAME.md` is used.
class Messages {
 public:
  /// Reads and checks every template. Those in `own` (empty: none) replace those in `folder`. An error names
  /// file and line.
  static Result<Messages> load(const std::filesystem::path& folder,
                               const std::filesystem::path& own = {});

  std::string system(const Task& task, const std::vector<std::string>& languages,
                     std::string_view backend) const;
  std::string task(const Task& task, const std::vector<std::string>& languages,
                   const RefineSettings& settings, std::string_view backend) const;
  /// Whether a prompt of the form few_shot has examples.
  bool has_examples(const Task& task, std::string_view language, std::string_view backend) const;
  /// The result of the turn with advice, within the settings' feedback_tokens.
  std::string feedback(const Turn& turn) const;

 private:
  Status read_folder(const std::filesystem::path& folder);
  /// nullptr: neither the template nor a variant exists.
  const Template* find(std::string_view name, const Task& task, std::string_view backend) const;
  const Template& get(std::string_view name, const Task& task, std::string_view backend) const;
  /// Advice on a timed kernel, from the template "advice" if it exists; empty: the episode has ended, or nothing was timed.
  const Template& template_of(const Turn& turn) const;
  std::string general_advice(const Turn& turn) const;

  std::map<std::string, Template, std::less<>> templates_;  ///< by file name without its ".md"
};

/// A sentence about the usual cause of a signal in a kernel; empty if unknown.
std::string signal_meaning(std::string_view signal);

/// A sentence about the remainder loop, if `text` has a dimension ("n=1003") that is not a multiple of 8;
/// else empty.
std::string shape_hint(std::string_view text);

}  // namespace hone::kernel_refine
