#include "examine/sanitizer.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/utf8.hpp"
#include "examine/text_lines.hpp"

namespace hone {
namespace {

/// Prefixes of the lines that hone's own part of the program prints.
constexpr std::string_view kCallLine = "hone-call ", kBufferLine = "hone-buffer ";

using examine::for_each_line;
using examine::number_before;
using examine::trimmed;

constexpr std::uint64_t kPublicSeed = 1;  // not secret: the submission's output is shown
constexpr std::size_t kKindMax = 64, kMessageMax = 240;

// Rationale: each buffer is a heap block of its own, so the sanitizer finds accesses outside it. The program's lines let the
// host name the buffer of an address.
// The options are compiled in, because the sandbox hides /proc, where the sanitizers read them, and refuses setrlimit. An
// address error ends the program; undefined behaviour does not.
constexpr const char* kDriverStart = R"(#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
const char* __asan_default_options(void) {
  return "detect_leaks=0:disable_coredump=0:color=never:exitcode=99";
}
const char* __ubsan_default_options(void) { return "print_stacktrace=0:color=never"; }
static FILE* inputs;
static void* buffer(const char* name, size_t alignment, size_t bytes, int reads) {
  void* start = 0;
  if (posix_memalign(&start, alignment, bytes) != 0) exit(98);
  memset(start, 0x5a, bytes);
  if (reads && fread(start, 1, bytes, inputs) != bytes) exit(98);
  printf("hone-buffer %s %p %zu\n", name, start, bytes);
  return start;
}
)";

std::string text_of(const Dims& dims) {
  std::string text;
  for (const auto& [name, extent] : dims)
    text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(extent);
  return text;
}

Result<std::size_t> bytes_of(const Tensor& tensor, const Dims& dims) {
  HONE_ASSIGN(const std::int64_t count, element_count(tensor, dims));
  return static_cast<std::size_t>(count) * dtype_size(tensor.dtype);
}

struct CallBytes {
  std::size_t all = 0, inputs = 0;
};
Result<CallBytes> bytes_of(const Task& task, const Dims& dims) {
  CallBytes bytes;
  for (const Tensor& tensor : task.tensors) {
    HONE_ASSIGN(const std::size_t own, bytes_of(tensor, dims));
    bytes.all += own;
    if (tensor.role != Role::kOut) bytes.inputs += own;
  }
  return bytes;
}

Result<std::string> scalar_text(const Scalar& scalar, const Dims& dims) {
  double value = (scalar.low + scalar.high) / 2;
  if (!scalar.value.empty()) {
    HONE_ASSIGN(const std::int64_t number, evaluate_expression(scalar.value, dims));
    if (!dtype_is_float(scalar.dtype)) return "INT64_C(" + std::to_string(number) + ")";
    value = static_cast<double>(number);
  }
  if (!dtype_is_float(scalar.dtype))
    return "INT64_C(" + std::to_string(static_cast<std::int64_t>(value)) + ")";
  char text[64];
  std::snprintf(text, sizeof text, "%a", value);
  return std::string(text);
}

const Tensor* find_tensor(const Task& task, const std::string& name) {
  for (const Tensor& tensor : task.tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

const Scalar* find_scalar(const Task& task, const std::string& name) {
  for (const Scalar& scalar : task.scalars) {
    if (scalar.name == name) return &scalar;
  }
  return nullptr;
}

std::string declaration(const Task& task) {
  std::string parameters;
  for (const std::string& name : task.arguments) {
    if (!parameters.empty()) parameters += ", ";
    const Scalar* scalar = find_scalar(task, name);
    parameters += scalar == nullptr ? "void*" : std::string(dtype_c_name(scalar->dtype));
  }
  return "extern void " + task.entry + "(" + parameters + ");\n";
}

/// Adds a call: its statements to the driver, its inputs to the file.
Status add_call(const Task& task, const SanitizerCall& call, const FillTensor& fill,
                SanitizerProgram& program) {
  const std::string number = std::to_string(program.calls.size());
  std::string before = "  printf(\"hone-call " + number + "\\n\");\n", after;
  for (const Tensor& tensor : task.tensors) {
    HONE_ASSIGN(const std::size_t bytes, bytes_of(tensor, call.dims));
    const std::size_t alignment =
        std::max<std::size_t>(sizeof(void*), static_cast<std::size_t>(task.alignment));
    const std::string variable = "t" + number + "_" + tensor.name;
    const bool reads = tensor.role != Role::kOut;
    before += "  void* " + variable + " = buffer(\"" + tensor.name + "\", " +
              std::to_string(alignment) + ", " + std::to_string(bytes) + ", " +
              (reads ? "1" : "0") + ");\n";
    after += "  free(" + variable + ");\n";
    if (!reads) continue;
    HONE_ASSIGN(const std::string data,
                sanitizer_input(tensor, call, fill, program.inputs.size(), kEveryElement));
    program.inputs += data;
  }
  std::string arguments;
  for (const std::string& name : task.arguments) {
    if (!arguments.empty()) arguments += ", ";
    if (const Scalar* scalar = find_scalar(task, name)) {
      HONE_ASSIGN(const std::string text, scalar_text(*scalar, call.dims));
      arguments += text;
    } else if (find_tensor(task, name) != nullptr) {
      arguments += "t" + number + "_" + name;
    }
  }
  program.driver += before + "  " + task.entry + "(" + arguments + ");\n" + after;
  program.calls.push_back(call.name);
  return {};
}

/// Reads the program's output, line by line.
class FindingReader {
 public:
  FindingReader(std::string_view source_name, std::size_t count_max)
      : source_name_(source_name), count_max_(count_max) {}

  void read(std::string_view line) {
    if (line.starts_with(kCallLine)) return read_call(line.substr(kCallLine.size()));
    if (line.starts_with(kBufferLine)) return read_buffer(line.substr(kBufferLine.size()));
    const std::size_t error = line.find("ERROR: AddressSanitizer: ");
    if (error != std::string_view::npos) return read_error(line.substr(error + 25));
    if (const std::size_t at = line.find("runtime error: "); at != std::string_view::npos)
      return read_undefined(line, line.substr(at + 15));
    if (reading_ == nullptr) return;
    if (line.starts_with("READ of size") || line.starts_with("WRITE of size"))
      reading_->message = std::string(line.substr(0, line.find(" at 0x")));
    if (line.starts_with("#")) return read_frame(line);
    if (const std::size_t at = line.find(" is located "); at != std::string_view::npos)
      read_region(line.substr(at + 12));
  }

  std::vector<SanitizerFinding> take() {
    for (SanitizerFinding& finding : findings_)
      finding.message = printable(finding.message.substr(0, kMessageMax));
    return std::move(findings_);
  }

 private:
  void read_call(std::string_view rest) {
    call_ = static_cast<std::size_t>(std::max<std::int64_t>(examine::take_number(rest), 0));
  }
  void read_buffer(std::string_view rest) {
    constexpr std::size_t kBuffersMax = 1000, kTensorNameMax = 64;
    const std::size_t space = rest.find(' ');
    if (space == std::string_view::npos || space > kTensorNameMax || buffers_.size() >= kBuffersMax)
      return;
    const std::string_view address = rest.substr(space + 1);
    buffers_[std::string(address.substr(0, address.find(' ')))] =
        std::string(rest.substr(0, space));
  }
  void read_error(std::string_view rest) {
    const std::string_view kind = rest.substr(0, rest.find(' '));
    if (add({std::string(kind), 0, std::string(rest.substr(0, rest.find(" (pc "))), call_}))
      reading_ = &findings_.back();
  }
  void read_undefined(std::string_view line, std::string_view message) {
    std::string_view place = line;
    if (const std::size_t slash = line.rfind('/', line.find(source_name_));
        slash != std::string_view::npos && slash < line.find("runtime error"))
      place = line.substr(slash + 1);
    const std::int64_t at = examine::take_place(place, source_name_);
    reading_ = nullptr;
    add({std::string(message.substr(0, message.find(':'))), std::max<std::int64_t>(at, 0),
         std::string(message), call_});
  }
  /// The first frame in the source gives the line.
  void read_frame(std::string_view line) {
    const std::size_t at = line.rfind(source_name_);
    if (at == std::string_view::npos || reading_->line > 0) return;
    std::string_view place = line.substr(at);
    reading_->line = std::max<std::int64_t>(examine::take_place(place, source_name_), 0);
  }
  /// "0 bytes to the right of 20-byte region [0x602000000040,0x602000000054)"
  void read_region(std::string_view rest) {
    const std::size_t bracket = rest.find('[');
    if (bracket == std::string_view::npos) return;
    const std::string_view start = rest.substr(bracket + 1);
    const auto buffer = buffers_.find(std::string(start.substr(0, start.find(','))));
    const std::string name =
        buffer == buffers_.end() ? "a block of the heap" : "tensor '" + buffer->second + "'";
    const std::int64_t distance = number_before(rest, " bytes ");
    const bool is_before = rest.find("left") < bracket || rest.find("before") < bracket;
    const bool is_inside = rest.find("inside") < bracket;
    reading_->message +=
        is_inside ? ", inside of " + name
                  : ", " + std::to_string(std::max<std::int64_t>(distance, 0)) + " bytes " +
                        (is_before ? "before" : "after") + " " + name + " (" +
                        std::to_string(number_before(rest, "-byte region")) + " bytes)";
    reading_ = nullptr;
  }
  bool add(SanitizerFinding finding) {
    reading_ = nullptr;
    if (findings_.size() >= count_max_) return false;
    for (const SanitizerFinding& other : findings_) {
      if (finding.line > 0 && other.line == finding.line && other.kind == finding.kind)
        return false;
    }
    finding.kind = printable(finding.kind.substr(0, kKindMax));
    finding.message = printable(finding.message.substr(0, kMessageMax));
    findings_.push_back(std::move(finding));
    return true;
  }

  const std::string_view source_name_;
  const std::size_t count_max_;
  std::map<std::string, std::string> buffers_;  ///< by the text of their address
  std::vector<SanitizerFinding> findings_;
  SanitizerFinding* reading_ = nullptr;  ///< the last one, while its report goes on
  std::size_t call_ = 0;
};

}  // namespace

Result<SanitizerCalls> sanitizer_calls(const Task& task, std::size_t bytes_max) {
  SanitizerCalls made;
  std::vector<Dims> shapes = task.shown;
  if (shapes.empty()) shapes.push_back(task.timed);
  std::size_t inputs = 0;
  for (const Dims& dims : shapes) {
    HONE_ASSIGN(const CallBytes bytes, bytes_of(task, dims));
    const std::string shape = text_of(dims);
    for (const Family& family : task.families) {
      if (!reference_form(task, family).empty()) continue;
      if (inputs + bytes.all > bytes_max) {
        ++made.left_out;
        continue;
      }
      inputs += bytes.inputs;
      made.calls.push_back(
          {dims, &family, (shape.empty() ? "" : shape + ", ") + "inputs '" + family.name + "'"});
    }
  }
  if (made.calls.empty() && made.left_out == 0)
    return failed_precondition(
        "the reference makes the inputs of this task, so that the "
        "sanitizers have none");
  return made;
}

Result<std::string> sanitizer_input(const Tensor& tensor, const SanitizerCall& call,
                                    const FillTensor& fill, std::size_t before,
                                    std::size_t elements_max) {
  HONE_ASSIGN(const std::int64_t elements, element_count(tensor, call.dims));
  const std::size_t count = std::min(static_cast<std::size_t>(elements), elements_max);
  std::string data(count * dtype_size(tensor.dtype), '\0');
  fill(data.data(), tensor.dtype, count, generator_for(*call.family, tensor.name),
       kPublicSeed + before);
  return data;
}

Result<SanitizerProgram> sanitizer_program(const Task& task, const FillTensor& fill,
                                           std::size_t bytes_max) {
  HONE_ASSIGN(const SanitizerCalls made, sanitizer_calls(task, bytes_max));
  SanitizerProgram program;
  program.left_out = made.left_out;
  program.driver = kDriverStart + declaration(task) + "int main(void) {\n" +
                   "  setvbuf(stdout, 0, _IONBF, 0);\n" + "  inputs = fopen(\"" + kSanitizerInputs +
                   "\", \"rb\");\n  if (!inputs) exit(98);\n";
  for (const SanitizerCall& call : made.calls) HONE_TRY(add_call(task, call, fill, program));
  program.driver += std::string("  printf(\"") + kSanitizerEnd + "\\n\");\n  return 0;\n}\n";
  return program;
}

std::vector<SanitizerFinding> sanitizer_findings(std::string_view output,
                                                 std::string_view source_name,
                                                 std::size_t count_max) {
  FindingReader reader(source_name, count_max);
  for_each_line(output, [&](std::string_view line) { reader.read(trimmed(line)); });
  return reader.take();
}

std::optional<std::size_t> sanitizer_last_call(std::string_view output) {
  std::int64_t last = -1;
  for_each_line(output, [&last](std::string_view line) {
    if (!line.starts_with(kCallLine)) return;
    line.remove_prefix(kCallLine.size());
    last = examine::take_number(line);
  });
  return last < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(last));
}

bool is_of_sanitizer_program(std::string_view line) {
  return line.starts_with(kCallLine) || line.starts_with(kBufferLine) || line == kSanitizerEnd;
}

}  // namespace hone
