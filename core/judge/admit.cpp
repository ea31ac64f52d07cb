// Trivial answers, made by the judge itself and compared like a submission's.
#include "judge/admit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "judge/blame.hpp"
#include "judge/compare.hpp"
#include "judge/fill.hpp"
#include "judge/input_set.hpp"
#include "judge/session.hpp"

namespace hone {
namespace {

using Bytes = std::vector<char>;

/// A tensor of `dtype` with the elements `value(i)`.
template <typename MakeValue>
Bytes make_tensor(DType dtype, std::uint64_t count, MakeValue value) {
  Bytes bytes(count * dtype_size(dtype));
  for (std::uint64_t i = 0; i < count; ++i) {
    Generator constant{"constant", 0, 0};
    const double v = value(i);
    if (dtype == DType::kF64) {
      std::memcpy(bytes.data() + i * 8, &v, 8);
    } else if (dtype == DType::kF32) {
      const auto single = static_cast<float>(v);
      std::memcpy(bytes.data() + i * 4, &single, 4);
    } else {
      constant.a = v;
      fill_tensor(bytes.data() + i * dtype_size(dtype), dtype, 1, constant, 0);
    }
  }
  return bytes;
}

/// The nearest number with a significand of `bits` bits, ties to even.
double rounded(double number, int bits) {
  if (number == 0 || !std::isfinite(number)) return number;
  const int exponent = std::ilogb(number) + 1 - bits;
  return std::ldexp(std::nearbyint(std::ldexp(number, -exponent)), exponent);
}

constexpr int kShortcutsMax = 256;
constexpr std::string_view kRounded = "rounded to ";

/// An answer of lower precision than its type, which no tolerance may accept.
int lower_precision(DType dtype) { return dtype == DType::kBF16 ? 4 : 8; }
std::string rounded_name(DType dtype) {
  return std::string(kRounded) +
         (dtype == DType::kBF16 ? "a significand of four bits" : "bfloat16");
}

Value report_of(std::size_t trials, Value lazy, double reference_error, Value reasons) {
  const bool admitted = reasons.as_array().empty();
  return Value::map({{"trials", trials},
                     {"lazy", std::move(lazy)},
                     {"reference_error", reference_error},
                     {"admitted", admitted},
                     {"reasons", std::move(reasons)}});
}

std::string short_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", number);
  return text;
}

class Admission {
 public:
  Admission(const Task& task, std::uint64_t seed, const DatasetRunner& reference,
            Workbench& workbench)
      : task_(task), seed_(seed), reference_(reference), workbench_(workbench) {}

  /// For a task whose tolerance follows from the reference: the reference's process makes the answers and
  /// reports the error of each, because the outputs may have several gigabytes.
  Result<Value> run_in_reference() {
    const std::vector<OutputTolerance> tolerances = tolerances_of(task_, reference_.error);
    Value reasons = Value::array();
    for (std::size_t family = 0; family < task_.families.size(); ++family) {
      HONE_ASSIGN(
          const InputSet set,
          InputSet::make(task_, task_.timed, {{family}, derive_seed(seed_, "today", family)},
                         *reference_.runner, workbench_));
      for (int i = 0; i < kShortcutsMax; ++i) {
        std::string text;
        const Round round = set.run_report(Form::kShortcuts, kReferenceSeconds * 5, &text);
        if (round.ending != Ending::kDone) return failed("the reference", round);
        HONE_ASSIGN(const Value report, from_json(text));
        const Value* name = report.find("answer");
        if (name == nullptr || !name->is_string() || *name == Value("")) break;
        HONE_ASSIGN(const bool passes, passes_all(report, tolerances));
        if (const Value* right = report.find("right"); right != nullptr && *right == Value(true)) {
          note_right(report, passes, task_.families[family].name, reasons);
          continue;
        }
        const auto found = passing_.try_emplace(name->as_string(), true).first;
        found->second = found->second && passes;
      }
    }
    if (reference_.error && !own_passes(tolerances))
      reasons.push(
          "the reference's own error is as large as its answers: only an answer close to what it "
          "gives "
          "itself is right");
    Value lazy = Value::array();
    for (const auto& [name, passes] : passing_) {
      lazy.push(Value::map({{"answer", name}, {"passes", passes}}));
      if (passes) reasons.push("an answer that takes less work passes every check: " + name);
    }
    Value report = report_of(task_.families.size(), std::move(lazy), own_share(tolerances),
                             std::move(reasons));
    report.set("tolerances", tolerances_value(tolerances));
    if (reference_.error) report.set("memory_bytes", reference_.error->memory_bytes);
    if (reference_.error)
      report.set("exact_in", reference_.error->in_double ? "f64" : "its own types");
    return report;
  }

  Result<Value> run() {
    if (task_.tolerance.from_reference) return run_in_reference();
    std::vector<Trial> trials = plan_trials(task_, seed_);
    for (std::size_t i = 0; i < trials.size(); ++i) HONE_TRY(try_one(trials[i], i));
    Value lazy = Value::array();
    Value reasons = Value::array();
    if (reference_error_ > 1.0) {
      reasons.push("the reference itself is outside the tolerance, by a factor of " +
                   short_text(reference_error_));
    }
    for (const auto& [name, passes] : passing_) {
      lazy.push(Value::map({{"answer", name}, {"passes", passes}}));
      if (!passes) continue;
      reasons.push(name.starts_with(kRounded)
                       ? "an answer " + name +
                             " passes every check: the tolerance is too wide; its own error uses " +
                             short_text(reference_error_) + " of it, at least 1/256 is wanted"
                       : "an answer that takes no work passes every check: " + name);
    }
    return report_of(trials.size(), std::move(lazy), reference_error_, std::move(reasons));
  }

 private:
  /// Whether every output of an answer is within its tolerance.
  Result<bool> passes_all(const Value& report,
                          const std::vector<OutputTolerance>& tolerances) const {
    const Value* errors = report.find("outputs");
    if (errors == nullptr || !errors->is_array()) return false;
    std::size_t output = 0;
    for (std::size_t t = 0; t < task_.tensors.size(); ++t) {
      if (task_.tensors[t].role == Role::kIn) continue;
      if (output >= errors->as_array().size()) return false;
      HONE_ASSIGN(const OutputError error, output_error_from_value(errors->as_array()[output]));
      if (!is_within(error, tolerances[t])) return false;
      ++output;
    }
    return true;
  }

  static void note_right(const Value& report, bool passes, const std::string& family,
                         Value& reasons) {
    if (passes) return;
    const std::string name = report.find("answer")->as_string();
    const Value* note = report.find("note");
    if (note == nullptr)
      reasons.push("the reference in its form '" + name + "' is wrong for inputs of kind '" +
                   family + "'");
  }

  bool own_passes(const std::vector<OutputTolerance>& tolerances) const {
    std::size_t output = 0;
    bool within = true;
    for (std::size_t t = 0; t < task_.tensors.size(); ++t) {
      if (task_.tensors[t].role == Role::kIn) continue;
      const auto& errors = reference_.error->outputs;
      within = within && output < errors.size() && is_within(errors[output].own, tolerances[t]);
      ++output;
    }
    return within;
  }

  /// The reference's own error, as a share of the tolerance.
  double own_share(const std::vector<OutputTolerance>& tolerances) const {
    double share = 0;
    std::size_t output = 0;
    for (std::size_t t = 0; t < task_.tensors.size(); ++t) {
      if (task_.tensors[t].role == Role::kIn || !reference_.error) continue;
      const auto& errors = reference_.error->outputs;
      const Tolerance& limit = tolerances[t].usual;
      if (output < errors.size() && limit.norm > 0 && limit.rtol > 0) {
        const OutputError& own = errors[output].own;
        share = std::max({share, own.norm / limit.norm, own.element / limit.rtol});
      }
      ++output;
    }
    return share;
  }

  /// The tolerance of each output, with its origin.
  Value tolerances_value(const std::vector<OutputTolerance>& tolerances) const {
    Value all = Value::array();
    std::size_t output = 0;
    for (std::size_t t = 0; t < task_.tensors.size(); ++t) {
      if (task_.tensors[t].role == Role::kIn) continue;
      const Tolerance& usual = tolerances[t].usual;
      Value one = Value::map({{"tensor", task_.tensors[t].name},
                              {"element", usual.rtol},
                              {"norm", usual.norm},
                              {"share", tolerances[t].share}});
      if (reference_.error && output < reference_.error->outputs.size()) {
        const ReferenceError::Output& error = reference_.error->outputs[output];
        one.set("own_element", error.own.element).set("own_norm", error.own.norm);
        if (error.allowed) {
          one.set("allowed_element", error.allowed->element)
              .set("allowed_norm", error.allowed->norm);
        }
      }
      all.push(std::move(one));
      ++output;
    }
    return all;
  }

  /// A fault, or a mistake in the task.
  static Error failed(const std::string& what, const Round& round) {
    const std::string message = what + " failed: " + std::string(enum_name(round.ending)) +
                                (round.message.empty() ? "" : ": " + round.message);
    const bool fault = round.ending == Ending::kFault || round.ending == Ending::kStarved;
    return fault ? internal_error(message) : failed_precondition(message);
  }

  /// The exact outputs of one input, by tensor.
  Result<std::map<std::size_t, Bytes>> exact_outputs(const InputSet& set) {
    const Round round = set.run_exact(kReferenceSeconds);
    if (round.ending != Ending::kDone) return failed("the reference", round);
    std::map<std::size_t, Bytes> outputs;
    for (std::size_t t = 0; t < task_.tensors.size(); ++t) {
      if (task_.tensors[t].role == Role::kIn) continue;
      const Region& r = set.exact_layout().calls[0][t];
      HONE_ASSIGN(outputs[t], reference_.runner->arena().read(r.payload, r.bytes));
    }
    return outputs;
  }

  Status try_one(const Trial& trial, std::size_t number) {
    HONE_ASSIGN(
        const InputSet yesterday,
        InputSet::make(task_, trial.dims, {{trial.family}, derive_seed(seed_, "yesterday", number)},
                       *reference_.runner, workbench_));
    HONE_ASSIGN(const auto old_outputs, exact_outputs(yesterday));
    HONE_ASSIGN(
        const InputSet today,
        InputSet::make(task_, trial.dims, {{trial.family}, derive_seed(seed_, "today", number)},
                       *reference_.runner, workbench_));
    HONE_ASSIGN(const auto outputs, exact_outputs(today));
    std::map<std::string, bool> right;
    for (const auto& [t, expected] : outputs) {
      HONE_ASSIGN(const auto lazy, answers(today, t, expected, old_outputs.at(t)));
      for (const auto& [name, answer] : lazy) {
        const bool passes = outside(today, t, answer, expected) <= 1.0;
        const auto found = right.try_emplace(name, true).first;
        found->second = found->second && passes;
      }
    }
    // An answer that cannot be made for a shape (a copy of an input of another size) counts as wrong there.
    for (const auto& [name, passes] : right) passing_.try_emplace(name, true);
    for (auto& [name, passes] : passing_)
      passes = passes && right.count(name) != 0 && right.at(name);
    return measure_reference(today, outputs);
  }

  double outside(const InputSet& set, std::size_t t, const Bytes& answer,
                 const Bytes& expected) const {
    const Tensor& tensor = task_.tensors[t];
    const auto axes = extents(tensor, set.dims());
    return error_share(answer.data(), expected.data(), tensor.dtype,
                       set.exact_layout().calls[0][t].elements,
                       static_cast<std::uint64_t>(axes->back()), task_.tolerance);
  }

  Result<std::map<std::string, Bytes>> answers(const InputSet& set, std::size_t t,
                                               const Bytes& expected, const Bytes& old) const {
    const Tensor& tensor = task_.tensors[t];
    const std::uint64_t count = set.exact_layout().calls[0][t].elements;
    const DType form = form_dtype(tensor, true);
    double mean = 0;
    for (std::uint64_t i = 0; i < count; ++i)
      mean += element_at(expected.data(), form, i) / static_cast<double>(count);
    std::map<std::string, Bytes> made;
    made["zeros"] = make_tensor(tensor.dtype, count, [](std::uint64_t) { return 0.0; });
    made["ones"] = make_tensor(tensor.dtype, count, [](std::uint64_t) { return 1.0; });
    made["the mean"] = make_tensor(tensor.dtype, count, [&](std::uint64_t) { return mean; });
    made["yesterday's answer"] = make_tensor(
        tensor.dtype, count, [&](std::uint64_t i) { return element_at(old.data(), form, i); });
    if (dtype_is_float(tensor.dtype)) {
      made[rounded_name(tensor.dtype)] = make_tensor(tensor.dtype, count, [&](std::uint64_t i) {
        return rounded(element_at(expected.data(), form, i), lower_precision(tensor.dtype));
      });
    }
    for (std::size_t s = 0; s < task_.tensors.size(); ++s) {
      const Tensor& input = task_.tensors[s];
      const Region& r = set.exact_layout().calls[0][s];
      if (input.role != Role::kIn || r.elements < count) continue;
      HONE_ASSIGN(const Bytes bytes, reference_.runner->arena().read(r.payload, r.bytes));
      made["a copy of " + input.name] = make_tensor(tensor.dtype, count, [&](std::uint64_t i) {
        return element_at(bytes.data(), input.dtype, i);
      });
    }
    return made;
  }

  Status measure_reference(const InputSet& set, const std::map<std::size_t, Bytes>& outputs) {
    const Round round = set.run_plain(kReferenceSeconds);
    if (round.ending != Ending::kDone) return failed("the reference's plain form", round);
    for (const auto& [t, expected] : outputs) {
      const Region& r = set.exact_layout().calls[0][t];
      const std::uint64_t bytes = r.elements * dtype_size(task_.tensors[t].dtype);
      HONE_ASSIGN(const Bytes plain, reference_.runner->arena().read(r.payload, bytes));
      reference_error_ = std::max(reference_error_, outside(set, t, plain, expected));
    }
    return {};
  }

  const Task& task_;
  std::uint64_t seed_;
  const DatasetRunner& reference_;
  Workbench& workbench_;
  std::map<std::string, bool> passing_;
  double reference_error_ = 0;
};

}  // namespace

Result<Value> admit_task(const Task& task, std::uint64_t seed, const DatasetRunner& reference,
                         Workbench& workbench) {
  auto report = Admission(task, seed, reference, workbench).run();
  if (report || report.error().code != Code::kFailedPrecondition) return report;
  return report_of(0, Value::array(), 0, Value::array({report.error().message}));
}

}  // namespace hone
