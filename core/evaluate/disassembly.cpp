// One process disassembles all images. Each image goes to nvdisasm once, whatever the number of its kernels.
#include "evaluate/disassembly.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "base/utf8.hpp"
#include "evaluate/ask_interpreter.hpp"
#include "evaluate/recording.hpp"
#include "record/images/cubin.hpp"

namespace hone {
namespace {

// A listing has about 90 bytes for each instruction. The largest kernels have tens of thousands.
constexpr std::int64_t kListingBytesMax = std::int64_t{16} << 20;
constexpr std::int64_t kListingsBytesMax = std::int64_t{64} << 20;
constexpr std::size_t kHeadBytesMax = std::size_t{1} << 20;  // the answer's first line
constexpr double kDisassemblySeconds = 120;  // of the process' own time, for all images
constexpr std::int64_t kDisassemblyMemoryBytes = std::int64_t{2} << 30;
constexpr std::size_t kReasonMax = 300;

/// Whether both are the same kernel, perhaps with other attributes.
bool is_same(const recorded::Kernel& one, const recorded::Kernel& other) {
  return one.image == other.image && one.name == other.name;
}

/// The steps of the run that launch a kernel.
std::vector<std::uint32_t> steps_of(const recorded::Plan& plan, const recorded::Kernel& kernel) {
  std::vector<std::uint32_t> steps;
  for (std::uint32_t i = 0; i < plan.run.size(); ++i) {
    const auto* launch = std::get_if<recorded::Launch>(&plan.run[i].work);
    if (launch != nullptr && is_same(plan.kernels[launch->kernel], kernel)) steps.push_back(i);
  }
  return steps;
}

/// The plan's kernels that are to be disassembled, by number, in the order of their first launch.
std::vector<std::uint32_t> own_kernels(const recorded::Plan& plan) {
  std::vector<std::uint32_t> found;
  for (const auto* steps : {&plan.setup, &plan.run}) {
    for (const recorded::Step& step : *steps) {
      const auto* launch = std::get_if<recorded::Launch>(&step.work);
      if (launch == nullptr) continue;
      const recorded::Kernel& kernel = plan.kernels[launch->kernel];
      const bool is_known = std::any_of(found.begin(), found.end(), [&](std::uint32_t other) {
        return is_same(plan.kernels[other], kernel);
      });
      if (!is_of_torch(plan.images[kernel.image]) && !is_known) found.push_back(launch->kernel);
    }
  }
  return found;
}

/// Their images, each once.
std::vector<std::uint32_t> images_of(const recorded::Plan& plan,
                                     const std::vector<std::uint32_t>& kernels) {
  std::vector<std::uint32_t> images;
  for (const std::uint32_t kernel : kernels) {
    const std::uint32_t image = plan.kernels[kernel].image;
    if (std::find(images.begin(), images.end(), image) == images.end()) images.push_back(image);
  }
  return images;
}

std::string artifact_of(const recorded::Plan& plan, const std::vector<std::uint32_t>& images) {
  Value sizes = Value::array();
  std::string bytes;
  for (const std::uint32_t image : images) {
    sizes.push(static_cast<std::int64_t>(plan.images[image].bytes.size()));
    bytes += plan.images[image].bytes;
  }
  return to_json(Value::map({{"sizes", std::move(sizes)},
                             {"listing_bytes_max", kListingBytesMax},
                             {"bytes_max", kListingsBytesMax}})) +
         "\n" + bytes;
}

Result<std::string> ask_disassembler(Launcher& launcher, const EvaluatorOptions& options,
                                     const std::string& artifact) {
  Question question;
  question.label = "disassembly";
  question.script = "builder/disassemble_images.py";
  question.arguments = {"{}"};
  question.seconds = kDisassemblySeconds;
  question.memory_bytes = kDisassemblyMemoryBytes;
  question.file_bytes = recorded::kImageBytesMax + (std::int64_t{1} << 20);
  question.answer_bytes_max = kHeadBytesMax + static_cast<std::size_t>(kListingsBytesMax);
  return ask_interpreter(launcher, options, question, artifact);
}

/// The code and the facts of one image.
struct ImageCode {
  std::string problem;
  std::map<std::string, MachineCode, std::less<>> code;
  std::optional<record::Cubin> facts;
};

KernelCode kernel_code(const std::string& name, const ImageCode& image) {
  KernelCode kernel;
  kernel.name = name;
  kernel.problem = image.problem;
  if (image.facts) {
    if (const auto facts = image.facts->kernels.find(name); facts != image.facts->kernels.end()) {
      kernel.registers = facts->second.registers;
      kernel.shared_bytes = facts->second.shared_bytes;
      kernel.local_bytes = facts->second.local_bytes;
    }
  }
  if (!kernel.problem.empty()) return kernel;
  const auto code = image.code.find(name);
  if (code != image.code.end()) {
    kernel.code = code->second;
  } else {
    kernel.problem = "its image has no code of this name";
  }
  return kernel;
}

}  // namespace

Result<std::vector<Listing>> read_listings(std::string_view answer, std::size_t count) {
  const std::size_t end = answer.substr(0, kHeadBytesMax).find('\n');
  if (end == std::string_view::npos) return invalid_argument("disassembly: found no first line");
  HONE_ASSIGN(const Value head, from_json(answer.substr(0, end)));
  answer.remove_prefix(end + 1);
  const Value* problem = head.find("problem");
  if (problem == nullptr || !problem->is_string())
    return invalid_argument("disassembly: found no problem in the first line");
  if (!problem->as_string().empty())
    return failed_precondition(printable_ascii(problem->as_string(), kReasonMax));
  const Value* described = head.find("listings");
  if (described == nullptr || !described->is_array() || described->as_array().size() != count)
    return invalid_argument("disassembly: expected " + std::to_string(count) + " listings");
  std::vector<Listing> listings;
  for (const Value& one : described->as_array()) {
    const Value *size = one.find("bytes"), *reason = one.find("problem");
    if (size == nullptr || !size->is_int() || reason == nullptr || !reason->is_string())
      return invalid_argument("disassembly: expected bytes and problem of each listing");
    const auto bytes = static_cast<std::uint64_t>(size->as_int());
    if (bytes > answer.size()) {
      return invalid_argument("disassembly: found " + std::to_string(answer.size()) +
                              " bytes, expected a listing of " + std::to_string(size->as_int()));
    }
    listings.push_back({printable_ascii(reason->as_string(), kReasonMax), answer.substr(0, bytes)});
    answer.remove_prefix(bytes);
  }
  return listings;
}

Result<std::vector<KernelCode>> disassemble(Launcher& launcher, const EvaluatorOptions& options,
                                            const recorded::Plan& plan) {
  const std::vector<std::uint32_t> kernels = own_kernels(plan), images = images_of(plan, kernels);
  std::vector<KernelCode> found;
  if (kernels.empty()) return found;
  HONE_ASSIGN(const std::string answer,
              ask_disassembler(launcher, options, artifact_of(plan, images)));
  HONE_ASSIGN(const auto listings, read_listings(answer, images.size()));
  std::map<std::uint32_t, ImageCode> codes;
  for (std::size_t i = 0; i < images.size(); ++i) {
    codes[images[i]] = {listings[i].problem, read_machine_code(listings[i].text),
                        record::read_cubin(plan.images[images[i]].bytes)};
  }
  for (const std::uint32_t number : kernels) {
    const recorded::Kernel& kernel = plan.kernels[number];
    found.push_back(kernel_code(kernel.name, codes[kernel.image]));
    found.back().steps = steps_of(plan, kernel);
  }
  return found;
}

}  // namespace hone
