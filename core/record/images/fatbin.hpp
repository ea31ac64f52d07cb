// Finds the device code for an architecture in an image that a program loads: a cubin, a fat binary of
// several images, or the wrapper that compilers put around a fat binary.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hone::record {

enum class ImageFound {
  kCubin,
  kNone,           ///< nothing for this architecture
  kNeedsCompiler,  ///< only PTX, which a just-in-time compiler must compile
  kMalformed,
  kNoDecompressor,  ///< compressed with zstd, and libzstd.so.1 is missing
};

struct FoundImage {
  ImageFound found = ImageFound::kNone;
  std::string cubin;
};

/// The cubin of a fat binary for `architecture` (90 for sm_90): the one of the architecture itself
/// before others of its major version, and its accelerated form ("sm_90a") before the plain one.
FoundImage pick_from_fatbin(std::string_view fatbin, int architecture);

/// Finds the cubin in an image whose size is unknown.
FoundImage find_image(const void* image, int architecture);

/// LZ4's block format. False unless exactly out.size() bytes come out.
bool decompress_lz4(std::string_view in, std::string& out);

}  // namespace hone::record
