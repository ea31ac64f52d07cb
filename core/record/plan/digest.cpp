// The digest of a run. It ignores parts of parameters that the program never set.
#include "record/plan/digest.hpp"

#include <algorithm>
#include <cstring>

#include "hone/recorded_plan_writer.hpp"
#include "record/plan/build.hpp"

namespace hone::record {
namespace {

/// Whether eight bytes look like an address of allocated memory, the program or its libraries.
bool looks_like_address(const Memories& memories, std::uint64_t word) {
  constexpr std::uint64_t kProgram = 0x550000000000, kProgramEnd = 0x570000000000;
  constexpr std::uint64_t kLibraries = 0x7e0000000000, kEnd = std::uint64_t{1} << 47;
  return memories.was_given(word) || (word >= kProgram && word < kProgramEnd) ||
         (word >= kLibraries && word < kEnd);
}

void clear(std::string& bytes, std::size_t from, std::size_t to) {
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), to - from, '\0');
}

/// Clears words of a struct parameter that may be left over from earlier calls: words that no
/// instruction of the kernel names, and addresses that are not relocations, at multiples of four.
/// Rationale: programs fill arrays in structs (of dimensions, of tensors) only as far as needed.
void clear_leftovers(const Memories& memories, std::string& bytes, const Parameter& parameter,
                     const std::vector<bool>& named) {
  constexpr std::size_t kHalf = 4;
  const std::size_t end = std::min<std::size_t>(parameter.offset + parameter.bytes, bytes.size());
  // Padding comes first: next to a number it could look like the upper half of an address.
  for (std::size_t at = parameter.offset; at + kHalf <= end; at += kHalf) {
    if (at / kHalf < named.size() && !named[at / kHalf]) clear(bytes, at, at + kHalf);
  }
  std::vector<std::size_t> addresses;
  for (std::size_t at = parameter.offset; at + sizeof(std::uint64_t) <= end; at += kHalf) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if (looks_like_address(memories, word)) addresses.push_back(at);
  }
  for (const std::size_t at : addresses) clear(bytes, at, at + sizeof(std::uint64_t));
}

std::uint32_t word_at(const std::string& bytes, std::size_t at) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

constexpr std::size_t kTorchDims = 25;  // maximum of dimensions in structs of torch's kernels

bool has_address(const recorded::Launch& launch, std::size_t at) {
  return std::any_of(launch.addresses.begin(), launch.addresses.end(),
                     [&](const recorded::Relocation& one) { return one.at == at; });
}

/// Clears unused words of torch's TensorInfo: an address, sizes and strides for 25 dimensions, and the number of
/// dimensions. torch never sets the words of dimensions that the tensor lacks, but the kernel's instructions name them.
void clear_unused_of_tensor_info(recorded::Launch& launch, const Parameter& parameter) {
  std::string& bytes = launch.parameters;
  for (const std::size_t width : {sizeof(std::uint32_t), sizeof(std::uint64_t)}) {
    const std::size_t sizes = parameter.offset + 8, strides = sizes + kTorchDims * width;
    const std::size_t count = strides + kTorchDims * width, end = count + 8;
    if (parameter.offset + parameter.bytes != end || end > bytes.size()) continue;
    const std::size_t dims = word_at(bytes, count);
    if (dims > kTorchDims || !has_address(launch, parameter.offset)) continue;
    clear(bytes, sizes + dims * width, strides);
    clear(bytes, strides + dims * width, count);
    clear(bytes, count + 4, end);
  }
}

/// torch's OffsetCalculator at the beginning of a parameter: the number of dimensions, divisors for 25 dimensions, and
/// the strides of each operand for 25 dimensions. The operands' addresses follow.
class OffsetCalculator {
 public:
  OffsetCalculator(recorded::Launch& launch, const Parameter& parameter)
      : bytes_(launch.parameters), begin_(parameter.offset) {
    const std::size_t end = std::min<std::size_t>(begin_ + parameter.bytes, bytes_.size());
    if (begin_ + kStrides > end) return;
    const std::uint32_t dims = word_at(bytes_, begin_);
    if (dims < 1 || dims > kTorchDims) return;
    for (std::size_t i = 0; i < dims; ++i) {
      if (!is_divisor(begin_ + kCount + i * kDivisor)) return;
    }
    for (std::size_t count = 1; count <= kOperandsMax && dims_ == 0; ++count) {
      operands_ = count;
      if (has_addresses(launch)) dims_ = dims;
    }
  }
  /// Clears the words of unused dimensions. Does nothing if the parameter is another struct: if a divisor's magic
  /// number or an operand's address is missing.
  void clear_unused() {
    if (dims_ == 0) return;
    clear(bytes_, begin_ + kCount + dims_ * kDivisor, begin_ + kStrides);
    const std::size_t of_a_dim = operands_ * sizeof(std::uint32_t);
    clear(bytes_, begin_ + kStrides + dims_ * of_a_dim, begin_ + kStrides + kTorchDims * of_a_dim);
  }

 private:
  static constexpr std::size_t kCount = 4, kDivisor = 12, kOperandsMax = 8;
  static constexpr std::size_t kStrides = kCount + kTorchDims * kDivisor;

  /// Whether torch's IntDivider is here: a divisor, and the magic number and shift that replace the division.
  bool is_divisor(std::size_t at) const {
    const std::uint64_t divisor = word_at(bytes_, at), shift = word_at(bytes_, at + 8);
    if (divisor == 0 || shift > 31 || std::uint64_t{1} << shift < divisor) return false;
    const std::uint64_t magic =
        (std::uint64_t{1} << 32) * ((std::uint64_t{1} << shift) - divisor) / divisor + 1;
    return word_at(bytes_, at + 4) == static_cast<std::uint32_t>(magic);
  }
  bool has_addresses(const recorded::Launch& launch) const {
    const std::size_t strides = kTorchDims * operands_ * sizeof(std::uint32_t);
    const std::size_t first = (begin_ + kStrides + strides + 7) / 8 * 8;
    for (std::size_t i = 0; i < operands_; ++i) {
      if (!has_address(launch, first + 8 * i)) return false;
    }
    return true;
  }

  std::string& bytes_;
  std::size_t begin_, operands_ = 0;
  std::uint32_t dims_ = 0;  ///< 0: the parameter is another struct
};

void clear_leftovers(const Memories& memories, recorded::Launch& launch,
                     const CubinKernel& kernel) {
  const std::vector<bool>& named = kernel.named_words;
  for (const Parameter& one : kernel.parameters) {
    if (one.bytes < sizeof(std::uint64_t)) continue;
    OffsetCalculator(launch, one).clear_unused();
    clear_unused_of_tensor_info(launch, one);
    clear_leftovers(memories, launch.parameters, one, named);
  }
  std::erase_if(launch.addresses, [&](const recorded::Relocation& one) {
    return one.at / 4 < named.size() && !named[one.at / 4];
  });
}

/// Sorts consecutive steps of an autotuned kernel by configuration. Rationale: one of the two compared calls starts
/// them in reverse order.
void sort_configurations(std::vector<recorded::Step>& run) {
  for (auto first = run.begin(); first != run.end();) {
    const auto last = std::find_if(
        first, run.end(), [&](const recorded::Step& step) { return step.tuned != first->tuned; });
    std::stable_sort(first, last, [](const recorded::Step& a, const recorded::Step& b) {
      return a.configuration < b.configuration;
    });
    first = last;
  }
}

}  // namespace

std::uint64_t digest_of_run(const Recording& recording) {
  std::vector<recorded::Step> run = recording.run();
  sort_configurations(run);
  for (recorded::Step& step : run) {
    if (auto* launch = std::get_if<recorded::Launch>(&step.work))
      clear_leftovers(recording.memories, *launch,
                      *recording.kernel(launch->kernel).function->kernel);
  }
  std::uint64_t hash =
      14695981039346656037u;  // FNV-1a: finds accidental differences; forgeries need no defence here
  for (const char byte : recorded::write_plan(number_run(recording, std::move(run))))
    hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211u;
  return hash;
}

}  // namespace hone::record
