// One table for both vendors: HIP numbers its errors as CUDA does, and adds a few.
#include "errors.hpp"

#include "hone/plugin/failure.hpp"

namespace hone_gpu {
namespace {

struct Row {
  gpuResult number;
  hone_code code;
  const char* words;
};

constexpr Row kRows[] = {
    {2, HONE_RESOURCE_EXHAUSTED, "out of device memory"},
    {3, HONE_UNAVAILABLE, "the driver is not started"},
    {4, HONE_UNAVAILABLE, "the driver is shutting down"},
    {9, HONE_INVALID_ARGUMENT, "the device cannot start a launch of this shape"},
    {35, HONE_UNAVAILABLE, "the driver is too old for this library"},
    {46, HONE_UNAVAILABLE, "the device is held by another process or is not available"},
    {100, HONE_UNAVAILABLE, "no device"},
    {101, HONE_NOT_FOUND, "no such device"},
    {200, HONE_INVALID_ARGUMENT, "not an image that this driver can load"},
    {209, HONE_INVALID_ARGUMENT, "the image was built for another architecture"},
    {214, HONE_UNAVAILABLE, "the device's memory has an error that it could not correct"},
    {218, HONE_INVALID_ARGUMENT, "the image is broken"},
    {220, HONE_UNAVAILABLE, "a link between devices failed"},
    {300, HONE_INVALID_ARGUMENT, "the image is broken"},
    {500, HONE_NOT_FOUND, "no such kernel"},
    {700, HONE_FAILED_PRECONDITION,
     "illegal memory access: a thread read or wrote outside the arrays it was given"},
    {701, HONE_RESOURCE_EXHAUSTED,
     "too many resources for one launch: fewer threads a block, registers or arguments"},
    {702, HONE_FAILED_PRECONDITION, "the kernel ran longer than the device allows"},
    {710, HONE_FAILED_PRECONDITION, "an assert() in the kernel failed"},
    {714, HONE_FAILED_PRECONDITION,
     "a thread's stack broke: recursion too deep, or a write beyond a local array"},
    {715, HONE_FAILED_PRECONDITION, "illegal instruction"},
    {716, HONE_FAILED_PRECONDITION,
     "misaligned address: an access to n bytes must be at a multiple of n"},
    {717, HONE_FAILED_PRECONDITION,
     "an address of the wrong kind: the instruction works on another memory space"},
    {718, HONE_FAILED_PRECONDITION, "the kernel jumped outside its code"},
    {719, HONE_FAILED_PRECONDITION,
     "the kernel broke off: a trap, or an access outside shared or local memory"},
    {720, HONE_RESOURCE_EXHAUSTED,
     "a cooperative launch needs all its blocks on the device at once: fewer or smaller blocks"},
    {721, HONE_FAILED_PRECONDITION, "the kernel ended without freeing its tensor memory"},
    {802, HONE_UNAVAILABLE, "the system is not ready to use its devices"},
    {803, HONE_UNAVAILABLE, "the driver's library and its kernel module do not match"},
    {804, HONE_UNAVAILABLE, "the driver does not support this device"},
    {912, HONE_INVALID_ARGUMENT, "the device cannot start clusters of this shape"},
    {999, HONE_UNAVAILABLE, "the device failed, and the driver does not know why"},
    {1052, HONE_UNAVAILABLE, "a call of the runtime's memory functions failed"},
    {1053, HONE_UNAVAILABLE, "a call of the runtime failed"},
};

}  // namespace

Meaning meaning_of(gpuResult result, bool launching) {
  if (result == 1 && launching) {
    return {HONE_INVALID_ARGUMENT, "the device cannot start a launch of this shape"};
  }
  if (result == 801 && launching) {
    return {HONE_INVALID_ARGUMENT, "the device does not support such a launch"};
  }
  for (const Row& row : kRows) {
    if (row.number == result) return {row.code, row.words};
  }
  return {launching ? HONE_UNAVAILABLE : HONE_INTERNAL, ""};
}

void check(const Driver& driver, gpuResult result, const char* what, bool launching) {
  if (result == 0) return;
  const Meaning meaning = meaning_of(result, launching);
  const char* name = error_name(driver, result);
  const char* text = meaning.words[0] != '\0' ? meaning.words : error_text(driver, result);
  hone::plugin::fail(meaning.code,
                     std::string(what) + ": " + (text != nullptr ? text : "failed") + " (" +
                         (name != nullptr ? std::string(name) : std::to_string(result)) + ")");
}

}  // namespace hone_gpu
