// The types and numbers of the vendor's public driver interface that the recording driver uses,
// declared here so that building hone needs no toolkit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hone::record {

/// Status codes. The numbers are the driver's.
enum Status : int {
  kOk = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForDevice = 209,
  kFileNotFound = 301,
  kInvalidHandle = 400,
  kNotFound = 500,
  kOutOfResources = 701,
  kCooperativeTooLarge = 720,
  kNotSupported = 801,
  kUnknown = 999,
};

using DeviceAddress = unsigned long long;

/// Handles are addresses of objects of this library. Programs see them as opaque pointers.
using ContextHandle = void*;
using StreamHandle = void*;
using EventHandle = void*;
using ModuleHandle = void*;
using FunctionHandle = void*;

inline constexpr std::uintptr_t kLegacyStream = 1, kPerThreadStream = 2;
inline constexpr unsigned kStreamNonBlocking = 1;

enum LaunchAttributeId : int {
  kLaunchIgnore = 0,
  kLaunchAccessPolicyWindow = 1,
  kLaunchCooperative = 2,
  kLaunchSynchronizationPolicy = 3,
  kLaunchClusterDimension = 4,
  kLaunchClusterPreference = 5,
  kLaunchProgrammaticSerialization = 6,
  kLaunchProgrammaticEvent = 7,
  kLaunchPriority = 8,
  kLaunchMemoryDomainMap = 9,
  kLaunchMemoryDomain = 10,
  kLaunchPreferredCluster = 11,
  kLaunchCompletionEvent = 12,
  kLaunchUpdatableNode = 13,
  kLaunchCarveout = 14,
};

struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    int flag;
    unsigned cluster[3];
  } value;
};

struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  StreamHandle stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

/// Keys in the `extra` argument of a launch.
inline const std::uintptr_t kLaunchEnd = 0, kLaunchBuffer = 1, kLaunchBufferSize = 2;

enum MemoryType : int { kMemoryHost = 1, kMemoryDevice = 2, kMemoryArray = 3, kMemoryUnified = 4 };

/// The source or destination of a copy of rows.
struct CopySide2D {
  std::size_t x_bytes, y;
  int type;
  void* host;
  DeviceAddress device;
  void* array;
  std::size_t pitch;
};
struct Copy2D {
  CopySide2D from, to;
  std::size_t width_bytes, height;
};

struct CopySide3D {
  std::size_t x_bytes, y, z, level;
  int type;
  void* host;
  DeviceAddress device;
  void* array;
  void* reserved;
  std::size_t pitch, height;
};
struct Copy3D {
  CopySide3D from, to;
  std::size_t width_bytes, height, depth;
};

enum PointerAttribute : int {
  kPointerContext = 1,
  kPointerMemoryType = 2,
  kPointerDeviceAddress = 3,
  kPointerHostAddress = 4,
  kPointerSyncMemops = 6,
  kPointerBufferId = 7,
  kPointerIsManaged = 8,
  kPointerDeviceOrdinal = 9,
  kPointerRangeStart = 11,
  kPointerRangeSize = 12,
  kPointerMapped = 13,
  kPointerAccessFlags = 16,
};

enum FunctionAttribute : int {
  kFunctionBlockThreads = 0,
  kFunctionSharedStatic = 1,
  kFunctionConstant = 2,
  kFunctionLocal = 3,
  kFunctionRegisters = 4,
  kFunctionPtxVersion = 5,
  kFunctionBinaryVersion = 6,
  kFunctionSharedDynamicMax = 8,
  kFunctionCarveout = 9,
  kFunctionNonportableClusters = 14,
  kFunctionClusterPolicy = 15,
};

inline constexpr std::size_t kTensorMapBytes = 128;

struct Uuid {
  char bytes[16];
};

inline constexpr int kDriverVersion = 13000;

}  // namespace hone::record
