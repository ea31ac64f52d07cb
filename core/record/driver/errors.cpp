// Names and texts of errors.
#include <iterator>

#include "record/driver/api.hpp"

namespace {

using namespace hone::record;  // NOLINT: functions of C cannot stand in a namespace

struct ErrorText {
  int status;
  const char *name, *text;
};
constexpr ErrorText kErrors[] = {
    {kOk, "CUDA_SUCCESS", "no error"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {kNoBinaryForDevice, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {kFileNotFound, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {kCooperativeTooLarge, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "too many blocks in cooperative launch"},
    {kNotSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported while recording"},
    {kUnknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const ErrorText* find(int status) {
  for (const ErrorText& one : kErrors) {
    if (one.status == status) return &one;
  }
  return nullptr;
}

}  // namespace

HONE_RECORD_API int cuGetErrorName(int status, const char** name) {
  const ErrorText* const found = find(status);
  *name = found != nullptr ? found->name : nullptr;
  return found != nullptr ? kOk : kInvalidValue;
}
HONE_RECORD_API int cuGetErrorString(int status, const char** text) {
  const ErrorText* const found = find(status);
  *text = found != nullptr ? found->text : nullptr;
  return found != nullptr ? kOk : kInvalidValue;
}

// The recording driver logs nothing, so it never calls the callback.
HONE_RECORD_API int cuLogsRegisterCallback(void* callback, void*, void** handle) {
  if (handle != nullptr) *handle = callback;
  return kOk;
}
HONE_RECORD_API int cuLogsUnregisterCallback(void*) { return kOk; }
