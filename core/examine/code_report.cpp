#include "examine/code_report.hpp"

#include <utility>

namespace hone {

CodeReport read_code_report(std::string_view assembly, std::string_view remarks,
                            std::string_view source_name) {
  constexpr std::size_t kBlockBytesMax = 2000;
  CodeListing listing = code_blocks(assembly, source_name, CodeReport::kBlocksMax, kBlockBytesMax);
  CodeReport report{
      .blocks = std::move(listing.blocks),
      .accesses = std::move(listing.accesses),
      .loops = loop_remarks(remarks.substr(0, kCodeTextMax), source_name, CodeReport::kLoopsMax),
      .kernels = kernel_resources(remarks.substr(0, kCodeTextMax), CodeReport::kKernelsMax),
      .left_out = std::move(listing.left_out)};
  if (remarks.size() > kCodeTextMax)
    report.left_out.push_back("messages of the compiler: they are too long");
  return report;
}

}  // namespace hone
