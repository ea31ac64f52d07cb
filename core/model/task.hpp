// Task: one kernel problem of a dataset, checked, as plain structs. docs/tasks.md explains each member.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "model/dtype.hpp"
#include "model/expression.hpp"
#include "model/value.hpp"

namespace hone {

enum class Role { kIn, kOut, kInOut };

struct Tensor {
  std::string name;
  Role role = Role::kIn;
  DType dtype = DType::kF32;
  std::vector<std::string> shape;  ///< an expression per axis, outermost first; row-major and dense
  bool may_change = false;         ///< an input that a submission may change, as the reference does
};

/// A scalar argument: an integer expression of the dimensions, or a random number from [low, high) for each
/// input.
struct Scalar {
  std::string name;
  DType dtype = DType::kI64;
  std::string value;  ///< expression; empty for a random number
  double low = 0, high = 0;
};

/// Names of the generators that are forms of the reference: `inputs`, and `varied`.
inline constexpr const char* kByReference = "reference";
inline constexpr const char* kVariedByReference = "varied";

/// How one tensor is filled. docs/tasks-reference.md has the table of kinds and their parameters.
struct Generator {
  std::string kind = "normal";
  double a = 0, b = 1;
};

/// A named way to fill all inputs.
struct Family {
  std::string name;
  Generator fallback;                        ///< for tensors that are not named in `tensors`
  std::map<std::string, Generator> tensors;  ///< by tensor name
};

/// |got − exact| ≤ atol + rtol·|exact| + rms·RMS(exact), RMS over the tensor or over each row of
/// its last axis. All zero: outputs must be equal.
struct Tolerance {
  double rtol = 0, atol = 0, rms = 0;
  bool rms_per_row = false;
  std::string reason = {};
  /// Upper bound of the root mean square of (|got − exact| − atol) / (|exact| + RMS(exact)) over a tensor; 0:
  /// no bound.
  double norm = 0;
  /// Minimum tolerances: the judge widens them by the reference's own error (judge/reference_error.hpp).
  bool from_reference = false;
};

struct Source {
  std::string name;  ///< file name; its suffix gives the language: "reference.cpp"
  std::string text;
};

struct HiddenShape {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>>
      ranges;  ///< dim → inclusive range, drawn at every step
};

/// A task's sources for one backend, and the members that differ for this backend, such as shapes that suit
/// its hardware.
struct BackendSources {
  std::vector<std::string> languages;  ///< languages of submissions, the default first: "c++", "c"
  Source reference;  ///< exports `reference` (the entry's signature) and `exact` (float outputs as
                     ///< double), or has a plan of each of these names
  Source baseline;   ///< exports the entry, or has a plan; honest code that is timed
  std::vector<Source> support = {};  ///< files that each build gets in addition to its source
  std::optional<std::vector<Dims>> shown = {};
  std::optional<std::vector<HiddenShape>> hidden = {};
  std::optional<Dims> timed = {};
  std::optional<Tolerance> tolerance = {};
  std::optional<std::int64_t> alignment = {};
};

/// Least time after which a call counts as slow (s); see slowdown_max.
inline constexpr double kSlowCallSeconds = 1;

struct Task {
  std::string dataset;  ///< set by the host: the dataset's name in the configuration
  std::string id;       ///< unique in its dataset
  std::string title;
  std::string description;  ///< what the kernel computes, for the model; Markdown
  std::string split = "train";
  std::vector<std::string> tags;

  std::string entry;  ///< the C name of the function to write
  std::vector<Tensor> tensors;
  std::vector<Scalar> scalars;
  std::vector<std::string>
      arguments;  ///< order of the entry's parameters: names of tensors and scalars
  std::vector<std::string> dims;

  std::vector<Dims> shown;          ///< shapes checked and disclosed
  std::vector<HiddenShape> hidden;  ///< shapes checked, drawn anew at each step, never disclosed
  Dims timed;                       ///< the shape measured; also checked
  std::vector<Family> families;     ///< the first is used for timing
  Tolerance tolerance;

  std::int64_t alignment = 0;    ///< bytes that every pointer is aligned to; 0: the element's size
  int threads = 1;               ///< CPU cores granted
  std::int64_t memory_mb = 256;  ///< beyond the tensors
  double run_seconds = 10;       ///< for one call of the entry
  /// A call of device code may take this many times as long as the baseline's, but at least kSlowCallSeconds (docs/tasks.md).
  /// 0: only run_seconds.
  double slowdown_max = 300;
  bool cache_warm = false;  ///< false: the set of inputs exceeds L2
  /// How a correct module without kernels of its own, whose work torch's operators do, is treated:
  /// "optional": like any other; "expected": the feedback mentions it; "required": it is rejected.
  std::string own_kernels = "optional";

  /// Reduced precision in which reference, baseline and submission may compute, as fingerprints name it:
  /// "conv_tf32 on". Empty: the precision of their types.
  std::string precision = {};

  /// Expression: the floating-point operations of one call of the obvious algorithm, a multiplication and an
  /// addition counted as two. For profiles. Empty: unknown.
  std::string flops = {};

  std::map<std::string, BackendSources, std::less<>> backends;  ///< by backend name

  /// Set by the judge in its own copy: the reference's answers have the types of the outputs instead of
  /// double (answers_are_narrow in judge/layout.hpp).
  bool narrow_answers = false;
};

/// Reads the MessagePack map of a dataset, strictly.
Result<Task> task_from_value(const Value& value);
/// All members, for caches and tests. task_from_value(task_to_value(t)) equals t.
Value task_to_value(const Task& task);
/// The task for one backend: with that backend's shapes, tolerance and alignment, and without the sources of
/// other backends. Idempotent. invalid_argument if the task has no sources for the backend.
Result<Task> task_for_backend(const Task& task, std::string_view backend);
/// The members that a client of this backend may see: no reference, no baseline, no hidden shapes.
Value task_for_client(const Task& whole, std::string_view backend);

/// The declaration that a submission must define: `extern "C" void add_relu(const float* x, const float* y,
/// float* out, int64_t n)`, a kernel for device languages, `class ModelNew(torch.nn.Module)` for Python.
std::string signature_of(const Task& task, std::string_view language = "c++");

/// The generator of a tensor in a family.
const Generator& generator_for(const Family& family, const std::string& tensor);
bool fills_by_reference(const Generator& generator);

/// The form of the reference that fills the inputs of a family, `inputs` or `varied`; empty if generators
/// fill them. It has the entry's parameters, and writes the inputs among them.
std::string reference_form(const Task& task, const Family& family);
/// The forms of all families, without duplicates.
std::set<std::string> reference_forms(const Task& task);

/// The number of elements of a tensor at these dimensions. Less than 1 or more than 2^32 is an error.
Result<std::int64_t> element_count(const Tensor& tensor, const Dims& dims);
/// Bytes of all tensors at the timed shape: the least that a call moves.
double least_bytes(const Task& task);
/// Floating-point operations of a call at the timed shape (`Task::flops`); 0: unknown.
double flops_of_call(const Task& task);
/// The extent of each axis.
Result<std::vector<std::int64_t>> extents(const Tensor& tensor, const Dims& dims);

}  // namespace hone
