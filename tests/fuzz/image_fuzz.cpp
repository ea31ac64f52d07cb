// Images of device code as a program may hand them to the recording driver: nothing is read beyond
// them, and what a launch relies on holds.
#include "fuzz/fuzz.hpp"
#include "record/images/cubin.hpp"
#include "record/images/fatbin.hpp"

namespace hone::fuzz {
namespace {

void check_cubin(std::string_view bytes) {
  const auto cubin = record::read_cubin(bytes);
  if (!cubin) return;
  for (const auto& [name, kernel] : cubin->kernels) {
    check(!name.empty(), "a kernel has a name");
    check(kernel.parameter_bytes <= 32764, "parameters are bounded");
    check(kernel.block_threads_max <= 1024, "threads are bounded");
    check(kernel.registers >= 1 && kernel.registers <= 255, "registers are bounded");
    for (const record::Parameter& one : kernel.parameters) {
      check(
          one.offset <= kernel.parameter_bytes && one.bytes <= kernel.parameter_bytes - one.offset,
          "a parameter lies among the bytes of all");
    }
  }
}

}  // namespace

void one(std::string_view text) {
  check_cubin(text);
  for (const int architecture : {80, 90}) {
    const record::FoundImage found = record::pick_from_fatbin(text, architecture);
    check(found.found == record::ImageFound::kCubin || found.cubin.empty(),
          "nothing found has no bytes");
    check_cubin(found.cubin);
  }
}

}  // namespace hone::fuzz
