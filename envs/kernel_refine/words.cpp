// Formats numbers, shapes and lists as text.
#include "kernel_refine/words.hpp"

#include <cmath>
#include <cstdio>

namespace hone::kernel_refine {
namespace {

std::string printed(const char* format, double value) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string index_text(const std::vector<std::int64_t>& index) {
  std::string text = "[";
  for (const std::int64_t i : index) text += (text.size() > 1 ? ", " : "") + std::to_string(i);
  return text + "]";
}

/// In steps of ten: "about 20 %".
std::string share_text(std::int64_t part, std::int64_t whole) {
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (part == whole) return "all";
  return share < 10 ? "less than 10 %"
                    : "about " + printed("%.0f", std::round(share / 10) * 10) + " %";
}

std::string scalar_text(const Scalar& scalar) {
  const std::string head = "- `" + scalar.name + "`: " + std::string(dtype_c_name(scalar.dtype));
  if (scalar.value.empty()) {
    return head + ", a number from " + number(scalar.low) + " to " + number(scalar.high) + "\n";
  }
  return head + (scalar.value == scalar.name ? "" : ", equal to " + scalar.value) + "\n";
}

std::string tensor_text(const Tensor& tensor) {
  static constexpr std::string_view kRoles[] = {"input", "output", "input and output"};
  std::string shape;
  for (const std::string& axis : tensor.shape) shape += (shape.empty() ? "" : ", ") + axis;
  return "- `" + tensor.name + "`: " + std::string(kRoles[static_cast<int>(tensor.role)]) + ", " +
         std::string(dtype_c_name(tensor.dtype)) + "[" + shape + "], row-major and dense\n";
}

}  // namespace

std::string number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return printed("%.6g", value);
}

std::string microseconds(double us) {
  return us < 1000 ? printed("%.3g", us) + " µs" : printed("%.4g", us / 1000) + " ms";
}

std::string speedup_text(double speedup) { return printed("%.2f", speedup) + "×"; }

std::string without_fences(std::string text) {
  for (std::size_t at = text.find("```"); at != std::string::npos; at = text.find("```", at)) {
    text.replace(at, 3, "'''");
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string shape_text(const Dims& dims) {
  std::string text;
  for (const auto& [name, value] : dims) {
    text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(value);
  }
  return text.empty() ? "the only one" : text;
}

std::string shapes_text(const std::vector<Dims>& list) {
  std::string text;
  for (const Dims& dims : list) text += (text.empty() ? "" : ", ") + ("(" + shape_text(dims) + ")");
  return text.empty() ? "none shown" : text;
}

std::string tolerance_text(const Tolerance& t) {
  if (t.rtol == 0 && t.atol == 0 && t.rms == 0 && t.norm == 0) return "none, results must be equal";
  std::string text = "|got - exact| <= ";
  const std::size_t head = text.size();
  const auto add = [&](const std::string& term) {
    text += (text.size() > head ? " + " : "") + term;
  };
  if (t.atol > 0) add(number(t.atol));
  if (t.rtol > 0) add(number(t.rtol) + " * |exact|");
  if (t.rms > 0) {
    add(number(t.rms) + (t.rms_per_row ? " * RMS(its row of exact)" : " * RMS(exact)"));
  }
  if (t.norm > 0) {
    text += "; the root mean square of |got - exact| / (|exact| + RMS(exact)) is at most " +
            number(t.norm);
  }
  return text + (t.reason.empty() ? "" : " (" + t.reason + ")");
}

std::string arguments_text(const Task& task) {
  std::string text;
  for (const std::string& name : task.arguments) {
    for (const Tensor& tensor : task.tensors) {
      if (tensor.name == name) text += tensor_text(tensor);
    }
    for (const Scalar& scalar : task.scalars) {
      if (scalar.name == name) text += scalar_text(scalar);
    }
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::string languages_text(const std::vector<std::string>& languages) {
  std::string text;
  for (const std::string& language : languages) text += (text.empty() ? "" : " or ") + language;
  return text;
}

std::string fence_tag(const std::string& language) { return language == "c++" ? "cpp" : language; }

std::string mismatch_text(const Mismatch& m) {
  const bool hidden = m.shape == "hidden";
  std::string text = "Output `" + m.tensor + "`, " +
                     (hidden ? "a hidden shape"
                             : (m.shape.find('=') != std::string::npos ? "shape " : "") + m.shape);
  if (!m.family.empty()) text += ", inputs of kind `" + m.family + "`";
  text += ": ";
  // Rationale: for a hidden shape, the number of elements or an exact share of them would reveal its size.
  if (m.norm > 0) {
    text +=
        "no element is far off, but the errors are too large together: their root mean square, "
        "relative to |expected| + RMS(expected), is " +
        number(m.norm) + ", and at most " + number(m.norm_allowed) + " is allowed";
  } else if (hidden && m.total > 0) {
    text += share_text(m.wrong, m.total) + " of the elements are wrong";
  } else {
    text += std::to_string(m.wrong) + " of " + std::to_string(m.total) + " elements are wrong";
  }
  if (!m.index.empty()) text += "; the worst is at " + index_text(m.index);
  if (m.got) text += (m.index.empty() ? "; the worst: got " : ": got ") + number(*m.got);
  if (m.got && m.expected) text += ", expected " + number(*m.expected);
  if (m.tolerance > 0) text += " (at most " + number(m.tolerance) + " off is allowed)";
  return text + ".";
}

std::string megabytes(std::int64_t mb) { return std::to_string(mb) + " MB"; }

std::string count(std::int64_t n, std::string_view one, std::string_view many) {
  return std::to_string(n) + " " + std::string(n == 1 ? one : many);
}

}  // namespace hone::kernel_refine
