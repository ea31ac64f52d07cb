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

/// Clears words of a struct parameter that may be left over from earlier calls: words that no
/// instruction of the kernel names, and addresses that are not relocations, at multiples of four.
/// Rationale: programs fill arrays in structs (of dimensions, of tensors) only as far as needed.
void clear_leftovers(const Memories& memories, std::string& bytes, const Parameter& parameter,
                     const std::vector<bool>& named) {
  constexpr std::size_t kHalf = 4;
  const std::size_t end = std::min<std::size_t>(parameter.offset + parameter.bytes, bytes.size());
  std::vector<bool> cleared(bytes.size() / kHalf + 1);
  for (std::size_t at = parameter.offset; at + kHalf <= end; at += kHalf) {
    const std::size_t half = at / kHalf;
    if (half < named.size() && !named[half]) cleared[half] = true;
    std::uint64_t word = 0;
    if (at + sizeof word > end) continue;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if (looks_like_address(memories, word)) cleared[half] = cleared[half + 1] = true;
  }
  for (std::size_t at = parameter.offset; at + kHalf <= end; at += kHalf) {
    if (cleared[at / kHalf]) std::memset(bytes.data() + at, 0, kHalf);
  }
}

void clear_leftovers(const Memories& memories, recorded::Launch& launch,
                     const CubinKernel& kernel) {
  const std::vector<bool>& named = kernel.named_words;
  for (const Parameter& one : kernel.parameters) {
    if (one.bytes >= sizeof(std::uint64_t))
      clear_leftovers(memories, launch.parameters, one, named);
  }
  std::erase_if(launch.addresses, [&](const recorded::Relocation& one) {
    return one.at / 4 < named.size() && !named[one.at / 4];
  });
}

}  // namespace

std::uint64_t digest_of_run(const Recording& recording) {
  std::vector<recorded::Step> run = recording.run();
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
