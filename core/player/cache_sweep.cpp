#include "player/cache_sweep.hpp"

#include <fcntl.h>

#include "base/files.hpp"
#include "base/unique_fd.hpp"
#include "plugin/call.hpp"

namespace hone {
namespace {

constexpr const char* kHarnessFile = "harness.bin";
constexpr const char* kKernel = "hone_inspect";  // compares two areas of memory
constexpr std::size_t kWords = 13;               // of an item of its table
constexpr std::uint32_t kBlocks = 4096, kThreads = 256;

}  // namespace

Status CacheSweep::open(const std::string& harness, std::uint64_t bytes) {
  HONE_TRY(write_file(kHarnessFile, harness));
  const UniqueFd file(::open(kHarnessFile, O_RDONLY | O_CLOEXEC));
  const hone_backend_factory& table = player_.table();
  hone_error error = empty_error();
  hone_artifact* artifact = nullptr;
  HONE_TRY(checked(table.load(player_.device(), file.get(), &artifact, &error), error,
                   "load the judge's code"));
  const std::uint32_t kinds[] = {HONE_ARGUMENT_ADDRESS, HONE_ARGUMENT_ADDRESS};
  HONE_TRY(
      checked(table.get_kernel(artifact, kKernel, kinds, 2, &kernel_, &error), error, kKernel));
  HONE_ASSIGN(hone_buffer * swept, make_buffer(bytes));
  HONE_ASSIGN(hone_buffer * found, make_buffer(2 * sizeof(std::uint32_t)));
  HONE_ASSIGN(table_, make_buffer(kWords * sizeof(std::uint64_t)));
  const std::uint64_t half = bytes / 2, first = table.buffer_address(swept);
  // The first half is compared with the second one. There are no canaries around it.
  const std::uint64_t item[kWords] = {first, 0, 0, half, half, first + half};
  arguments_[0] = table.buffer_address(table_);
  arguments_[1] = table.buffer_address(found);
  return checked(table.write_buffer(table_, 0, item, sizeof item, &error), error, "fill a table");
}

Status CacheSweep::run() {
  hone_launch launch{};
  launch.struct_size = sizeof launch;
  launch.count = 2;
  launch.values = arguments_;
  launch.grid[0] = kBlocks;
  launch.block[0] = kThreads;
  launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1;
  hone_error error = empty_error();
  HONE_TRY(
      checked(player_.table().launch(kernel_, table_, &launch, &error), error, "empty the cache"));
  return player_.wait();
}

Result<hone_buffer*> CacheSweep::make_buffer(std::uint64_t bytes) {
  hone_buffer* made = nullptr;
  hone_error error = empty_error();
  HONE_TRY(checked(player_.table().create_exact_buffer(player_.device(), bytes, &made, &error),
                   error, "memory for the sweep"));
  return made;
}

}  // namespace hone
